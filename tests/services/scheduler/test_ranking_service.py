from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import rankings_pb2 as pb
from wavepool.scheduler.v1.rankings_pb2_grpc import RankingServiceStub
from wavepool.scheduler.v1.scheduler_pb2 import (
    JOB_ORDER_FASTEST,
    VISIBILITY_LINK,
    GetJobRequest,
    ListJobsRequest,
    UpdateJobRequest,
)
from wavepool.submission.v1 import submission_pb2

from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.store.job_store import JobStore
from tests.refused_calls import refused
from tests.services.scheduler.cluster import Cluster
from tests.services.scheduler.jobs import a_job
from tests.services.scheduler.timed_jobs import case, ended

if TYPE_CHECKING:
    from wavepool.scheduler.v1.rankings_pb2_grpc import RankingServiceAsyncStub


def rankings(cluster: Cluster) -> RankingServiceAsyncStub:
    assert cluster.channel
    return RankingServiceStub(cluster.channel)


def store(cluster: Cluster) -> JobStore:
    assert cluster.database
    return JobStore(cluster.database, lambda _: None)


async def test_a_ranking_is_of_the_default_kind_of_time_unless_another_is_asked_for(cluster: Cluster) -> None:
    await ended(store(cluster), 1, user_id="ada", mean_runtime_ns=20.0)
    await ended(store(cluster), 2, user_id="bob", mean_runtime_ns=10.0)
    answer = await rankings(cluster).ListRankings(pb.ListRankingsRequest(problem="lrelu", user_id="ada", limit=1))
    assert (answer.problem, answer.gpu_type, answer.dtype) == ("leaky-relu", "MI300X", "float32")
    assert (answer.timing_mode, answer.ranked, answer.users) == (submission_pb2.TIMING_MODE_COLD, True, 2)
    assert [(one.rank, one.user_id, one.runtime_ns) for one in answer.rankings] == [(1, "bob", 10.0)]
    assert (answer.own.rank, answer.own.user_id, answer.own.timings) == (2, "ada", 1)


async def test_times_of_the_cpu_device_have_no_rank(cluster: Cluster) -> None:
    await ended(store(cluster), 1, device="cpu", timing_mode="hot")
    answer = await rankings(cluster).ListRankings(pb.ListRankingsRequest(problem="leaky-relu", gpu_type="CPU"))
    assert (answer.gpu_type, answer.timing_mode) == ("cpu", submission_pb2.TIMING_MODE_HOT)
    assert (answer.ranked, [one.rank for one in answer.rankings]) == (False, [0])
    assert not answer.HasField("own")


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ({"problem": "leaky-relo"}, grpc.StatusCode.NOT_FOUND, "leaky-relu"),
        ({"gpu_type": "MI30X"}, grpc.StatusCode.INVALID_ARGUMENT, "the nearest is MI300X"),
        ({"dtype": "float23"}, grpc.StatusCode.INVALID_ARGUMENT, "float32"),
        ({"timing_mode": 9}, grpc.StatusCode.INVALID_ARGUMENT, "9 is not valid; choose cold, hot, first-call"),
        ({"limit": -1}, grpc.StatusCode.INVALID_ARGUMENT, "from 0 to 200"),
    ],
)
async def test_a_ranking_that_cannot_be_is_refused(
    cluster: Cluster, change: dict[str, Any], code: grpc.StatusCode, named: str
) -> None:
    request = pb.ListRankingsRequest(**({"problem": "leaky-relu"} | change))
    error = await refused(rankings(cluster).ListRankings(request), code)
    assert named in " ".join([error.message, *(text for _, text in error.violations)])


async def test_progress_is_of_the_default_kind_of_time_unless_another_is_asked_for(cluster: Cluster) -> None:
    await ended(store(cluster), 1, user_id="ada", mean_runtime_ns=20.0)
    await ended(store(cluster), 2, user_id="bob", device="cpu", timing_mode="hot", mean_runtime_ns=10.0)
    answer = await rankings(cluster).ListProgress(pb.ListProgressRequest(user_id="bob"))
    assert (answer.gpu_type, answer.dtype) == ("MI300X", "float32")
    assert answer.timing_mode == submission_pb2.TIMING_MODE_COLD
    [one] = answer.problems
    assert (one.slug, one.attempts, one.solved, one.users) == ("leaky-relu", 1, True, 2)
    assert (one.HasField("best_runtime_ns"), one.record_runtime_ns) == (False, 20.0)
    request = pb.ListProgressRequest(user_id="bob", gpu_type="CPU", dtype="fp32")
    answer = await rankings(cluster).ListProgress(request)
    assert (answer.gpu_type, answer.timing_mode) == ("cpu", submission_pb2.TIMING_MODE_HOT)
    assert answer.problems[0].best_runtime_ns == 10.0


