"""Event streams over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import grpc
import httpx
import httpx_sse
import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.job_stream import FellBehindError
from servicekit.metrics import registry
from tests.gateway.job_events import ACCEPTED, STEPS, ended, event, provisioning, queued, whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, serve, settings_for
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVENTS = "/api/v1/submissions/job_1/events"
FULL = job_spec(problem="vector-addition", source="x", mode=submission_pb2.RUN_MODE_FULL)
STATUSES_OF_FULL = [
    "IN_QUEUE",
    "PROVISIONING",
    "COMPILING",
    "COMPILED",
    "CHECKING",
    "TEST_RESULT",
    "CHECKED",
    "BENCHMARKING",
    "BENCHMARK_RESULT",
    "BENCHMARKED",
    "ACCEPTED",
]


@pytest.fixture
def whole_job(services: ScriptedServices) -> list[scheduler_pb2.JobEvent]:
    """A job whose log is complete."""
    events = whole_run(submission_pb2.RUN_MODE_FULL)
    services.scheduler.put_job(FULL)
    services.scheduler.log("job_1", events)
    return events


async def next_frame(frames: Any) -> httpx_sse.ServerSentEvent:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return await anext(frames)


def streams_ended(how: str) -> float:
    return registry.get_sample_value("wavepool_gateway_streams_ended_total", {"how": how}) or 0.0


async def test_streams_that_end_and_clients_that_leave_are_counted(gateway: RunningGateway, whole_job: Any) -> None:
    complete, left = streams_ended("complete"), streams_ended("left")
    await gateway.frames("GET", EVENTS)
    assert (streams_ended("complete"), streams_ended("left")) == (complete + 1, left)
    gateway.services.scheduler.put_job(FULL, job_id="job_2")
    gateway.services.scheduler.log("job_2", whole_job[:3])
    async with gateway.stream("GET", EVENTS.replace("job_1", "job_2")) as frames:
        await next_frame(frames)
    async with asyncio.timeout(DEADLINE_SECONDS):
        while streams_ended("left") == left:
            await asyncio.sleep(0)
    assert (streams_ended("complete"), streams_ended("left")) == (complete + 1, left + 1)


async def test_streams_of_slow_clients_and_of_a_gateway_that_ends_are_counted_apart(gateway: RunningGateway) -> None:
    async def frames(error: Exception | None = None) -> AsyncGenerator[bytes]:
        yield b"one"
        if error:
            raise error

    counts = {how: streams_ended(how) for how in ("complete", "dropped", "moved")}
    assert [frame async for frame in gateway.hub.counted(frames(FellBehindError("job_1")))] == [b"one"]
    gateway.hub.close()
    assert [frame async for frame in gateway.hub.counted(frames())] == [b"one"]
    after = {how: streams_ended(how) for how in counts}
    assert after == counts | {"dropped": counts["dropped"] + 1, "moved": counts["moved"] + 1}


async def test_every_event_arrives_in_order_under_its_own_id(gateway: RunningGateway, whole_job: Any) -> None:
    frames = await gateway.frames("GET", EVENTS)
    assert [frame.event for frame in frames] == STATUSES_OF_FULL
    assert [json.loads(frame.data)["status"] for frame in frames] == STATUSES_OF_FULL
    assert [frame.id for frame in frames] == [str(seq) for seq in range(1, 12)]


async def test_stream_opens_with_the_retry_time_and_headers_against_buffering(
    gateway: RunningGateway, whole_job: Any
) -> None:
    response = await gateway.http.get(EVENTS)
    assert response.text.startswith("retry: 2000\n\nevent: IN_QUEUE\nid: 1\ndata: {")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"


async def test_resume_gives_the_rest_exactly_once_and_byte_for_byte(gateway: RunningGateway, whole_job: Any) -> None:
    whole = (await gateway.http.get(EVENTS)).text.split("\n\n")
    for after in range(11):
        resumed = (await gateway.http.get(EVENTS, headers={"Last-Event-ID": str(after)})).text
        assert resumed.split("\n\n") == [whole[0], *whole[after + 1 :]]


async def test_resume_by_query_is_overruled_by_the_newer_header(gateway: RunningGateway, whole_job: Any) -> None:
    by_query = await gateway.frames("GET", f"{EVENTS}?after=9")
    by_both = await gateway.frames("GET", f"{EVENTS}?after=3", headers={"Last-Event-ID": "10"})
    assert [frame.id for frame in by_query] == ["10", "11"]
    assert [frame.id for frame in by_both] == ["11"]


async def test_nothing_after_the_last_event_is_204(gateway: RunningGateway, whole_job: Any) -> None:
    assert (await gateway.http.get(EVENTS, headers={"Last-Event-ID": "11"})).status_code == 204


@pytest.mark.parametrize("point", ["-1", "x", "1.5", "9" * 40, "\u0661"])
async def test_resume_point_that_is_no_event_id_is_refused(gateway: RunningGateway, whole_job: Any, point: str) -> None:
    response = await gateway.http.get(EVENTS, params={"after": point})
    assert response.status_code == 422
    assert response.json()["errors"] == [{"field": "after", "message": "send the id of the last event"}]


async def test_live_events_reach_all_clients_through_one_upstream_watch(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    async with gateway.stream("GET", EVENTS) as first, gateway.stream("GET", EVENTS) as second:
        await gateway.services.scheduler.add(queued(1))
        assert (await next_frame(first)).id == (await next_frame(second)).id == "1"
        assert gateway.services.scheduler.watches_open == 1
        await gateway.services.scheduler.add(provisioning(2))
        assert (await next_frame(first)).id == (await next_frame(second)).id == "2"
    assert len(gateway.calls["WatchJob"]) == 1


async def test_disconnect_ends_the_watch_and_cancels_nothing(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1))
    async with gateway.stream("GET", EVENTS) as frames:
        await next_frame(frames)
    async with asyncio.timeout(DEADLINE_SECONDS):
        await gateway.services.scheduler.until_watched(0)
    assert gateway.services.scheduler.cancelled == []
    assert gateway.hub.jobs_followed == 0


async def test_client_stays_connected_while_the_scheduler_restarts(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1))
    async with gateway.stream("GET", EVENTS) as frames:
        assert (await next_frame(frames)).id == "1"
        await gateway.services.scheduler.sever()
        await gateway.services.scheduler.add(provisioning(2))
        assert (await next_frame(frames)).id == "2"
    assert [request.after_seq for request in gateway.calls["WatchJob"]] == [0, 1]


async def test_stream_resumes_through_another_gateway(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1), provisioning(2))
    async with gateway.stream("GET", EVENTS) as frames:
        last_id = (await next_frame(frames)).id
    async with serve(gateway.services, settings_for(gateway.services)) as other:
        await gateway.services.scheduler.add(event(3, run=STEPS["compiling"]), ended(4, ACCEPTED))
        rest = await other.frames("GET", EVENTS, headers={"Last-Event-ID": last_id})
    assert [frame.id for frame in rest] == ["2", "3", "4"]


async def test_events_that_show_nothing_do_not_hold_up_the_resume_point(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1), event(2), event(3, run=STEPS["compiling"]), ended(4, ACCEPTED))
    assert [frame.id for frame in await gateway.frames("GET", EVENTS)] == ["1", "3", "4"]
    assert [frame.id for frame in await gateway.frames("GET", f"{EVENTS}?after=1")] == ["3", "4"]
    assert [frame.id for frame in await gateway.frames("GET", f"{EVENTS}?after=2")] == ["3", "4"]


async def test_silence_is_filled_with_heartbeats_that_move_no_resume_point(services: ScriptedServices) -> None:
    services.scheduler.put_job(FULL)
    settings = settings_for(services, heartbeat=timedelta(milliseconds=20))
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        serve(services, settings) as gateway,
        httpx_sse.aconnect_sse(gateway.http, "GET", EVENTS) as source,
    ):
        heartbeats = (frame async for frame in source.aiter_sse() if frame.event == "heartbeat")
        frame = await anext(heartbeats)
    data = json.loads(frame.data)
    assert (data["status"], data["submission_id"]) == ("heartbeat", "job_1")
    assert data["timestamp"] > 1_700_000_000_000
    assert frame.id == ""


async def test_unknown_submission_is_404_before_the_stream_opens(gateway: RunningGateway) -> None:
    response = await gateway.http.get("/api/v1/submissions/job_9/events")
    assert response.status_code == httpx.codes.NOT_FOUND
    assert response.json()["detail"] == "there is no job job_9"


async def test_foreign_submission_is_404(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL, account_id="acc_other")
    assert (await gateway.http.get(EVENTS)).status_code == httpx.codes.NOT_FOUND


async def test_client_that_stops_reading_is_cut_off_and_can_resume(services: ScriptedServices) -> None:
    lines = [run_event_pb2.ProgramOutput(stream="stdout", line="x" * 60_000) for _ in range(300)]
    events = [event(seq, run=run_event_pb2.RunEvent(program_output=line)) for seq, line in enumerate(lines, start=1)]
    services.scheduler.put_job(job_spec(mode=submission_pb2.RUN_MODE_SANDBOX))
    await services.scheduler.add(*events, ended(301, ACCEPTED))
    settings = settings_for(services, send_timeout=timedelta(milliseconds=200))
    async with asyncio.timeout(DEADLINE_SECONDS), serve(services, settings) as gateway:
        _, writer = await asyncio.open_connection("127.0.0.1", int(gateway.url.rpartition(":")[2]), limit=1024)
        writer.write(f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {USER_TOKEN}\r\n\r\n".encode())
        await services.scheduler.until_watched(1)
        await services.scheduler.until_watched(0)
        assert gateway.hub.jobs_followed == 0
        rest = await gateway.frames("GET", EVENTS, headers={"Last-Event-ID": "2"})
        writer.close()
    assert [frame.id for frame in rest] == [str(seq) for seq in range(3, 302)]


async def test_a_stream_ends_when_its_token_stops_working(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1))
    async with gateway.stream("GET", "/api/v1/submissions/job_1/events") as frames, asyncio.timeout(DEADLINE_SECONDS):
        assert (await anext(frames)).id == "1"
        gateway.refusals["GetCaller"] = refusal(grpc.StatusCode.UNAVAILABLE)
        await gateway.services.scheduler.add(event(2, run=STEPS["compiling"]))
        # While billing is away, nobody is cut off.
        assert (await anext(frames)).id == "2"
        gateway.refusals["GetCaller"] = refusal(grpc.StatusCode.NOT_FOUND)
        await gateway.services.scheduler.add(event(3, run=STEPS["compiled"]))
        assert [frame.id async for frame in frames] == []


@pytest.mark.parametrize(
    ("setting", "status"), [("streams_per_user", 429), ("streams_per_address", 429), ("streams", 503)]
)
async def test_a_stream_too_many_is_refused_with_the_setting_until_another_ends_and_all_else_goes_on(
    services: ScriptedServices, setting: str, status: int
) -> None:
    services.scheduler.put_job(FULL)
    await services.scheduler.add(queued(1))
    async with serve(services, settings_for(services, **{setting: 1})) as gateway:
        async with gateway.stream("GET", EVENTS) as frames:
            await next_frame(frames)
            topics = await gateway.http.get("/api/v1/events?topic=submissions")
            assert (topics.status_code, topics.headers["retry-after"]) == (status, "5")
            assert f"GATEWAY_{setting.upper()}." in topics.json()["detail"]
            sent = {"code": "x", "problem_slug": "vector-addition", "dtype": "float32", "language": "hip"}
            refused = await gateway.http.post("/api/submissions/checker", json=sent)
            assert refused.status_code == status
            assert "SubmitJob" not in gateway.calls
            assert (await gateway.http.get("/healthz")).is_success
            assert (await gateway.http.get("/api/v1/submissions")).is_success
        await services.scheduler.add(ended(2, ACCEPTED))
        assert len(await gateway.frames("GET", EVENTS)) == 2
