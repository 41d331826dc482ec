"""`/api/v1/submissions` over real HTTP."""

from __future__ import annotations

import json
import math
import zlib
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.scheduler.v1.scheduler_pb2 import (
    ISOLATION_EXCLUSIVE,
    ISOLATION_PARTITION,
    ISOLATION_TIME_SLICE,
    Resources,
)
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.resources import Isolation, body_of_resources
from gateway.submissions.resources import Resources as ResourcesBody
from tests.gateway.job_events import ended, event, queued, whole_run
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import RunningGateway
from tests.gateway.scripted_services import ADMIN_TOKEN, ScriptedServices
from tests.job_specs import job_spec
from vocabulary.limits import MAX_LISTING_BYTES

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/v1/submissions"
BODY = {"problem": "vector-addition", "code": "int x;", "mode": "check"}
SPEC = job_spec(problem="vector-addition", source="int x;", mode=submission_pb2.RUN_MODE_FULL)


def last_submit(services: ScriptedServices) -> Any:
    return services.refusals.calls["SubmitJob"][-1]


async def test_submission_is_taken_with_all_its_fields(gateway: RunningGateway) -> None:
    body = {**BODY, "gpu_type": "MI300X", "dtype": "float32", "language": "hip", "priority": 7}
    response = await gateway.http.post(PATH, json=body, headers={"Idempotency-Key": "key-1"})
    assert response.status_code == 202
    assert response.headers["location"] == "/api/v1/submissions/job_1"
    assert response.json()["id"] == "job_1"
    assert response.json()["state"] == "QUEUED"
    assert response.json()["events_url"] == "/api/v1/submissions/job_1/events"
    request = last_submit(gateway.services)
    assert (request.account_id, request.idempotency_key) == ("acc_user", "key-1")
    assert (request.spec.submission.source, request.spec.submission.mode, request.spec.priority) == (
        "int x;",
        submission_pb2.RUN_MODE_CHECK,
        7,
    )


async def test_a_quote_says_cost_and_wait_and_submits_nothing(gateway: RunningGateway) -> None:
    response = await gateway.http.post(f"{PATH}/quote", json={**BODY, "time_limit_seconds": 60, "queue": "red"})

    assert response.status_code == 200
    quote = response.json()
    assert (quote["hold_usd"], quote["position"], quote["eta_p50"], quote["eta_p90"]) == (0.033167, 3, 4.0, None)
    assert (quote["queue"], quote["time_limit_seconds"], quote["remaining_submissions"]) == ("red", 60, 2)
    assert last_submit(gateway.services).validate_only
    assert not gateway.services.scheduler.jobs


async def test_what_a_submission_was_asked_with_submits_it_again(gateway: RunningGateway) -> None:
    plan = {"launches": [{"kernel": "k", "grid": ["n"], "block": [1], "args": ["input", "output"]}]}
    resources = {"gpus": {"min": 1, "max": 4}}
    asked = {
        **BODY,
        "launch_plan": plan,
        "resources": resources,
        "machine": {"reuse": "create", "idle_seconds": 0},
        "class": "urgent",
        "deadline": "2030-01-01T00:00:00Z",
        "priority": -3,
        "name": "v3",
        "movable": True,
    }
    submitted = (await gateway.http.post(PATH, json=asked)).json()

    request = (await gateway.http.get(f"{PATH}/{submitted['id']}")).json()["request"]

    assert "deadline" not in request
    again = await gateway.http.post(PATH, json={**request, "deadline": "2030-01-01T00:00:00Z"})
    assert again.status_code == 202, again.text
    first, second = gateway.calls["SubmitJob"]
    assert second.spec == first.spec


