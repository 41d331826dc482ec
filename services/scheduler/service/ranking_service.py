"""RankingService: decode, ask, encode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, timedelta

from wavepool.scheduler.v1 import rankings_pb2, rankings_pb2_grpc
from wavepool.scheduler.v1.scheduler_pb2 import GetJobRequest

from problems.kit.definition import CatalogueEntry, Difficulty
from problems.library.aliases import nearest_slugs, resolved_slug
from problems.library.variants import UnknownElementTypeError, check_element_type
from servicekit.clock import Clock
from servicekit.rpc.proto_time import instant_to_proto
from services.scheduler.jobs.comparison import CaseComparison, Comparison, ComparisonVerdict, Speedup, compare
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.hardware import CPU
from services.scheduler.jobs.timing import RankingKey, default_timing_mode
from services.scheduler.peers.billing import Billing
from services.scheduler.service.visible_job import ended_job
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.ranking_reader import Progress, Ranked, RankingReader, Record
from submissions.checks import UnknownProblemError, element_type_name
from submissions.modes import TIMING_MODES, TimingMode
from vocabulary.limits import DEFAULT_DTYPE
from vocabulary.names import none_of

DEFAULT_LIMIT = 20
MAX_LIMIT = 200
DAY = timedelta(days=1)
YEAR = timedelta(days=365)


class RankingServicer(rankings_pb2_grpc.RankingServiceServicer):
    """The servicer; `rankings.proto` documents its methods."""

    def __init__(
        self,
        store: JobStore,
        reader: RankingReader,
        billing: Billing,
        problems: Mapping[str, CatalogueEntry],
        clock: Clock,
    ) -> None:
        self._store = store
        self._reader = reader
        self._billing = billing
        self._problems = problems
        self._clock = clock

    async def ListRankings(
        self, request: rankings_pb2.ListRankingsRequest, context: object
    ) -> rankings_pb2.ListRankingsResponse:
        """Lists the best time of each user."""
        if request.limit < 0:
            raise InvalidFieldError("limit", f"must be from 0 to {MAX_LIMIT}; it is {request.limit}")
        key = await self._key(request)
        is_ranked = key.hardware != CPU
        limit = min(request.limit or DEFAULT_LIMIT, MAX_LIMIT)
        found = await self._reader.ranking(key, limit, request.user_id)
        return rankings_pb2.ListRankingsResponse(
            problem=key.problem,
            gpu_type=key.hardware,
            dtype=key.dtype,
            timing_mode=TimingMode(key.timing_mode).number,
            ranked=is_ranked,
            rankings=[_ranking_to_proto(one, is_ranked=is_ranked) for one in found.best],
            own=_ranking_to_proto(found.own, is_ranked=is_ranked) if found.own else None,
            users=found.users,
        )

    async def CompareJobs(
        self, request: rankings_pb2.CompareJobsRequest, context: object
    ) -> rankings_pb2.CompareJobsResponse:
        """Compares two jobs."""
        base, other = [
            await ended_job(self._store, _asked(request, job_id))
            for job_id in (request.base_job_id, request.other_job_id)
        ]
        return _comparison_to_proto(compare(base, other))

    async def ListRecords(
        self, request: rankings_pb2.ListRecordsRequest, context: object
    ) -> rankings_pb2.ListRecordsResponse:
        """Lists the times that were the best so far."""
        key = await self._key(request)
        records, own = await self._reader.records(key, request.user_id)
        return rankings_pb2.ListRecordsResponse(
            problem=key.problem,
            gpu_type=key.hardware,
            dtype=key.dtype,
            timing_mode=TimingMode(key.timing_mode).number,
            ranked=key.hardware != CPU,
            records=[_record_to_proto(one) for one in records],
            own=[_record_to_proto(one) for one in own],
        )

    async def ListProgress(
        self, request: rankings_pb2.ListProgressRequest, context: object
    ) -> rankings_pb2.ListProgressResponse:
        """Lists what a user and everybody has reached in each problem."""
        dtype = self._element_type(request.dtype) if request.dtype else ""
        hardware = await self._billing.hardware(request.gpu_type)
        times = RankingKey("", hardware, dtype or DEFAULT_DTYPE, default_timing_mode(hardware))
        found = await self._reader.progress(request.user_id, times, dtype)
        return rankings_pb2.ListProgressResponse(
            gpu_type=times.hardware,
            dtype=times.dtype,
            timing_mode=TimingMode(times.timing_mode).number,
            problems=[progress_to_proto(slug, one) for slug, one in found.items()],
        )

    async def GetUserProgress(
        self, request: rankings_pb2.GetUserProgressRequest, context: object
    ) -> rankings_pb2.GetUserProgressResponse:
        """Counts what a user has solved, and the submissions of each day of the last year."""
        solved = await self._reader.solved(request.user_id)
        first = (self._clock.now() - YEAR).astimezone(UTC).date() + DAY
        days = await self._reader.submission_days(request.user_id, first)
        difficulties = Counter(entry.problem.difficulty for entry in self._problems.values())
        solved_of = Counter(self._problems[slug].problem.difficulty for slug in solved if slug in self._problems)
        return rankings_pb2.GetUserProgressResponse(
            difficulties=[
                rankings_pb2.DifficultyProgress(difficulty=one, solved=solved_of[one], problems=difficulties[one])
                for one in Difficulty
            ],
            days=[rankings_pb2.SubmissionDay(date=day, submissions=count) for day, count in days],
        )

    async def _key(self, request: rankings_pb2.ListRankingsRequest | rankings_pb2.ListRecordsRequest) -> RankingKey:
        slug = resolved_slug(request.problem, self._problems)
        if slug is None:
            raise UnknownProblemError(request.problem, nearest_slugs(request.problem, self._problems))
        dtype = element_type_name(request.dtype)
        try:
            check_element_type(self._problems[slug].problem, dtype)
        except UnknownElementTypeError as error:
            raise InvalidFieldError("dtype", str(error)) from error
        hardware = await self._billing.hardware(request.gpu_type)
        if request.timing_mode not in TIMING_MODES:
            raise InvalidFieldError(
                "timing_mode", f"{request.timing_mode} is not valid; choose {', '.join(TimingMode)}"
            )
        timing_mode = TIMING_MODES[request.timing_mode] or default_timing_mode(hardware)
        return RankingKey(slug, hardware, dtype, timing_mode)

    def _element_type(self, dtype: str) -> str:
        """An element type that some problem has."""
        name = element_type_name(dtype)
        known = dict.fromkeys(one for entry in self._problems.values() for one in entry.problem.dtypes)
        if name not in known:
            raise InvalidFieldError("dtype", none_of(dtype, list(known)))
        return name


def _asked(request: rankings_pb2.CompareJobsRequest, job_id: str) -> GetJobRequest:
    return GetJobRequest(account_ids=request.account_ids, job_id=job_id, or_shared=request.or_shared)


def _ranking_to_proto(one: Ranked, *, is_ranked: bool) -> rankings_pb2.Ranking:
    return rankings_pb2.Ranking(
        rank=one.rank if is_ranked else 0,
        user_id=one.user_id,
        job_id=one.job_id,
        runtime_ns=one.runtime_ns,
        interval=one.interval,
        gflops=one.gflops,
        end_time=instant_to_proto(one.end_time),
        timings=one.times,
        is_public=one.is_public,
    )


def _record_to_proto(one: Record) -> rankings_pb2.Record:
    return rankings_pb2.Record(
        end_time=instant_to_proto(one.end_time),
        runtime_ns=one.runtime_ns,
        interval=one.interval,
        user_id=one.user_id,
        job_id=one.job_id,
        is_public=one.is_public,
    )


def progress_to_proto(slug: str, one: Progress) -> rankings_pb2.ProblemProgress:
    """A problem's progress."""
    (best, best_interval), (record, record_interval) = one.best or (None, 0.0), one.record or (None, 0.0)
    return rankings_pb2.ProblemProgress(
        slug=slug,
        attempts=one.attempts,
        solved=one.is_solved,
        users=one.users,
        best_runtime_ns=best,
        best_interval=best_interval,
        record_runtime_ns=record,
        record_interval=record_interval,
    )


def _comparison_to_proto(comparison: Comparison) -> rankings_pb2.CompareJobsResponse:
    return rankings_pb2.CompareJobsResponse(
        verdict=_verdict_to_proto(comparison.verdict),
        reason=comparison.reason,
        **_speedup_fields(comparison.speedup),
        cases=[_case_to_proto(case) for case in comparison.cases],
    )


def _case_to_proto(case: CaseComparison) -> rankings_pb2.CaseComparison:
    return rankings_pb2.CaseComparison(
        name=case.name,
        base_runtime_ns=case.base_ns,
        other_runtime_ns=case.other_ns,
        verdict=_verdict_to_proto(case.verdict),
        **_speedup_fields(case.speedup),
    )


def _verdict_to_proto(verdict: ComparisonVerdict) -> rankings_pb2.ComparisonVerdict.ValueType:
    return rankings_pb2.ComparisonVerdict.Value(f"COMPARISON_VERDICT_{verdict}")


def _speedup_fields(speedup: Speedup) -> dict[str, float]:
    return {"speedup": speedup.ratio, "speedup_low": speedup.low, "speedup_high": speedup.high}
