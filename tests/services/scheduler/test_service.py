from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from sqlalchemy import delete
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1 import submission_pb2

from servicekit.clock import ManualClock
from servicekit.rpc.proto_time import duration_to_proto
from services.scheduler.store.tables import jobs
from tests.job_specs import job_spec, sound_spec
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, USER, Cluster, kinds, scripted_cluster, with_gpus
from vocabulary.money import price_of


async def nothing_is_stored(cluster: Cluster) -> bool:
    listed = await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest())
    return not listed.jobs and not cluster.billing.open_holds()


async def test_an_alias_means_the_same_problem_in_a_submission_and_in_a_list(cluster: Cluster) -> None:
    job = await cluster.submit(problem="lrelu")
    assert (await cluster.job(job.job_id)).spec.submission.problem == "leaky-relu"
    for name, found in (("lrelu", 1), ("leaky-relu", 1), ("relu", 0)):
        listed = await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, problem=name))
        assert len(listed.jobs) == found, name


async def test_submitted_job_comes_back_with_what_was_sent(cluster: Cluster) -> None:
    plan = '{"launches": [{"kernel": "k", "grid": ["n"], "block": [1], "args": ["input", "output"]}]}'
    definition = "class Mine: pass"
    cluster.billing.administrators = {USER}
    submitted = await cluster.submit(
        gpu_type="mi300x", source="// mine", priority=7, launch_plan=plan, problem_definition=definition
    )
    job = await cluster.job(submitted.job_id)
    assert (job.account_id, job.user_id) == (ACCOUNT, USER)
    assert job.spec == job_spec(
        problem="leaky-relu",
        source="// mine",
        mode=submission_pb2.RUN_MODE_CHECK,
        gpu_type="MI300X",
        dtype="float32",
        language="hip",
        priority=7,
        queue="default",
        time_limit=Duration(seconds=900),
        resources=scheduler_pb2.Resources(gpus=1, isolation=scheduler_pb2.ISOLATION_EXCLUSIVE, quiet=True),
        machine=scheduler_pb2.MachineUse(reuse=scheduler_pb2.MACHINE_REUSE_REUSE_OR_CREATE),
        launch_plan=plan,
        problem_definition=definition,
    )
    assert job.account_id == ACCOUNT


async def test_what_is_only_validated_is_priced_and_leaves_nothing_behind(cluster: Cluster) -> None:
    def asked(**changes: Any) -> scheduler_pb2.SubmitJobRequest:
        spec = sound_spec(**changes)
        return scheduler_pb2.SubmitJobRequest(account_id=ACCOUNT, user_id=USER, spec=spec, validate_only=True)

    before = await cluster.allowance()
    found = await cluster.api.SubmitJob(asked(time_limit=Duration(seconds=60), gpu_type="mi300x"))

    assert (found.job.job_id, found.job.spec.gpu_type, found.job.spec.queue) == ("", "MI300X", "default")
    assert (found.quote.hold_micros, found.quote.position) == (price_of(timedelta(seconds=60), 1_990_000), 1)
    assert found.allowance == before == await cluster.allowance()
    assert await nothing_is_stored(cluster)
    await refused(cluster.api.SubmitJob(asked(problem="lrelo")), grpc.StatusCode.NOT_FOUND, "leaky-relu")
    cluster.billing.refusals["ReserveCredit"] = grpc.StatusCode.FAILED_PRECONDITION
    await refused(cluster.api.SubmitJob(asked()), grpc.StatusCode.FAILED_PRECONDITION)