@given(
    size=st.sampled_from([{"gpus": 1}, {"gpus": 8}, {"gpus": 4, "least_gpus": 2}, {"fraction": 0.5}]),
    isolation=st.sampled_from(list(Isolation)),
    devices=st.integers(0, 8),
)
async def test_the_resources_of_a_job_ask_for_the_same_again(
    size: dict[str, Any], isolation: Isolation, devices: int
) -> None:
    name = scheduler_pb2.Isolation.Value(f"ISOLATION_{isolation.name}")
    taken = Resources(**size, isolation=name, devices=devices)
    again = ResourcesBody.model_validate(body_of_resources(taken)).to_proto()
    assert again == (Resources() if taken == Resources(gpus=1, isolation=ISOLATION_EXCLUSIVE) else taken)


async def test_submission_without_a_key_gets_a_fresh_one(gateway: RunningGateway) -> None:
    for _ in range(2):
        await gateway.http.post(PATH, json=BODY)
    first, second = gateway.calls["SubmitJob"]
    assert first.idempotency_key
    assert first.idempotency_key != second.idempotency_key


async def test_who_follows_what_was_just_submitted_has_nothing_looked_up(gateway: RunningGateway) -> None:
    gateway.services.scheduler.script_of_next_job = whole_run(submission_pb2.RUN_MODE_FULL)
    submitted = (await gateway.http.post(PATH, json={**BODY, "mode": "full"})).json()

    frames = await gateway.frames("GET", submitted["events_url"])
    looked_up = len(gateway.calls["GetJob"])
    resumed = await gateway.frames("GET", submitted["events_url"], headers={"Last-Event-ID": "3"})

    assert frames[-1].event == "ACCEPTED"
    assert looked_up == 0
    assert [frame.data for frame in resumed] == [frame.data for frame in frames[3:]]
    assert len(gateway.calls["GetJob"]) == 1


async def test_what_was_just_submitted_is_hidden_from_other_accounts(gateway: RunningGateway) -> None:
    submitted = (await gateway.http.post(PATH, json=BODY)).json()

    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    assert (await gateway.http.get(submitted["events_url"], headers=headers)).status_code == 404


async def test_sandbox_needs_no_problem(gateway: RunningGateway) -> None:
    response = await gateway.http.post(PATH, json={"code": "int main() {}", "mode": "sandbox"})
    assert response.status_code == 202


async def test_violations_are_reported_in_the_clients_own_field_names(gateway: RunningGateway) -> None:
    violations = (("spec.submission.source", "is not HIP"), ("spec.gpu_type", "only MI300X"))
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "bad", violations)
    problem = (await gateway.http.post(PATH, json=BODY)).json()
    assert problem["detail"] == "code: is not HIP; gpu_type: only MI300X"
    assert problem["errors"] == [
        {"field": "code", "message": "is not HIP"},
        {"field": "gpu_type", "message": "only MI300X"},
    ]


@pytest.mark.parametrize(("seconds", "sent"), [(30.1, "31"), (None, None)])
async def test_retry_after_is_never_too_early_and_absent_if_waiting_is_not_known_to_help(
    gateway: RunningGateway, seconds: float | None, sent: str | None
) -> None:
    wait = None if seconds is None else timedelta(seconds=seconds)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many", retry_after=wait)
    assert (await gateway.http.post(PATH, json=BODY)).headers.get("retry-after") == sent


async def test_submitter_is_told_what_remains(gateway: RunningGateway) -> None:
    response = await gateway.http.post(PATH, json=BODY)
    assert response.json()["remaining_submissions"] == 2
    assert response.headers["ratelimit-policy"] == '"in-flight";q=20;qu="concurrent-requests", "hourly";q=3600;w=3600'
    assert response.headers["ratelimit"] == '"in-flight";r=2, "hourly";r=3570;t=60'
    gateway.services.scheduler.allowance = scheduler_pb2.Allowance(
        remaining_submissions=4, jobs_in_flight=1, max_jobs_in_flight=5
    )
    response = await gateway.http.post(PATH, json=BODY)
    assert response.headers["ratelimit-policy"] == '"in-flight";q=5;qu="concurrent-requests"'
    assert response.headers["ratelimit"] == '"in-flight";r=4'


