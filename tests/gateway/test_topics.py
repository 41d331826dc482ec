"""Several topics in one event stream, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from typing import Any

import grpc
import httpx
import httpx_sse
import pytest
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.topics import MOST_TOPICS
from tests.gateway.job_events import ACCEPTED, STEPS, ended, event, provisioning, queued, whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "/api/v1/events"
FULL = job_spec(problem="vector-addition", source="x", mode=submission_pb2.RUN_MODE_FULL)


def topics(*names: str, after: str = "") -> dict[str, Any]:
    return {"params": {"topic": list(names), **({"after": after} if after else {})}}


async def taken(frames: AsyncGenerator[httpx_sse.ServerSentEvent], count: int) -> list[httpx_sse.ServerSentEvent]:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return [await anext(frames) for _ in range(count)]


def data_of(frames: Sequence[httpx_sse.ServerSentEvent]) -> list[dict[str, Any]]:
    return [json.loads(frame.data) for frame in frames]


async def test_each_topic_has_the_frames_of_its_own_stream_byte_for_byte(gateway: RunningGateway) -> None:
    wanted: dict[str, list[tuple[str, str]]] = {}
    log = whole_run(submission_pb2.RUN_MODE_FULL)
    for number in range(20):
        job_id = f"job_{number}"
        gateway.services.scheduler.put_job(FULL, job_id=job_id)
        gateway.services.scheduler.log(job_id, log[: 2 + number % 9])
        await gateway.services.scheduler.add(ended(len(log), ACCEPTED), job_id=job_id)
        alone = await gateway.frames("GET", f"/api/v1/submissions/{job_id}/events")
        wanted[f"submission:{job_id}"] = [(frame.id, frame.data) for frame in alone]
    seen: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    async with gateway.stream("GET", URL, **topics(*wanted)) as frames:
        for frame in await taken(frames, sum(map(len, wanted.values()))):
            data = json.loads(frame.data)
            inner = frame.data.partition('"frame":')[2].removesuffix("}")
            seen[data["topic"]].append((str(data["event_id"]), inner))
            assert frame.event == "message", "one listener hears all of them"
    assert seen == wanted


async def test_list_begins_with_its_place_and_then_has_each_submission_that_changes(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(FULL, job_id="job_1")
    scheduler.put_job(FULL, job_id="job_2", account_id="acc_other")
    async with gateway.stream("GET", URL, **topics("submissions")) as frames:
        (begin,) = await taken(frames, 1)
        assert json.loads(begin.data) == {"topic": "submissions", "submission": None}
        await scheduler.until_watched(1)
        await scheduler.add(queued(1), job_id="job_2")
        await scheduler.add(queued(1), ended(2, ACCEPTED), job_id="job_1")
        (change,) = data_of(await taken(frames, 1))
    (listed,) = (await gateway.http.get("/api/v1/submissions")).json()["submissions"]
    assert change == {"topic": "submissions", "submission": listed}
    assert (listed["state"], listed["verdict"], listed["cost_usd"]) == ("FINISHED", "ACCEPTED", 0.001234)


async def test_changes_between_two_connections_are_not_lost(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(FULL)
    async with gateway.stream("GET", URL, **topics("submissions")) as frames:
        (begin,) = await taken(frames, 1)
        await scheduler.until_watched(1)
    await scheduler.until_watched(0)
    await scheduler.add(queued(1), ended(2, ACCEPTED))
    async with gateway.stream("GET", URL, **topics("submissions"), headers={"Last-Event-ID": begin.id}) as frames:
        (change,) = data_of(await taken(frames, 1))
        assert change["submission"]["state"] == "FINISHED"
        scheduler.put_job(FULL, job_id="job_2")
        await scheduler.add(queued(1), job_id="job_2")
        assert data_of(await taken(frames, 1))[0]["submission"]["id"] == "job_2"


async def test_clients_stay_connected_while_the_scheduler_restarts(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(FULL)
    async with gateway.stream("GET", URL, **topics("submissions", "submission:job_1")) as frames:
        await taken(frames, 1)
        await scheduler.until_watched(2)
        await scheduler.sever()
        await scheduler.add(queued(1))
        assert {data["topic"] for data in data_of(await taken(frames, 2))} == {"submissions", "submission:job_1"}


async def test_other_topics_with_the_same_id_keep_the_places_that_it_has(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    for job_id in ("job_1", "job_2", "job_3"):
        scheduler.put_job(FULL, job_id=job_id)
        await scheduler.add(queued(1), provisioning(2), job_id=job_id)
    async with gateway.stream("GET", URL, **topics("submission:job_1", "submission:job_2")) as frames:
        last = (await taken(frames, 4))[-1].id
    again = topics("submission:job_3", "submission:job_2", after=last)
    async with gateway.stream("GET", URL, **again) as frames:
        seen = await taken(frames, 2)
        await scheduler.add(ended(3, ACCEPTED), job_id="job_2")
        seen += await taken(frames, 1)
    places = [(data["topic"], data["event_id"]) for data in data_of(seen)]
    assert places == [("submission:job_3", 1), ("submission:job_3", 2), ("submission:job_2", 3)]


@pytest.mark.parametrize("account_id", ["acc_other", None])
async def test_topic_of_somebody_else_is_refused_as_one_that_does_not_exist_and_ends_no_other(
    gateway: RunningGateway, account_id: str | None
) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(FULL)
    if account_id:
        scheduler.put_job(FULL, account_id=account_id, job_id="job_2")
    async with gateway.stream("GET", URL, **topics("submission:job_2", "submission:job_1")) as frames:
        (refused,) = data_of(await taken(frames, 1))
        await scheduler.add(queued(1))
        (shown,) = data_of(await taken(frames, 1))
    said = {"status": 404, "title": "Not Found", "detail": "there is no job job_2"}
    assert refused == {"topic": "submission:job_2", "refusal": said}
    assert (shown["topic"], shown["frame"]["status"]) == ("submission:job_1", "IN_QUEUE")


async def test_submission_whose_last_event_a_client_has_is_not_read_again(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1), ended(2, ACCEPTED))
    named = topics("submission:job_1", "submission:job_2", after=":job_1=2")
    async with gateway.stream("GET", URL, **named) as frames:
        assert data_of(await taken(frames, 1))[0]["topic"] == "submission:job_2"
        assert gateway.hub.jobs_followed == 0
        assert "WatchJob" not in gateway.calls


async def test_list_that_the_scheduler_refuses_ends_no_other_topic(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    async with gateway.stream("GET", URL, **topics("submissions", "submission:job_1", after="s=99")) as frames:
        (refused,) = data_of(await taken(frames, 1))
        assert (refused["topic"], refused["refusal"]["status"]) == ("submissions", 422)
        await gateway.services.scheduler.add(queued(1))
        assert data_of(await taken(frames, 1))[0]["topic"] == "submission:job_1"


async def test_while_the_scheduler_is_away_the_stream_does_not_open(gateway: RunningGateway) -> None:
    gateway.refusals["GetJob"] = refusal(grpc.StatusCode.UNAVAILABLE)
    response = await gateway.http.get(URL, **topics("submission:job_1"))
    assert response.status_code == httpx.codes.SERVICE_UNAVAILABLE


@pytest.mark.parametrize("word", ["reservations", "submission:", "submission:a b", "submission:job_1\n", "s", ""])
async def test_unknown_topic_is_refused_with_those_that_there_are(gateway: RunningGateway, word: str) -> None:
    response = await gateway.http.get(URL, **topics("submissions", word))
    assert response.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    (error,) = response.json()["errors"]
    assert error["field"] == "topic"
    assert error["message"].startswith("must be one of submissions, submission:<id>; it is ")


async def test_stream_without_topics_or_with_too_many_is_refused(gateway: RunningGateway) -> None:
    none = await gateway.http.get(URL)
    many = await gateway.http.get(URL, **topics(*(f"submission:job_{number}" for number in range(MOST_TOPICS + 1))))
    for response in (none, many):
        assert response.status_code == httpx.codes.UNPROCESSABLE_ENTITY
        assert [error["field"] for error in response.json()["errors"]] == ["topic"]
    assert "64" in many.json()["detail"]


@pytest.mark.parametrize("field", ["after", "Last-Event-ID"])
@pytest.mark.parametrize(
    "point",
    ["5", "s", "s=-1", "s=1,", "s=1,s=2", ":job_1=1.5", "x=1", ":=1", f"s={10**18}", "submissions=1", ":job_2=1"],
)
async def test_id_that_is_malformed_or_of_other_topics_is_refused(
    gateway: RunningGateway, field: str, point: str
) -> None:
    by_query = field == "after"
    options = topics("submissions", after=point if by_query else "")
    response = await gateway.http.get(URL, **options, headers={} if by_query else {field: point})
    assert response.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert [error["field"] for error in response.json()["errors"]] == [field]


async def test_stream_stays_open_with_heartbeats_when_no_topic_has_more(services: ScriptedServices) -> None:
    services.scheduler.put_job(FULL)
    await services.scheduler.add(queued(1), ended(2, ACCEPTED))
    settings = settings_for(services, heartbeat=timedelta(milliseconds=20))
    seen: list[httpx_sse.ServerSentEvent] = []
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        serve(services, settings) as gateway,
        httpx_sse.aconnect_sse(gateway.http, "GET", URL, **topics("submission:job_1", after=":job_1=1")) as source,
    ):
        async for frame in source.aiter_sse():
            seen.append(frame)
            if [one.event for one in seen].count("heartbeat") == 3:
                break
    assert [frame.id for frame in seen if frame.data and frame.event != "heartbeat"] == [":job_1=2"]
    assert "submission_id" not in json.loads(seen[-1].data)


async def test_stopping_gateway_ends_the_stream_and_another_goes_on(services: ScriptedServices) -> None:
    services.scheduler.put_job(FULL)
    services.scheduler.put_job(FULL, job_id="job_2")
    await services.scheduler.add(queued(1))
    await services.scheduler.add(queued(1), ended(2, ACCEPTED), job_id="job_2")
    named = topics("submission:job_1", "submission:job_2", "submissions")
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        serve(services, settings_for(services)) as gateway,
        gateway.stream("GET", URL, **named) as frames,
    ):
        last = (await taken(frames, 4))[-1].id
        gateway.server.should_exit = True
        assert [frame async for frame in frames] == []
    await services.scheduler.add(ended(2, ACCEPTED))
    async with (
        serve(services, settings_for(services)) as other,
        other.stream("GET", URL, **named, headers={"Last-Event-ID": last}) as frames,
    ):
        rest = data_of(await taken(frames, 2))
    assert {data["topic"]: data.get("event_id") for data in rest} == {"submission:job_1": 2, "submissions": None}
    assert [data["submission"]["state"] for data in rest if "submission" in data] == ["FINISHED"]


async def test_stream_ends_when_its_token_stops_working(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    await gateway.services.scheduler.add(queued(1))
    async with gateway.stream("GET", URL, **topics("submission:job_1")) as frames, asyncio.timeout(DEADLINE_SECONDS):
        await anext(frames)
        gateway.refusals["GetCaller"] = refusal(grpc.StatusCode.NOT_FOUND)
        await gateway.services.scheduler.add(event(2, run=STEPS["compiling"]))
        assert [frame async for frame in frames] == []


async def test_disconnect_ends_all_watches(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(FULL)
    async with gateway.stream("GET", URL, **topics("submission:job_1", "submissions")) as frames:
        await taken(frames, 1)
        await gateway.services.scheduler.until_watched(2)
    async with asyncio.timeout(DEADLINE_SECONDS):
        await gateway.services.scheduler.until_watched(0)
    assert gateway.hub.jobs_followed == 0
