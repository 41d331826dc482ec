"""Figures of jobs, and alerts about machines, jobs and queues, from the fault to a webhook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, kernel, reference, start, until
from tests.services.billing.alerts.web_receiver import WebReceiver, web_receiver

pytestmark = pytest.mark.slow

RULES = [{"name": "attempts-lost", "threshold": 1, "clear_threshold": 1}]


@pytest.fixture(scope="module")
def receiver() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, receiver: WebReceiver) -> Iterator[Wavepool]:
    """A Wavepool that reports every half a second, and posts its alerts to a real receiver."""
    running = start(
        tmp_path_factory.mktemp("watched"),
        BILLING_ALERT_CHANNELS=json.dumps([{"name": "ops", "kind": "webhook", "url": receiver.url}]),
        BILLING_ALERT_RULES=json.dumps(RULES),
        SCHEDULER_METRICS_INTERVAL="0.5",
        VMPOOL_METRICS_INTERVAL="0.5",
    )
    yield running
    running.stop()


def posted(receiver: WebReceiver) -> dict[str, dict[str, Any]]:
    """The alerts that fired, by rule."""
    bodies = [json.loads(one.body) for one in list(receiver.posted)]
    return {body["rule"]: body for body in bodies if body["event"] == "fired"}


def figures(wavepool: Wavepool, **query: str) -> list[dict[str, Any]]:
    answer = wavepool.http.get("/api/v1/metrics/jobs", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["groups"]


def of_problem(wavepool: Wavepool, slug: str) -> dict[str, Any]:
    return next(one for one in figures(wavepool, group_by="problem") if one["group"] == slug)


def ended_by_queue(wavepool: Wavepool) -> dict[str, int]:
    queues = wavepool.http.get("/api/v1/metrics/queues").json()["queues"]
    return {one["queue"]: one["ended_jobs"] for one in queues}


def test_a_machine_that_dies_under_a_job_raises_alerts_at_the_webhook(watched: Wavepool, receiver: WebReceiver) -> None:
    # Its check lasts so long that it is not over before the executor is killed, however busy the machine is.
    slower = kernel("slow_leaky_relu").replace("20 * 1000 * 1000", "999 * 1000 * 1000")
    job_id = watched.submit(slower, "check")
    watched.wait_for_status(job_id, "CHECKING")
    watched.kill("executor")
    assert watched.ended(job_id)["verdict"] == "ACCEPTED"
    fired = until(
        lambda: found if {"machines-failed", "attempts-lost"} <= (found := posted(receiver)).keys() else None, "alerts"
    )
    assert fired["machines-failed"]["severity"] == "WARNING"
    assert fired["machines-failed"]["labels"] == {"provider": "local"}
    assert fired["machines-failed"]["summary"].startswith("1 machines of local have failed lately")
    assert fired["attempts-lost"]["labels"]["queue"] == "default"
    found = of_problem(watched, "leaky-relu")
    assert (found["jobs"], found["succeeded"], found["failed"], found["lost_attempts"]) == (1, 1, 0, 1)
    assert found["efficiency"] < 1, "the lost attempt was of no use"


def test_the_figures_of_jobs_come_by_problem_and_machine(watched: Wavepool) -> None:
    job_id = watched.submit(reference("relu"), "check", "relu")
    assert watched.ended(job_id)["verdict"] == "ACCEPTED"
    relu = of_problem(watched, "relu")
    assert (relu["jobs"], relu["accepted"], relu["lost_attempts"]) == (1, 1, 0)
    assert 0 < relu["useful_gpu_seconds"] <= relu["paid_gpu_seconds"]
    assert relu["wait"]["p90_seconds"] >= 0
    [everything] = figures(watched)
    assert sum(one["jobs"] for one in figures(watched, group_by="machine")) == everything["jobs"]
    [user] = figures(watched, group_by="user")
    assert user["name"] == watched.http.get("/api/v1/me").json()["user_name"]
    # What has ended is counted with the next report to billing.
    until(lambda: ended_by_queue(watched) == {"default": everything["jobs"]}, "the next report")