@pytest.mark.parametrize(
    ("change", "named"),
    [({"gpu_type": "MI30X"}, "the nearest is MI300X"), ({"dtype": "float23"}, "float32")],
)
async def test_progress_of_a_kind_that_is_none_is_refused(cluster: Cluster, change: dict[str, Any], named: str) -> None:
    call = rankings(cluster).ListProgress(pb.ListProgressRequest(**change))
    error = await refused(call, grpc.StatusCode.INVALID_ARGUMENT)
    assert named in " ".join([error.message, *(text for _, text in error.violations)])


async def test_records_are_of_the_problem_that_an_alias_means(cluster: Cluster) -> None:
    await ended(store(cluster), 1, user_id="ada", mean_runtime_ns=20.0)
    answer = await rankings(cluster).ListRecords(pb.ListRecordsRequest(problem="lrelu", user_id="ada"))
    assert (answer.problem, answer.gpu_type, answer.ranked) == ("leaky-relu", "MI300X", True)
    assert [(one.user_id, one.runtime_ns) for one in answer.records] == [("ada", 20.0)]
    assert answer.own == answer.records


async def test_rankings_records_and_lists_say_how_far_a_time_is_known(cluster: Cluster) -> None:
    job = await ended(store(cluster), 1, cases=[case("a", 10.0, spread=0.1)], mean_runtime_ns=10.0)
    ranking = await rankings(cluster).ListRankings(pb.ListRankingsRequest(problem="leaky-relu", user_id="ada"))
    records = await rankings(cluster).ListRecords(pb.ListRecordsRequest(problem="leaky-relu"))
    listed = await cluster.api.ListJobs(ListJobsRequest())
    whole = await cluster.api.GetJob(GetJobRequest(job_id=job.job_id))
    shown = [*ranking.rankings, ranking.own, *records.records]
    assert [one.interval for one in shown] == [pytest.approx(0.1)] * 3
    await ended(store(cluster), 2, user_id="bob", cases=[case("a", 11.0, spread=0.2)], mean_runtime_ns=11.0)
    [reached] = (await rankings(cluster).ListProgress(pb.ListProgressRequest(user_id="bob"))).problems
    assert (reached.record_interval, reached.best_interval) == (pytest.approx(0.1), pytest.approx(0.2))
    assert [one.mean_interval for one in (*listed.jobs, whole.job)] == [pytest.approx(0.1)] * 2


async def test_a_users_progress_counts_problems_by_difficulty_and_days(cluster: Cluster) -> None:
    job = await ended(store(cluster), 1, create_time=cluster.clock.now() - timedelta(days=3))
    await ended(store(cluster), 2, create_time=cluster.clock.now() - timedelta(days=365))
    await ended(store(cluster), 3, problem="no-longer-here", create_time=job.create_time)
    answer = await rankings(cluster).GetUserProgress(pb.GetUserProgressRequest(user_id="ada"))
    assert [(one.difficulty, one.solved, one.problems) for one in answer.difficulties] == [
        ("EASY", 1, 1),
        ("MEDIUM", 0, 0),
        ("HARD", 0, 0),
    ]
    assert [(one.date, one.submissions) for one in answer.days] == [(job.create_time.date().isoformat(), 2)]


async def test_two_jobs_are_compared_by_their_common_cases(cluster: Cluster) -> None:
    base = await ended(store(cluster), 1, cases=[case("a", 200.0), case("b", 100.0)])
    other = await ended(store(cluster), 2, cases=[case("a", 100.0), case("c", 1.0)])
    request = pb.CompareJobsRequest(account_ids=["account-1"], base_job_id=base.job_id, other_job_id=other.job_id)
    answer = await rankings(cluster).CompareJobs(request)
    assert (answer.verdict, answer.speedup) == (pb.COMPARISON_VERDICT_FASTER, 2.0)
    assert answer.reason.startswith("The other is 2.000 times as fast (95 % interval 1.9")
    [shown] = answer.cases
    assert (shown.name, shown.base_runtime_ns, shown.other_runtime_ns, shown.speedup) == ("a", 200.0, 100.0, 2.0)
    assert shown.verdict == pb.COMPARISON_VERDICT_FASTER


async def test_jobs_of_others_and_jobs_that_go_on_are_not_found(cluster: Cluster) -> None:
    mine = await ended(store(cluster), 1, cases={"a": 1.0})
    others = await ended(store(cluster), 2, cases={"a": 1.0}, account_id="account-2")
    waiting = (await store(cluster).insert(a_job(3), SubmissionLimits(10))).job
    assert waiting
    for job_id in (others.job_id, waiting.job_id, "job-none", "job\0"):
        for pair in ((mine.job_id, job_id), (job_id, mine.job_id)):
            request = pb.CompareJobsRequest(account_ids=["account-1"], base_job_id=pair[0], other_job_id=pair[1])
            await refused(rankings(cluster).CompareJobs(request), grpc.StatusCode.NOT_FOUND)