@pytest.mark.parametrize("timing_mode", submission_pb2.TimingMode.values())
async def test_a_timing_mode_is_kept_and_goes_to_the_machine(
    cluster: Cluster, timing_mode: submission_pb2.TimingMode.ValueType
) -> None:
    submitted = await cluster.submit(mode=submission_pb2.RUN_MODE_FULL, timing_mode=timing_mode)
    await cluster.events_to_end(submitted.job_id)
    assert cluster.executor.requests[0].submission.timing_mode == timing_mode
    listed = await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest())
    assert [
        job.spec.submission.timing_mode for job in (submitted, await cluster.job(submitted.job_id), *listed.jobs)
    ] == [timing_mode] * 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": ""}, "spec.submission.source"),
        ({"source": "x" * ((1 << 20) + 1)}, "spec.submission.source"),
        ({"gpu_type": "H100"}, "spec.gpu_type"),
        ({"dtype": "int4"}, "spec.submission.dtype"),
        ({"language": "triton"}, "spec.submission.language"),
        ({"priority": 101}, "spec.priority"),
        ({"machine": scheduler_pb2.MachineUse(reuse=9)}, "spec.machine.reuse"),
        ({"machine": scheduler_pb2.MachineUse(idle_time=Duration(seconds=-1))}, "spec.machine.idle_time"),
        ({"machine": scheduler_pb2.MachineUse(idle_time=Duration(nanos=1))}, "spec.machine.idle_time"),
        ({"machine": scheduler_pb2.MachineUse(idle_time=Duration(seconds=604801))}, "spec.machine.idle_time"),
        ({"mode": 0}, "spec.submission.mode"),
        ({"mode": 77}, "spec.submission.mode"),
        ({"problem": ""}, "spec.submission.problem"),
        ({"launch_plan": "{}"}, "spec.submission.launch_plan.launches"),
        ({"problem_definition": " "}, "spec.submission.problem_definition"),
        ({"mode": submission_pb2.RUN_MODE_FULL, "timing_mode": 9}, "spec.submission.timing_mode"),
        ({"timing_mode": submission_pb2.TIMING_MODE_COLD}, "spec.submission.timing_mode"),
        ({"fallback_gpu_types": ["MI300X"]}, "spec.fallback_gpu_types"),
        ({"key": ""}, "idempotency_key"),
    ],
)
async def test_bad_submission_names_the_field_and_leaves_nothing_behind(
    cluster: Cluster, changes: dict[str, Any], field: str
) -> None:
    said = await refused(cluster.submit(**changes), grpc.StatusCode.INVALID_ARGUMENT)
    assert [name for name, _ in said.violations] == [field]
    assert await nothing_is_stored(cluster)


async def test_priority_above_0_is_refused_but_to_administrators(cluster: Cluster) -> None:
    said = await refused(cluster.submit(priority=1))
    assert (said.code, [name for name, _ in said.violations]) == (grpc.StatusCode.PERMISSION_DENIED, ["spec.priority"])
    assert "0 or less" in said.violations[0][1]
    assert await nothing_is_stored(cluster)
    assert [(await cluster.submit(str(low), priority=low)).spec.priority for low in (0, -1, -100)] == [0, -1, -100]
    cluster.billing.administrators = {USER}
    assert (await cluster.submit("urgent", priority=100)).spec.priority == 100


async def test_priority_waits_for_the_word_of_billing(cluster: Cluster) -> None:
    cluster.billing.administrators = {USER}
    cluster.billing.refusals["GetRole"] = grpc.StatusCode.UNAVAILABLE
    await refused(cluster.submit(priority=1), grpc.StatusCode.UNAVAILABLE)
    assert await nothing_is_stored(cluster)
    assert (await cluster.submit("ordinary")).job_id


async def test_unknown_problem_is_not_found_with_the_nearest_name(cluster: Cluster) -> None:
    await refused(cluster.submit(problem="leaky-relo"), grpc.StatusCode.NOT_FOUND, "leaky-relu")
    assert await nothing_is_stored(cluster)


async def test_repeated_submission_is_the_same_job(cluster: Cluster) -> None:
    jobs = await asyncio.gather(*[cluster.submit("key") for _ in range(5)])
    assert len({job.job_id for job in jobs}) == 1
    await cluster.events_to_end(jobs[0].job_id)
    assert (await cluster.submit("key")).state == scheduler_pb2.JOB_STATE_FINISHED
    assert len(cluster.billing.holds) == len(cluster.executor.requests) == 1


