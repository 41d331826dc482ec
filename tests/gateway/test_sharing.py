"""Submissions that their owners share, as owners change them and as other users see them, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import grpc
import httpx_sse
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.documented import check_event
from tests.gateway.job_events import ACCEPTED, STEPS, ended, event, provisioning, queued
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway
from tests.gateway.scripted_services import USER_TOKEN
from tests.job_specs import job_spec

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/v1/submissions"
LINK, PUBLIC = scheduler_pb2.VISIBILITY_LINK, scheduler_pb2.VISIBILITY_PUBLIC
PRIVATE = scheduler_pb2.VISIBILITY_PRIVATE
SPEC = job_spec(
    problem="vector-addition", source="int x;", mode=submission_pb2.RUN_MODE_FULL, queue="secret-queue", name="v3"
)
PRIVATE_FIELDS = frozenset(
    {
        *("cost_usd", "billable_seconds", "has_report", "hold_usd", "price_usd_per_hour", "got_gpus", "account_id"),
        *("user_id", "user", "queue", "priority", "class", "placement", "position", "eta_p50_seconds", "machine"),
        *("machine_id", "eta_p90_seconds", "remainingSubmissions", "deadline", "resources", "request", "vm_state"),
    }
)
PRIVATE_WORDS = ("acc_other", "user_other", "secret-queue", "secret-machine", "0.001234", "1.99", "mine alone")


async def share(gateway: RunningGateway, visibility: int = LINK, **end: Any) -> None:
    """A whole run of another account, with everything in it that is its own business."""
    services = gateway.services
    services.scheduler.put_job(SPEC, account_id="acc_other")
    job = services.scheduler.jobs["job_1"]
    job.visibility = cast("Any", visibility)
    job.user_id, job.machine_id, job.got_eighths = "user_other", "secret-machine", 8
    log = [queued(1), provisioning(2), *(event(seq, run=step) for seq, step in enumerate(STEPS.values(), 3))]
    result = run_event_pb2.Finished()
    result.CopyFrom(ACCEPTED)
    result.billable.CopyFrom(Duration(seconds=9))
    result.signed_report = '{"mine": "mine alone"}'
    retrying = event(len(log) + 1, retrying=scheduler_pb2.Retrying(reason="secret-machine died"))
    await services.scheduler.add(*log, retrying, ended(len(log) + 2, end.get("result", result)))


def fields_in(value: object) -> Iterator[str]:
    """The names of all fields, at any depth."""
    if isinstance(value, dict):
        for name, below in cast("dict[str, object]", value).items():
            yield name
            yield from fields_in(below)
    elif isinstance(value, list):
        for below in cast("list[object]", value):
            yield from fields_in(below)


def documents_in(text: str) -> list[Any]:
    """The answer's JSON, or that of each event."""
    if text.startswith("{"):
        return [json.loads(text)]
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def test_owner_names_and_shares_a_submission(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.identity.managed[USER_TOKEN] = ["acc_team"]
    assert (await gateway.http.get(f"{PATH}/job_1")).json()["visibility"] == "private"
    for body, name, visibility in (
        ({"visibility": "public"}, "v3", "public"),
        ({"name": "<script>alert(1)</script>"}, "<script>alert(1)</script>", "public"),
        ({"name": "", "visibility": "link"}, None, "link"),
        ({"visibility": "private"}, None, "private"),
    ):
        changed = await gateway.http.patch(f"{PATH}/job_1", json=body)
        assert (changed.status_code, changed.json()["name"], changed.json()["visibility"]) == (200, name, visibility)
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert (shown["own"], shown["visibility"]) == (True, "private")
    asked = gateway.calls["UpdateJob"][-1]
    assert (asked.user_id, asked.managed_account_ids) == ("user_user", ["acc_team"])


async def test_a_change_that_cannot_be_is_refused_with_the_fix(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    for body, field, fix in (
        ({"visibility": "open"}, "visibility", "private"),
        ({"name": "x" * 101}, "name", "100"),
        ({"queue": "red"}, "queue", ""),
    ):
        refused = await gateway.http.patch(f"{PATH}/job_1", json=body)
        error = refused.json()["errors"][0]
        assert (refused.status_code, error["field"]) == (422, field)
        assert fix in error["message"]
    gateway.services.identity.scopes["wp_user"] = ["read"]
    assert (await gateway.http.patch(f"{PATH}/job_1", json={"visibility": "link"})).status_code == 403


@pytest.mark.parametrize("visibility", [scheduler_pb2.VISIBILITY_UNSPECIFIED, scheduler_pb2.VISIBILITY_PRIVATE])
async def test_private_submission_of_another_account_is_not_found(gateway: RunningGateway, visibility: int) -> None:
    await share(gateway, visibility)
    for path in ("", "/events", "/isa", "/report"):
        assert (await gateway.http.get(f"{PATH}/job_1{path}")).status_code == 404, path


async def test_other_users_change_and_cancel_nothing_that_is_shared(gateway: RunningGateway) -> None:
    await share(gateway, PUBLIC)
    assert (await gateway.http.patch(f"{PATH}/job_1", json={"name": "mine"})).status_code == 404
    assert (await gateway.http.post(f"{PATH}/job_1/cancel")).status_code == 404
    assert (await gateway.http.get(f"{PATH}/job_1/report")).status_code == 404
    assert (await gateway.http.get(PATH)).json()["submissions"] == []
    assert gateway.services.scheduler.jobs["job_1"].spec.name == "v3"


@pytest.mark.parametrize("visibility", [LINK, PUBLIC])
async def test_other_users_see_code_and_result_of_what_is_shared(gateway: RunningGateway, visibility: int) -> None:
    await share(gateway, visibility)
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert (shown["own"], shown["name"], shown["code"], shown["status"]) == (False, "v3", "int x;", "ACCEPTED")
    assert (shown["runtime_ms"], shown["result"]["avg_runtime_ms"], shown["result"]["passed_tests"]) == (2.5, 2.5, 1)
    assert (await gateway.http.get(f"{PATH}/job_1/isa")).json()["isa"]["add"]["vgpr"] == 8


async def test_other_users_follow_what_is_shared_beside_its_owner(gateway: RunningGateway) -> None:
    await share(gateway)
    stream = await gateway.http.get(f"{PATH}/job_1/events")
    frames = documents_in(stream.text)
    for frame in frames:
        check_event("SharedSubmissionEvent", frame)
    assert [frame["status"] for frame in frames[:3]] == ["IN_QUEUE", "PROVISIONING", "COMPILING"]
    assert frames[0].keys() == {"status", "submission_id", "timestamp", "attempt"}
    last = frames[-1]
    assert (last["status"], last["final"], last["avg_runtime_ms"]) == ("ACCEPTED", True, 2.5)
    gateway.services.identity.visible["wp_user"] = ["acc_other"]
    assert [frame["cost_usd"] for frame in documents_in((await gateway.http.get(f"{PATH}/job_1/events")).text)][-1]


async def test_a_stream_of_what_becomes_private_ends_for_others_and_not_for_its_owner(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(SPEC, "acc_other", "job_1")
    scheduler.jobs["job_1"].visibility = LINK
    await scheduler.add(queued(), job_id="job_1")
    params = {"topic": ["submission:job_1", "submissions"]}
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        httpx_sse.aconnect_sse(gateway.http, "GET", f"{PATH}/job_1/events") as source,
        gateway.stream("GET", "/api/v1/events", params=params) as several,
    ):
        # What has no id are the retry time and heartbeats.
        alone = (frame async for frame in source.aiter_sse() if frame.id)
        assert [(await anext(alone)).event, (await of_topic(several))["frame"]["status"]] == ["IN_QUEUE"] * 2
        scheduler.jobs["job_1"].visibility = PRIVATE
        await scheduler.add(provisioning(), job_id="job_1")
        assert [frame async for frame in alone if frame.id != "1"] == []
        refusal = (await of_topic(several))["refusal"]
        assert refusal["status"] == 404
        # The other topic goes on.
        scheduler.put_job(SPEC, "acc_user", "job_2")
        await scheduler.add(queued(), job_id="job_2")
        assert (await of_topic(several, "submissions"))["submission"]["id"] == "job_2"
    assert (await gateway.http.get(f"{PATH}/job_1/events", headers={"Last-Event-ID": "1"})).status_code == 404


async def test_the_owners_stream_goes_on_when_the_submission_becomes_private(gateway: RunningGateway) -> None:
    scheduler = gateway.services.scheduler
    scheduler.put_job(SPEC, "acc_user", "job_1")
    scheduler.jobs["job_1"].visibility = LINK
    await scheduler.add(queued(), job_id="job_1")
    async with asyncio.timeout(DEADLINE_SECONDS), gateway.stream("GET", f"{PATH}/job_1/events") as frames:
        await anext(frames)
        scheduler.jobs["job_1"].visibility = PRIVATE
        await scheduler.add(provisioning(), job_id="job_1")
        assert (await anext(frames)).event == "PROVISIONING"


async def of_topic(frames: AsyncIterator[Any], topic: str = "submission:job_1") -> Any:
    """The next event of a topic."""
    async for frame in frames:
        if (
            frame.event != "heartbeat"
            and (data := json.loads(frame.data))["topic"] == topic
            and data.get("submission", True)
        ):
            return data
    raise AssertionError("the stream ended")


async def test_texts_about_our_faults_stay_with_the_owner(gateway: RunningGateway) -> None:
    fault = run_event_pb2.Finished(
        verdict=run_event_pb2.VERDICT_INFRA_ERROR, message="secret-machine of acc_other is gone", details="secret-queue"
    )
    await share(gateway, result=fault)
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    last = documents_in((await gateway.http.get(f"{PATH}/job_1/events")).text)[-1]
    for one in (shown["result"], last):
        assert (one["verdict"], one["message"], one["details"]) == ("INFRA_ERROR", "", "")
    assert (shown["status"], shown["message"]) == ("ERROR", "")


async def test_no_answer_tells_others_what_is_the_owners_own_business(gateway: RunningGateway) -> None:
    await share(gateway, PUBLIC)
    # The scheduler looks for a job in the caller's accounts only.
    gateway.refusals["ExplainJob"] = refusal(grpc.StatusCode.NOT_FOUND, "This account has no job 'job_1'.")
    paths = [
        path.replace("{submission_id}", "job_1")
        for path, operations in gateway.app.openapi()["paths"].items()
        if "{submission_id}" in path and "get" in operations
    ]
    texts = [(await gateway.http.get(path)).text for path in [*paths, PATH]]
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        gateway.stream("GET", "/api/v1/events", params={"topic": ["submission:job_1"]}) as frames,
    ):
        async for frame in frames:
            texts.append(f"data: {frame.data}")
            if '"final":true' in frame.data:
                break
    assert len(texts) > len(paths) + 10
    assert "acc_other" not in gateway.calls["ExplainJob"][-1].account_ids
    for text in texts:
        assert not PRIVATE_FIELDS.intersection(*[[*fields_in(documents_in(text))]]), text
        assert not [word for word in PRIVATE_WORDS if word in text], text


async def test_owner_reads_all_of_it_where_others_do_not(gateway: RunningGateway) -> None:
    await share(gateway)
    gateway.services.identity.visible["wp_user"] = ["acc_other"]
    texts = [(await gateway.http.get(f"{PATH}/job_1{path}")).text for path in ("", "/events")]
    seen = {name for text in texts for name in fields_in(documents_in(text))}
    assert len(PRIVATE_FIELDS & seen) > 10, "the sweep looks for fields that are there"
