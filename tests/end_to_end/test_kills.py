"""Any process may be killed at any point, or hang so that it cannot be: jobs end once and are charged at most once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

import httpx
import psutil
import pytest

from tests.end_to_end.wavepool_processes import Frame, Wavepool, frames, kernel, reference, start, until
from tests.freezer import frozen

pytestmark = pytest.mark.slow

FINAL = {"CHECKED", "BENCHMARKED", "ACCEPTED"}


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool whose processes are killed; its executor tolerates a dead vmpool only for seconds."""
    running = start(tmp_path_factory.mktemp("victim"))
    yield running
    running.stop()


def follow_through(wavepool: Wavepool, job_id: str) -> list[Frame]:
    """Follows a job to its end as a patient client does: reconnects after the last id that it saw."""
    seen: list[Frame] = []

    def to_the_end() -> bool:
        try:
            with wavepool.following(job_id, seen[-1].id if seen else None) as stream:
                seen.extend(stream)
        except (httpx.TransportError, AssertionError):
            return False
        return wavepool.job(job_id)["state"] in {"FINISHED", "CANCELLED", "FAILED"}

    until(to_the_end, f"the end of {job_id}", 90)
    return seen


@pytest.mark.parametrize("stage", ["CHECKING", "BENCHMARKING"])
@pytest.mark.parametrize("service", ["gateway", "scheduler", "billing", "vmpool", "executor"])
def test_a_job_outlives_the_death_of_each_process(victim: Wavepool, service: str, stage: str) -> None:
    mode = "check" if stage == "CHECKING" else "benchmark"
    job_id = victim.submit(kernel("slow_leaky_relu"), mode)
    victim.wait_for_status(job_id, stage)
    victim.kill(service)
    story = follow_through(victim, job_id)
    ids = [int(frame.id) for frame in story]
    assert ids == sorted(set(ids)), "every event exactly once"
    assert story[-1].event in FINAL, [frame.event for frame in story]
    assert [frame.event for frame in story if frame.data.get("final")] == [story[-1].event], "it ends once"
    assert victim.ended(job_id)["verdict"] == "ACCEPTED"
    until(lambda: victim.charges(job_id), "the charge")
    assert len(victim.charges(job_id)) == 1


class TopicFollower:
    """Follows all topics of some jobs in one stream, which goes on after the last id that it saw."""

    def __init__(self, wavepool: Wavepool, job_ids: Sequence[str]) -> None:
        self.job_ids = job_ids
        self.seen: list[Frame] = []
        self._wavepool = wavepool

    def frames(self) -> Iterator[Frame]:
        """What one connection brings."""
        topics = ["submissions", *(f"submission:{job_id}" for job_id in self.job_ids)]
        headers = {"Last-Event-ID": self.seen[-1].id} if self.seen else {}
        with self._wavepool.http.stream("GET", "/api/v1/events", params={"topic": topics}, headers=headers) as response:
            assert response.status_code == 200
            for frame in frames(response):
                if frame.event != "heartbeat":
                    self.seen.append(frame)
                    yield frame

    def status(self) -> str:
        """Of the last frame; empty if that is of the list."""
        return self.seen[-1].data.get("frame", {}).get("status", "") if self.seen else ""

    def event_ids(self, job_id: str) -> list[int]:
        return [frame.data["event_id"] for frame in self.seen if frame.data["topic"] == f"submission:{job_id}"]

    def has_all(self) -> bool:
        """True once it has the last event of each job, and has seen each over in the list."""
        ended = sum(bool(frame.data.get("frame", {}).get("final")) for frame in self.seen)
        listed = [frame.data["submission"] for frame in self.seen if frame.data.get("submission")]
        return ended == len(self.job_ids) == sum(one["state"] == "FINISHED" for one in listed)


@pytest.mark.parametrize("service", ["gateway", "scheduler"])
def test_one_stream_of_all_topics_goes_on_after_a_death_without_loss_or_repeat(victim: Wavepool, service: str) -> None:
    job_ids = [victim.submit(kernel("slow_leaky_relu"), mode) for mode in ("check", "full")]
    follower = TopicFollower(victim, job_ids)
    streams = [follower.frames()]
    while follower.status() != "BENCHMARKING":
        next(streams[0])
    victim.kill(service)

    def to_the_end() -> bool:
        try:
            return any(follower.has_all() for _ in (streams.pop() if streams else follower.frames()))
        except (httpx.TransportError, AssertionError):
            return False

    until(to_the_end, "the end of all topics", 90)
    for job_id in job_ids:
        assert follower.event_ids(job_id) == [int(frame.id) for frame in victim.story(job_id)]


def test_a_job_submitted_while_everything_but_the_gateway_is_down_is_refused_or_kept(victim: Wavepool) -> None:
    victim.kill("scheduler")
    answer = victim.http.post(
        "/api/v1/submissions", json={"problem": "leaky-relu", "code": kernel("slow_leaky_relu"), "mode": "check"}
    )
    assert answer.status_code in {202, 503}, answer.text
    if answer.status_code == 202:
        assert follow_through(victim, answer.json()["id"])[-1].event == "CHECKED"
    else:
        assert answer.headers["content-type"].startswith("application/problem+json")
        until(lambda: victim.http.get("/readyz").status_code == 200, "the scheduler's return")


def test_nothing_is_held_once_all_jobs_are_over(victim: Wavepool) -> None:
    until(lambda: float(victim.balance()["held_usd"]) == 0, "all holds to be settled")


@pytest.mark.freezer
def test_a_call_that_hangs_its_device_costs_a_machine_and_no_other_job(victim: Wavepool) -> None:
    name = f"hang-{uuid.uuid4().hex[:9]}"
    hangs = victim.submit(kernel("hangs").replace("NAME", name), "check")
    victim.wait_for_status(hangs, "CHECKING")
    [hung] = until(lambda: [one.pid for one in psutil.process_iter(["name"]) if one.info["name"] == name], "the call")
    waits = victim.submit(reference("leaky-relu"), "check")
    with frozen([hung]):
        reported, other = victim.ended(hangs), victim.ended(waits)
        machine = victim.http.get(f"/api/v1/machines/{reported['machine_id']}").json()
    assert reported["verdict"] == "TIME_LIMIT_EXCEEDED"
    assert "call 1 of its process: a call of `solution` took more than 10 seconds" in reported["message"]
    assert (reported["billable_seconds"], victim.charges(hangs)) == (0, [])
    assert (machine["state"], machine["fault"]) == ("STOPPED", "UNFIT")
    assert machine["reason"] == (
        "unfit: this machine does not answer: a run that ended in TIME_LIMIT_EXCEEDED left processes that cannot be "
        "killed; reboot the machine, then start its executor again"
    )
    assert (other["verdict"], other["machine_id"] != machine["id"]) == ("ACCEPTED", True)
    until(lambda: victim.charges(waits), "the charge")
    assert len(victim.charges(waits)) == 1
    machines = victim.http.get("/api/v1/machines").json()
    assert [one["id"] for one in machines["machines"]] == [other["machine_id"]]
    assert not machines["stopped_sources"], "one machine that ran jobs before is no reason to stop renting"