async def test_finished_submission_shows_code_result_and_cost(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    await gateway.services.scheduler.add(*whole_run(submission_pb2.RUN_MODE_FULL))
    answer = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert (answer["state"], answer["status"], answer["verdict"]) == ("FINISHED", "ACCEPTED", "ACCEPTED")
    assert (answer["code"], answer["cost_usd"], answer["last_event_id"]) == ("int x;", 0.001234, 11)
    assert answer["result"]["avg_runtime_ms"] == 2.5
    [listed] = (await gateway.http.get(PATH)).json()["submissions"]
    for reported in (answer, listed):
        assert (reported["timing"], reported["timing_status"], reported["shown_interval"]) == (None, "VALID", None)
        assert (reported["runtime_ms"], reported["gflops"]) == (2.5, answer["result"]["avg_gflops"])
        tests = (reported["passed_tests"], reported["total_tests"])
        assert tests == (answer["result"]["passed_tests"], answer["result"]["total_tests"])


async def test_result_with_nan_is_still_json(gateway: RunningGateway) -> None:
    wrong = run_event_pb2.WrongAnswer(max_difference=math.nan, mean_difference=math.inf, mismatch_count=2**60)
    result = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_WRONG_ANSWER, wrong_answer=wrong)
    gateway.services.scheduler.put_job(SPEC)
    await gateway.services.scheduler.add(ended(1, result))
    info = (await gateway.http.get(f"{PATH}/job_1")).json()["result"]["debug_info"]
    assert (info["max_difference"], info["mean_difference"], info["mismatch_count"]) == (None, None, str(2**60))