async def test_a_hold_is_given_back_if_another_try_of_the_key_was_refused_meanwhile(cluster: Cluster) -> None:
    async def lose_the_row() -> None:
        assert cluster.database
        async with cluster.database.transaction() as connection:
            await connection.execute(delete(jobs))

    cluster.billing.meanwhile["ReserveCredit"] = lose_the_row
    await refused(cluster.submit("key"), grpc.StatusCode.UNAVAILABLE)
    assert cluster.billing.holds
    assert await nothing_is_stored(cluster)
    cluster.billing.meanwhile.clear()
    assert (await cluster.submit("key")).job_id


async def test_key_of_another_submission_is_refused(cluster: Cluster) -> None:
    await cluster.submit("key")
    await refused(cluster.submit("key", source="// other"), grpc.StatusCode.ALREADY_EXISTS)


async def test_key_of_a_submission_that_is_timed_otherwise_is_refused(cluster: Cluster) -> None:
    full = submission_pb2.RUN_MODE_FULL
    first = await cluster.submit("key", mode=full, timing_mode=submission_pb2.TIMING_MODE_HOT)
    await refused(cluster.submit("key", mode=full), grpc.StatusCode.ALREADY_EXISTS)
    again = await cluster.submit("key", mode=full, timing_mode=submission_pb2.TIMING_MODE_HOT)
    assert again.job_id == first.job_id


async def test_key_of_a_submission_with_other_fallbacks_is_refused(cluster: Cluster) -> None:
    first = await cluster.submit("key", fallback_gpu_types=["MI210"])
    for others in ([], ["MI250X"], ["MI210", "MI250X"]):
        await refused(cluster.submit("key", fallback_gpu_types=others), grpc.StatusCode.ALREADY_EXISTS)
    assert (await cluster.submit("key", fallback_gpu_types=["mi210"])).job_id == first.job_id


async def test_a_fallback_without_a_price_is_refused_and_nothing_is_held(cluster: Cluster) -> None:
    cluster.billing.gpu_types = ("MI300X", "MI250X")
    failed = await refused(cluster.submit(fallback_gpu_types=["MI250X", "MI210"]), grpc.StatusCode.INVALID_ARGUMENT)
    assert [name for name, _ in failed.violations] == ["spec.fallback_gpu_types"]
    assert await nothing_is_stored(cluster)


async def test_the_hold_is_for_the_longest_run_on_every_gpu_type_that_is_allowed(cluster: Cluster) -> None:
    cluster.billing.prices = {"MI210": 1_000_000, "MI300A": 3_600_000}
    for number, fallbacks in enumerate([[], ["MI210"], ["MI210", "MI300A"]]):
        await cluster.submit(f"key {number}", fallback_gpu_types=fallbacks)
    held = [list(hold.gpu_types) for hold in cluster.billing.holds.values()]
    assert held == [["MI300X"], ["MI300X", "MI210"], ["MI300X", "MI210", "MI300A"]]
    assert {hold.longest_time.ToTimedelta() for hold in cluster.billing.holds.values()} == {
        cluster.settings.longest_run
    }