async def test_a_list_has_the_jobs_that_compare_with_one_and_no_others(cluster: Cluster) -> None:
    kinds: list[dict[str, Any]] = [
        {"cases": {"a": 3.0, "b": 1.0}},
        {"cases": {"a": 2.0}},
        {"cases": {"a": 1.0}, "timing": run_event_pb2.TIMING_UNSTABLE, "mean_runtime_ns": 1.0},
        {"cases": {"c": 1.0}},
        {"cases": {"a": 1.0}, "timing_mode": "hot"},
        {"cases": {"a": 1.0}, "machine_gpu_type": "MI210"},
        {"cases": {"a": 1.0}, "dtype": "float16"},
        {"cases": {"a": 1.0}, "problem": "relu"},
        {},
    ]
    jobs = [await ended(store(cluster), number, **kind) for number, kind in enumerate(kinds)]
    base = GetJobRequest(account_ids=["account-1"], job_id=jobs[0].job_id)
    compared: list[str] = []
    for job in jobs[1:]:
        with suppress(grpc.aio.AioRpcError):
            pair = pb.CompareJobsRequest(base_job_id=base.job_id, other_job_id=job.job_id)
            await rankings(cluster).CompareJobs(pair)
            compared.append(job.job_id)
    assert compared == [jobs[1].job_id, jobs[2].job_id]
    # The second of them is faster, but its time is not proven.
    request = ListJobsRequest(comparable_to=base, order=JOB_ORDER_FASTEST, gpu_type="mi300x", dtype="fp32", page_size=1)
    first = await cluster.api.ListJobs(request)
    request.page_token = first.next_page_token
    second = await cluster.api.ListJobs(request)
    assert [job.job_id for job in (*first.jobs, *second.jobs)] == compared
    assert not second.next_page_token


async def test_jobs_of_others_are_compared_if_they_are_shared_and_the_caller_wants_that(cluster: Cluster) -> None:
    mine = await ended(store(cluster), 1, cases={"a": 1.0})
    others = await ended(store(cluster), 2, cases={"a": 1.0}, account_id="account-2")
    change = UpdateJobRequest(
        account_ids=["account-2"], job_id=others.job_id, user_id=others.user_id, visibility=VISIBILITY_LINK
    )
    await cluster.api.UpdateJob(change)
    pair = pb.CompareJobsRequest(account_ids=["account-1"], base_job_id=others.job_id, other_job_id=mine.job_id)
    await refused(rankings(cluster).CompareJobs(pair), grpc.StatusCode.NOT_FOUND)
    pair.or_shared = True
    assert (await rankings(cluster).CompareJobs(pair)).verdict == pb.COMPARISON_VERDICT_SAME
    base = GetJobRequest(account_ids=["account-1"], job_id=others.job_id, or_shared=True)
    listed = await cluster.api.ListJobs(ListJobsRequest(account_id="account-1", comparable_to=base))
    assert [job.job_id for job in listed.jobs] == [mine.job_id]


async def test_a_list_has_the_figures_of_results_without_what_they_come_from(cluster: Cluster) -> None:
    job = await ended(store(cluster), 1, cases={"a": 1.0, "b": 2.0}, mean_gflops=2.5)
    whole = (await cluster.api.GetJob(GetJobRequest(job_id=job.job_id))).job.result.benchmarked
    [listed] = (await cluster.api.ListJobs(ListJobsRequest())).jobs
    assert [case.name for case in whole.results] == ["a", "b"]
    whole.ClearField("results")
    assert listed.result.benchmarked == whole


async def test_a_list_that_nothing_can_be_on_is_refused_with_the_reason(cluster: Cluster) -> None:
    untimed = await ended(store(cluster), 1)
    request = ListJobsRequest(comparable_to=GetJobRequest(account_ids=["account-2"], job_id=untimed.job_id))
    await refused(cluster.api.ListJobs(request), grpc.StatusCode.NOT_FOUND)
    request = ListJobsRequest(comparable_to=GetJobRequest(job_id=untimed.job_id))
    await refused(cluster.api.ListJobs(request), grpc.StatusCode.FAILED_PRECONDITION, "has no times")


async def test_jobs_that_do_not_compare_are_refused_with_the_reason(cluster: Cluster) -> None:
    base = await ended(store(cluster), 1, cases={"a": 1.0})
    other = await ended(store(cluster), 2, cases={"a": 1.0}, timing_mode="hot")
    request = pb.CompareJobsRequest(base_job_id=base.job_id, other_job_id=other.job_id)
    await refused(rankings(cluster).CompareJobs(request), grpc.StatusCode.FAILED_PRECONDITION, "timing mode cold")