async def test_running_submission_has_no_status_yet(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    answer = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert (answer["state"], answer["status"], answer["result"]) == ("QUEUED", None, None)
    assert {answer[name] for name in ("runtime_ms", "gflops", "passed_tests", "total_tests")} == {None}


async def test_list_passes_paging_on(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.scheduler.put_job(SPEC, account_id="acc_other", job_id="job_2")
    page = (await gateway.http.get(f"{PATH}?page_size=5&page_token=page-1&problem=relu")).json()
    assert [submission["id"] for submission in page["submissions"]] == ["job_1"]
    assert page["next_page_token"] == "page-2"  # noqa: S105 - a page
    request = gateway.calls["ListJobs"][-1]
    assert (request.page_size, request.page_token, request.problem) == (5, "page-1", "relu")


async def test_a_list_says_how_many_there_are_if_the_scheduler_does(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.scheduler.total = 137
    assert (await gateway.http.get(PATH)).json()["total"] == 137
    assert gateway.calls["ListJobs"][-1].with_total
    gateway.services.scheduler.total = None
    assert (await gateway.http.get(PATH)).json()["total"] is None


async def test_list_passes_filters_on_and_names_a_wrong_one(gateway: RunningGateway) -> None:
    filters = "state=QUEUED&state=RUNNING&verdict=PRECISION&mode=sandbox&queue=red&user_id=user_1&since=2026-11-01"
    assert (await gateway.http.get(f"{PATH}?{filters}&until=2026-11-02T12:00:00Z")).is_success
    request = gateway.calls["ListJobs"][-1]
    assert list(request.states) == [scheduler_pb2.JOB_STATE_QUEUED, scheduler_pb2.JOB_STATE_RUNNING]
    assert list(request.verdicts) == [run_event_pb2.VERDICT_PRECISION]
    assert (list(request.modes), request.queue, request.user_id) == (
        [submission_pb2.RUN_MODE_SANDBOX],
        "red",
        "user_1",
    )
    assert request.begin_time.ToJsonString() == "2026-11-01T00:00:00Z"
    assert request.end_time.ToJsonString() == "2026-11-02T12:00:00Z"
    for wrong in ("state=queued", "verdict=RIGHT", "mode=FULL", "since=1", "status=accepted", "sort=slowest"):
        refused = await gateway.http.get(f"{PATH}?{wrong}")
        field = refused.json()["errors"][0]["field"].removesuffix(".0")
        assert (refused.status_code, field) == (422, wrong.partition("=")[0])


async def test_list_passes_on_what_it_wants_the_fastest_of(gateway: RunningGateway) -> None:
    filters = "status=ACCEPTED&status=BENCHMARKED&gpu_type=mi300x&dtype=float16&comparable_to=job_9&sort=fastest"
    assert (await gateway.http.get(f"{PATH}?{filters}")).is_success
    request = gateway.calls["ListJobs"][-1]
    assert (list(request.statuses), request.gpu_type, request.dtype) == (
        ["ACCEPTED", "BENCHMARKED"],
        "mi300x",
        "float16",
    )
    assert request.comparable_to.job_id == "job_9"
    assert "acc_user" in request.comparable_to.account_ids
    assert request.order == scheduler_pb2.JOB_ORDER_FASTEST


async def test_cancel_ends_the_stream_with_cancelled(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    response = await gateway.http.post(f"{PATH}/job_1/cancel")
    assert (response.status_code, response.json()["id"]) == (202, "job_1")
    frames = await gateway.frames("GET", f"{PATH}/job_1/events")
    assert [frame.event for frame in frames] == ["CANCELLED"]


async def test_a_signed_report_is_given_as_it_was_signed(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.scheduler.jobs["job_1"].state = scheduler_pb2.JOB_STATE_FINISHED
    gateway.services.scheduler.jobs["job_1"].result.signed_report = '{"payload": "e30="}'
    response = await gateway.http.get(f"{PATH}/job_1/report")
    assert response.status_code == 200
    assert response.text == '{"payload": "e30="}'


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (scheduler_pb2.JOB_STATE_RUNNING, "not ended yet"),
        (scheduler_pb2.JOB_STATE_CANCELLED, "before there was anything"),
    ],
)
async def test_a_submission_without_a_report_says_why(gateway: RunningGateway, state: Any, word: str) -> None:
    gateway.services.scheduler.put_job(SPEC)
    gateway.services.scheduler.jobs["job_1"].state = state
    response = await gateway.http.get(f"{PATH}/job_1/report")
    assert response.status_code == 404
    assert word in response.json()["detail"]


async def test_a_launch_plan_and_a_definition_go_to_the_scheduler(gateway: RunningGateway) -> None:
    plan = {"launches": [{"kernel": "k", "grid": ["n"], "block": [64], "args": []}]}
    body = {"code": "int x;", "mode": "check", "launch_plan": plan, "problem_def": "class Mine: ..."}
    assert (await gateway.http.post(PATH, json=body)).status_code == 202
    sent = last_submit(gateway.services).spec.submission
    assert (json.loads(sent.launch_plan), sent.problem_definition, sent.problem) == (plan, "class Mine: ...", "")


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("cold", submission_pb2.TIMING_MODE_COLD),
        ("hot", submission_pb2.TIMING_MODE_HOT),
        ("first-call", submission_pb2.TIMING_MODE_FIRST_CALL),
    ],
)
async def test_a_timing_mode_goes_to_the_scheduler_and_is_shown(
    gateway: RunningGateway, word: str, number: int
) -> None:
    answer = await gateway.http.post(PATH, json={**BODY, "mode": "full", "timing": word})
    assert (answer.status_code, answer.json()["timing"]) == (202, word)
    assert last_submit(gateway.services).spec.submission.timing_mode == number
    assert (await gateway.http.get(f"{PATH}/job_1")).json()["timing"] == word
    assert [job["timing"] for job in (await gateway.http.get(PATH)).json()["submissions"]] == [word]


async def test_a_profile_is_asked_for_and_shown(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(PATH, json={**BODY, "mode": "full", "profile": True})
    assert (answer.status_code, answer.json()["profile"]) == (202, True)
    assert last_submit(gateway.services).spec.submission.profile
    assert (await gateway.http.get(f"{PATH}/job_1")).json()["profile"] is True
    answer = await gateway.http.post(PATH, json={**BODY, "mode": "full"})
    assert answer.json()["profile"] is False


async def test_fallbacks_go_to_the_scheduler_and_are_shown(gateway: RunningGateway) -> None:
    answer = await gateway.http.post(PATH, json={**BODY, "fallback_gpu_types": ["MI250X", "MI210"]})
    assert (answer.status_code, answer.json()["fallback_gpu_types"]) == (202, ["MI250X", "MI210"])
    assert answer.json()["machine_gpu_type"] is None
    assert list(last_submit(gateway.services).spec.fallback_gpu_types) == ["MI250X", "MI210"]
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert shown["fallback_gpu_types"] == ["MI250X", "MI210"]


@pytest.mark.parametrize(
    ("asked", "resources"),
    [
        ({"resources": {"gpus": 4}}, Resources(gpus=4)),
        ({"resources": {"gpus": {"min": 1, "max": 4}}}, Resources(gpus=4, least_gpus=1)),
        ({"resources": {"gpus": None}}, Resources()),
        (
            {"resources": {"fraction": 0.5, "isolation": "time-slice", "single_device": True}},
            Resources(fraction=0.5, isolation=ISOLATION_TIME_SLICE, single_device=True),
        ),
        ({"resources": {"memory_mib": 1, "devices": 2, "quiet": True}}, Resources(memory_mib=1, devices=2, quiet=True)),
        ({"annotations": {"kaiwo.ai/gpu-fraction": "0.5"}}, Resources(fraction=0.5)),
        ({"annotations": {"kaiwo.ai/gpu-fraction": "2.0"}}, Resources(gpus=2)),
        (
            {"annotations": {"kaiwo.ai/gpu-memory": "4000", "kaiwo.ai/gpu-sharing": "true", "app": "mine"}},
            Resources(memory_mib=4000, isolation=ISOLATION_TIME_SLICE),
        ),
        (
            {"annotations": {"kaiwo.ai/gpu-fraction": "0.25", "kaiwo.ai/gpu-isolation": "MIG"}},
            Resources(fraction=0.25, isolation=ISOLATION_PARTITION),
        ),
        ({"annotations": {"app": "mine"}}, Resources()),
    ],
)
async def test_what_it_takes_goes_to_the_scheduler(
    gateway: RunningGateway, asked: dict[str, Any], resources: Resources
) -> None:
    assert (await gateway.http.post(PATH, json={**BODY, **asked})).status_code == 202
    assert last_submit(gateway.services).spec.resources == resources


async def test_what_it_takes_is_shown_and_a_fault_in_it_has_its_place(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(job_spec(resources=Resources(fraction=0.5, isolation=ISOLATION_PARTITION)))
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()["resources"]
    assert shown == {"gpus": None, "min_gpus": None, "fraction": 0.5, "devices": None, "isolation": "partition"}
    violations = (("spec.resources.gpus", "is 3"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "bad", violations)
    refused = await gateway.http.post(PATH, json={**BODY, "resources": {"gpus": 3}})
    assert [(error["field"], error["message"]) for error in refused.json()["errors"]] == [("resources.gpus", "is 3")]


async def test_a_range_of_gpus_is_shown_with_what_it_got_and_a_fault_of_its_least_has_its_place(
    gateway: RunningGateway,
) -> None:
    gateway.services.scheduler.put_job(job_spec(resources=Resources(gpus=4, least_gpus=1)))
    before = (await gateway.http.get(f"{PATH}/job_1")).json()
    gateway.services.scheduler.jobs["job_1"].got_eighths = 16
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    violations = (("spec.resources.least_gpus", "is 3"),)
    gateway.refusals["SubmitJob"] = refusal(grpc.StatusCode.INVALID_ARGUMENT, "bad", violations)
    refused = await gateway.http.post(PATH, json={**BODY, "resources": {"gpus": {"min": 3, "max": 4}}})
    assert (shown["resources"]["min_gpus"], shown["resources"]["gpus"]) == (1, 4)
    assert (before["got_gpus"], shown["got_gpus"]) == (None, 2.0)
    assert refused.json()["errors"][0]["field"] == "resources.gpus.min"


async def test_a_submission_tells_which_gpu_type_it_got(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(job_spec(gpu_type="MI300X", fallback_gpu_types=["MI210"]))
    before = (await gateway.http.get(f"{PATH}/job_1")).json()
    job = gateway.services.scheduler.jobs["job_1"]
    job.machine_gpu_type, job.hardware = "MI210", "cpu"
    shown = (await gateway.http.get(f"{PATH}/job_1")).json()
    assert (before["hardware"], shown["hardware"]) == (None, "cpu")
    assert (shown["gpu_type"], shown["fallback_gpu_types"], shown["machine_gpu_type"]) == ("MI300X", ["MI210"], "MI210")


@pytest.mark.parametrize("left_out", [{}, {"timing": None}, {"timing": ""}])
async def test_without_a_timing_mode_it_is_the_devices(gateway: RunningGateway, left_out: dict[str, Any]) -> None:
    answer = await gateway.http.post(PATH, json={**BODY, "mode": "full", **left_out})
    assert (answer.status_code, answer.json()["timing"]) == (202, None)
    assert last_submit(gateway.services).spec.submission.timing_mode == submission_pb2.TIMING_MODE_UNSPECIFIED


async def test_a_timing_mode_of_a_newer_scheduler_is_shown_as_its_number(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(job_spec(mode=submission_pb2.RUN_MODE_FULL, timing_mode=cast("Any", 9)))
    assert (await gateway.http.get(f"{PATH}/job_1")).json()["timing"] == "unknown-9"


LISTING = "kernel:\n  ; 3: c[i] = a[i];\n    global_load_dword v1, v[2:3], off\n"


def _compiled(listing: bytes) -> run_event_pb2.RunEvent:
    kernels = [run_event_pb2.KernelReport(name="kernel", vgpr=12)]
    report = run_event_pb2.IsaReport(toolchain="clang 22", kernels=kernels)
    return run_event_pb2.RunEvent(compiled=run_event_pb2.Compiled(isa=report, isa_listing_zlib=listing))


async def test_the_isa_of_a_compiled_submission_comes_with_its_listing(gateway: RunningGateway) -> None:
    gateway.services.scheduler.put_job(SPEC)
    await gateway.services.scheduler.add(
        queued(1), event(2, run=_compiled(b"")), event(3, run=_compiled(zlib.compress(LISTING.encode())))
    )
    response = await gateway.http.get(f"{PATH}/job_1/isa")
    assert response.status_code == 200
    reported = response.json()
    assert (reported["id"], reported["listing"], reported["isa_toolchain"]) == ("job_1", LISTING, "clang 22")
    assert reported["isa"]["kernel"]["vgpr"] == 12


@pytest.mark.parametrize(
    ("listing", "shown"),
    [(b"", ""), (b"no zlib", ""), (zlib.compress(b"\xff" * 10_000_000), "\ufffd" * MAX_LISTING_BYTES)],
    ids=["none", "damaged", "bomb"],
)
async def test_a_listing_that_is_none_or_too_long_does_no_harm(
    gateway: RunningGateway, listing: bytes, shown: str
) -> None:
    gateway.services.scheduler.put_job(SPEC)
    await gateway.services.scheduler.add(event(1, run=_compiled(listing)))
    assert (await gateway.http.get(f"{PATH}/job_1/isa")).json()["listing"] == shown


@pytest.mark.parametrize(
    ("state", "word"),
    [(scheduler_pb2.JOB_STATE_RUNNING, "not compiled yet"), (scheduler_pb2.JOB_STATE_FINISHED, "did not compile")],
)
async def test_a_submission_without_isa_says_why(gateway: RunningGateway, state: Any, word: str) -> None:
    gateway.services.scheduler.put_job(SPEC)
    await gateway.services.scheduler.add(queued(1))
    gateway.services.scheduler.jobs["job_1"].state = state
    response = await gateway.http.get(f"{PATH}/job_1/isa")
    assert response.status_code == 404
    assert word in response.json()["detail"]
    assert (await gateway.http.get(f"{PATH}/job_9/isa")).status_code == 404