async def test_an_executor_gets_the_longest_run_that_the_hold_is_for(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, longest_run=timedelta(minutes=7)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        job = await cluster.submit()
        await cluster.events_to_end(job.job_id)
        (hold,) = cluster.billing.holds.values()
        (request,) = cluster.executor.requests
        assert request.longest_run.ToTimedelta() == timedelta(minutes=7)
        assert hold.longest_time.ToTimedelta() == timedelta(minutes=7)


async def test_credit_that_does_not_suffice_is_said_and_nothing_is_stored(cluster: Cluster) -> None:
    cluster.billing.refusals = {"ReserveCredit": grpc.StatusCode.FAILED_PRECONDITION}
    await refused(cluster.submit(), grpc.StatusCode.FAILED_PRECONDITION, "lowers it (`--time-limit SECONDS`")
    assert await nothing_is_stored(cluster)
    cluster.billing.refusals = {}
    job = await cluster.submit()
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"


async def test_refused_submission_does_not_count_as_in_flight(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, max_jobs_in_flight=1) as cluster:
        await cluster.start()
        cluster.billing.refusals = {"ReserveCredit": grpc.StatusCode.FAILED_PRECONDITION}
        await refused(cluster.submit("refused"))
        cluster.billing.refusals = {}
        assert (await cluster.submit("other")).job_id


async def test_unknown_account_is_said_as_such(cluster: Cluster) -> None:
    cluster.billing.refusals = {"ReserveCredit": grpc.StatusCode.NOT_FOUND}
    await refused(cluster.submit(), grpc.StatusCode.INVALID_ARGUMENT, field="account_id")


@pytest.mark.parametrize("method", ["ListPrices", "ReserveCredit"])
async def test_billing_out_of_reach_is_unavailable_and_no_job_appears(cluster: Cluster, method: str) -> None:
    cluster.billing.refusals = {method: grpc.StatusCode.INTERNAL}
    await refused(cluster.submit(), grpc.StatusCode.UNAVAILABLE)
    assert await nothing_is_stored(cluster)


async def test_account_with_too_many_jobs_in_flight_reads_when_to_try_again(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, max_jobs_in_flight=2) as cluster:
        await cluster.start()
        for number in range(2):
            await cluster.submit(f"key {number}")
        said = await refused(cluster.submit("key 2"), grpc.StatusCode.RESOURCE_EXHAUSTED)
        assert said.retry_after is not None
        assert said.retry_after > timedelta(0)
        assert "2 jobs of this account are in flight; the limit is 2" in said.message


async def test_account_with_too_many_submissions_reads_exactly_when_the_next_is_possible(
    tmp_path: Path, free_clock: ManualClock
) -> None:
    async with scripted_cluster(tmp_path, max_submissions_per_hour=2) as cluster:
        cluster.clock = free_clock
        await cluster.start(loops=False)
        for number in range(2):
            await cluster.submit(f"key {number}")
            free_clock.advance(timedelta(minutes=10))
        said = await refused(cluster.submit("key 2"))
        assert (said.code, said.retry_after) == (grpc.StatusCode.RESOURCE_EXHAUSTED, timedelta(minutes=40))
        assert "made 2 submissions in the last hour; the limit is 2" in said.message
        assert (await cluster.submit("key 0")).job_id, "a repeated key is no new submission"
        await cluster.stop()
        free_clock.advance(timedelta(minutes=40) - timedelta(microseconds=1))
        await cluster.start(loops=False)
        await refused(cluster.submit("key 2"), grpc.StatusCode.RESOURCE_EXHAUSTED)
        free_clock.advance(timedelta(microseconds=1))
        assert (await cluster.submit("key 2")).job_id


async def test_the_hour_is_told_before_the_jobs_in_flight_because_it_lasts_longer(
    tmp_path: Path, free_clock: ManualClock
) -> None:
    async with scripted_cluster(tmp_path, max_jobs_in_flight=1, max_submissions_per_hour=1) as cluster:
        cluster.clock = free_clock
        await cluster.start(loops=False)
        await cluster.submit("first")
        assert (await refused(cluster.submit("second"))).retry_after == timedelta(hours=1)


async def test_submitters_are_told_how_many_more_submissions_they_may_make(
    tmp_path: Path, free_clock: ManualClock
) -> None:
    async with scripted_cluster(tmp_path, max_jobs_in_flight=3, max_submissions_per_hour=9) as cluster:
        cluster.clock = free_clock
        await cluster.start(loops=False)
        assert await cluster.allowance() == scheduler_pb2.Allowance(
            remaining_submissions=3, max_jobs_in_flight=3, max_submissions_per_hour=9
        )
        for remaining in (2, 1, 0):
            answer = await cluster.submitted(f"key {remaining}")
            event = await anext(aiter(cluster.watch(answer.job.job_id)))
            assert answer.allowance.remaining_submissions == remaining
            assert event.queued.remaining_submissions == remaining
            assert event.queued.HasField("remaining_submissions")
        repeated = await cluster.submitted("key 0")
        free_clock.advance(timedelta(minutes=1))
        assert repeated.allowance == scheduler_pb2.Allowance(
            jobs_in_flight=3,
            max_jobs_in_flight=3,
            submissions_in_last_hour=3,
            max_submissions_per_hour=9,
            renew_after=duration_to_proto(timedelta(hours=1)),
        )
        assert (await cluster.allowance()).renew_after.ToTimedelta() == timedelta(minutes=59)


async def test_job_is_named_and_shared_by_its_account_alone(cluster: Cluster) -> None:
    job = await cluster.submit()
    as_another = scheduler_pb2.GetJobRequest(account_ids=["account-2"], job_id=job.job_id, or_shared=True)
    await refused(cluster.api.GetJob(as_another), grpc.StatusCode.NOT_FOUND)
    change = scheduler_pb2.UpdateJobRequest(job_id=job.job_id, visibility=scheduler_pb2.VISIBILITY_LINK, name="v3")
    change.account_ids[:] = ["account-2"]
    await refused(cluster.api.UpdateJob(change), grpc.StatusCode.NOT_FOUND)
    change.account_ids[:] = [ACCOUNT]
    change.user_id = job.user_id
    changed = (await cluster.api.UpdateJob(change)).job
    assert (changed.visibility, changed.spec.name) == (scheduler_pb2.VISIBILITY_LINK, "v3")
    seen = (await cluster.api.GetJob(as_another)).job
    assert (seen.spec.name, seen.spec.submission.source) == ("v3", job.spec.submission.source)
    as_another.or_shared = False
    await refused(cluster.api.GetJob(as_another), grpc.StatusCode.NOT_FOUND)
    for wrong in ({"name": "x" * 101}, {"name": "a\0"}, {"visibility": 9}):
        asked = scheduler_pb2.UpdateJobRequest(account_ids=[ACCOUNT], job_id=job.job_id, **cast("Any", wrong))
        await refused(cluster.api.UpdateJob(asked), grpc.StatusCode.INVALID_ARGUMENT, field=next(iter(wrong)))


async def test_another_members_submission_is_named_and_shared_by_managers_of_the_team_alone(cluster: Cluster) -> None:
    job = await cluster.submit()
    change = scheduler_pb2.UpdateJobRequest(
        account_ids=[ACCOUNT, "own"], job_id=job.job_id, user_id="bob", visibility=scheduler_pb2.VISIBILITY_PUBLIC
    )
    for managed in ([], ["own"]):
        change.managed_account_ids[:] = managed
        await refused(cluster.api.UpdateJob(change), grpc.StatusCode.PERMISSION_DENIED)
    seen = await cluster.api.GetJob(scheduler_pb2.GetJobRequest(account_ids=[ACCOUNT], job_id=job.job_id))
    assert seen.job.visibility == scheduler_pb2.VISIBILITY_PRIVATE
    change.managed_account_ids[:] = [ACCOUNT]
    assert (await cluster.api.UpdateJob(change)).job.visibility == scheduler_pb2.VISIBILITY_PUBLIC


async def test_job_of_another_account_is_not_found(cluster: Cluster) -> None:
    job = await cluster.submit()
    for call in (
        cluster.api.GetJob(scheduler_pb2.GetJobRequest(account_ids=["other"], job_id=job.job_id)),
        cluster.api.GetJob(scheduler_pb2.GetJobRequest(account_ids=[ACCOUNT], job_id="no\0such")),
        cluster.api.WatchJob(scheduler_pb2.WatchJobRequest(account_id="other", job_id=job.job_id)).read(),
    ):
        await refused(call, grpc.StatusCode.NOT_FOUND)
    services_see_all = await cluster.api.GetJob(scheduler_pb2.GetJobRequest(job_id=job.job_id))
    assert services_see_all.job.job_id == job.job_id


@pytest.mark.parametrize("after_seq", [-1, 1000])
async def test_sequence_number_that_no_event_has_is_refused(cluster: Cluster, after_seq: int) -> None:
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    said = await refused(anext(aiter(cluster.watch(job.job_id, after_seq))), grpc.StatusCode.INVALID_ARGUMENT)
    assert said.violations[0][0] == "after_seq"


async def test_watching_from_the_middle_gives_the_rest_and_from_the_end_nothing(cluster: Cluster) -> None:
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    for seen in range(len(events) + 1):
        assert await cluster.events_to_end(job.job_id, seen) == events[seen:]


async def test_finished_job_has_its_result_and_times(cluster: Cluster) -> None:
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    job = await cluster.job(job.job_id)
    assert job.verdict == job.result.verdict == run_event_pb2.VERDICT_ACCEPTED
    assert job.result == events[-1].ended.result
    assert job.last_seq == events[-1].seq
    assert job.create_time.ToMicroseconds() <= job.start_time.ToMicroseconds() <= job.end_time.ToMicroseconds()


async def test_the_first_page_says_how_many_jobs_there_are_if_they_are_few(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.scheduler.service.scheduler_service.MOST_COUNTED", 3)
    for number in range(3):
        await cluster.submit(f"key {number}")

    async def listed(**wanted: Any) -> scheduler_pb2.ListJobsResponse:
        return await cluster.api.ListJobs(
            scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, page_size=2, with_total=True, **wanted)
        )

    first = await listed()
    assert (first.HasField("total"), first.total) == (True, 3)
    assert not (await listed(page_token=first.next_page_token)).HasField("total")
    assert (await listed(problem="relu")).total == 0
    unasked = await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, page_size=2))
    assert not unasked.HasField("total")
    await cluster.submit("one more")
    assert not (await listed()).HasField("total")


async def test_lists_come_in_pages_newest_first_without_sources(cluster: Cluster) -> None:
    submitted = [(await cluster.submit(f"key {number}")).job_id for number in range(5)]
    listed: list[scheduler_pb2.Job] = []
    token = ""
    while True:
        request = scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, page_size=2, page_token=token)
        page = await cluster.api.ListJobs(request)
        listed += page.jobs
        token = page.next_page_token
        if not token:
            break
    assert [job.job_id for job in listed] == submitted[::-1]
    assert not any(job.spec.submission.source for job in listed)


async def test_lists_are_filtered_by_mode_and_verdict(cluster: Cluster) -> None:
    async def ids(**wanted: Any) -> list[str]:
        listed = await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, page_size=1, **wanted))
        return [job.job_id for job in listed.jobs]

    job = await cluster.submit("first")
    await cluster.events_to_end(job.job_id)
    other = submission_pb2.RUN_MODE_SANDBOX
    assert await ids(modes=[job.spec.submission.mode], verdicts=[run_event_pb2.VERDICT_ACCEPTED]) == [job.job_id]
    assert await ids(modes=[other]) == await ids(verdicts=[run_event_pb2.VERDICT_PRECISION]) == []


@pytest.mark.parametrize(
    ("request_fields", "field"),
    [
        ({"page_token": "???"}, "page_token"),
        ({"states": [99]}, "states"),
        ({"verdicts": [99]}, "verdicts"),
        ({"modes": [0]}, "modes"),
        ({"queue": "\0"}, "queue"),
        ({"statuses": ["RIGHT"]}, "statuses"),
        ({"gpu_type": "MI30X"}, "gpu_type"),
        ({"dtype": "float23"}, "dtype"),
        ({"order": 9}, "order"),
        ({"visibility": 9}, "visibility"),
        ({"order": scheduler_pb2.JOB_ORDER_FASTEST}, "order"),
    ],
)
async def test_bad_list_request_names_the_field(cluster: Cluster, request_fields: dict[str, Any], field: str) -> None:
    await refused(
        cluster.api.ListJobs(scheduler_pb2.ListJobsRequest(**request_fields)),
        grpc.StatusCode.INVALID_ARGUMENT,
        field=field,
    )


async def test_problems_are_listed_and_read_with_their_texts(cluster: Cluster) -> None:
    [summary] = (await cluster.api.ListProblems(scheduler_pb2.ListProblemsRequest())).problems
    assert (summary.slug, list(summary.dtypes)) == ("leaky-relu", ["float32"])
    problem = await cluster.api.GetProblem(scheduler_pb2.GetProblemRequest(slug="leaky-relu"))
    assert (problem.problem, problem.starter) == (summary, "// begin here")
    await refused(
        cluster.api.GetProblem(scheduler_pb2.GetProblemRequest(slug="leaky-relu", dtype="float16")),
        grpc.StatusCode.INVALID_ARGUMENT,
        "it has float32",
        field="dtype",
    )
    alias = await cluster.api.GetProblem(scheduler_pb2.GetProblemRequest(slug="LeakyReLU"))
    assert alias.problem.slug == "leaky-relu"
    await refused(
        cluster.api.GetProblem(scheduler_pb2.GetProblemRequest(slug="leaky-rel")),
        grpc.StatusCode.NOT_FOUND,
        "leaky-relu",
    )


async def test_queue_metrics_count_jobs_by_what_became_of_them(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    await cluster.events_to_end((await cluster.submit("done")).job_id)
    waiting = await cluster.submit("waits", gpu_type="MI210")
    cancelled = await cluster.submit("cancelled", gpu_type="MI210")
    await cluster.cancel(cancelled.job_id)
    await cluster.events_to_end(cancelled.job_id)
    metrics = await cluster.api.GetQueueMetrics(scheduler_pb2.GetQueueMetricsRequest())
    assert (metrics.queued_jobs, metrics.running_jobs, metrics.ended_jobs, metrics.finished_jobs) == (1, 0, 2, 1)
    await cluster.cancel(waiting.job_id)


async def test_hanging_up_on_a_watch_does_not_cancel_the_job(cluster: Cluster) -> None:
    gate = asyncio.Event()
    cluster.executor.script = (*cluster.executor.script[:1], gate, *cluster.executor.script[1:])
    job = await cluster.submit()
    stream = cluster.watch(job.job_id)
    await anext(aiter(stream))
    await stream.aclose()
    gate.set()
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"
    assert not cluster.executor.cancels


async def test_a_submission_that_names_no_gpu_gets_the_first_of_the_price_list(cluster: Cluster) -> None:
    cluster.billing.gpu_types = ("MI210", "MI300A")
    assert (await cluster.submit("after", gpu_type=" ")).spec.gpu_type == "MI210"
    assert (await cluster.submit("named", gpu_type="MI300A")).spec.gpu_type == "MI300A"


async def test_a_gpu_type_may_be_asked_for_if_and_only_if_it_is_in_the_price_list(cluster: Cluster) -> None:
    cluster.billing.gpu_types = ("MI300X", "MI325X")
    assert (await cluster.submit("listed", gpu_type="mi325x")).spec.gpu_type == "MI325X"
    said = await refused(cluster.submit("unlisted", gpu_type="MI210"))
    assert list(said.violations) == [
        ("spec.gpu_type", "must be one of MI300X, MI325X; it is 'MI210', and the nearest is MI300X")
    ]


@with_gpus(2)
async def test_changes_of_an_accounts_jobs_are_streamed_and_resume(cluster: Cluster) -> None:
    await cluster.reserve("session")
    request = scheduler_pb2.WatchJobsRequest(account_id=ACCOUNT)
    stream = aiter(cluster.api.WatchJobs(request, timeout=TIMEOUT_SECONDS))
    begin = await anext(stream)
    assert not begin.HasField("job")
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    over = [answer async for answer in _until_over(stream)]
    assert {answer.job.job_id for answer in over} == {job.job_id}, "and no reservation"
    assert over[-1].job == (await cluster.api.ListJobs(scheduler_pb2.ListJobsRequest(account_id=ACCOUNT))).jobs[0]
    again = scheduler_pb2.WatchJobsRequest(account_id=ACCOUNT, after_revision=begin.revision)
    resumed = [answer async for answer in _until_over(cluster.api.WatchJobs(again, timeout=TIMEOUT_SECONDS))]
    assert resumed == over[-1:]


async def _until_over(stream: Any) -> AsyncGenerator[scheduler_pb2.WatchJobsResponse]:
    async for answer in stream:
        yield answer
        if answer.job.state == scheduler_pb2.JOB_STATE_FINISHED:
            return


async def test_revision_that_has_not_been_is_refused(cluster: Cluster) -> None:
    request = scheduler_pb2.WatchJobsRequest(account_id=ACCOUNT, after_revision=1 << 40)
    said = await refused(cluster.api.WatchJobs(request).read(), grpc.StatusCode.INVALID_ARGUMENT)
    assert said.violations[0][0] == "after_revision"
