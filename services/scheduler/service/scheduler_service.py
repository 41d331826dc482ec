"""The RPCs: decode, ask, encode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc

from problems.kit.definition import CatalogueEntry
from problems.kit.element_types import ELEMENT_TYPES
from problems.library.aliases import nearest_slugs, resolved_slug
from problems.library.variants import UnknownElementTypeError
from services.scheduler import metrics
from services.scheduler.jobs.comparison import is_comparable, key_to_compare
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.listing import JobFilter, page_end_of
from services.scheduler.jobs.states import IN_FLIGHT_STATES, OVER_STATES, UNSEEN_STATES, WAITING_STATES, JobState
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.admission import Admission
from services.scheduler.runs.canceller import Canceller
from services.scheduler.runs.watcher import JobChanges, Watcher
from services.scheduler.service.visible_job import ended_job, job_to_change, visible_job
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import messages as wire
from services.scheduler.wire.page_token import page_end, page_token
from services.scheduler.wire.problems import problem_to_proto, summary_to_proto
from submissions.checks import UnknownProblemError, element_type_name
from vocabulary.limits import DEFAULT_DTYPE
from vocabulary.names import none_of

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 200
MOST_COUNTED = 1000
RUNNING_STATES = IN_FLIGHT_STATES - WAITING_STATES - UNSEEN_STATES


class SchedulerServicer(scheduler_pb2_grpc.SchedulerServiceServicer):
    """The servicer. Every method may be called at any time; the interceptor maps its errors to statuses."""

    def __init__(
        self,
        store: JobStore,
        reader: JobReader,
        admission: Admission,
        canceller: Canceller,
        watcher: Watcher,
        changes: JobChanges,
        problems: Mapping[str, CatalogueEntry],
        billing: Billing,
    ) -> None:
        self._store = store
        self._reader = reader
        self._admission = admission
        self._canceller = canceller
        self._watcher = watcher
        self._changes = changes
        self._problems = problems
        self._billing = billing

    async def SubmitJob(
        self, request: scheduler_pb2.SubmitJobRequest, context: object
    ) -> scheduler_pb2.SubmitJobResponse:
        """Puts a job in the queue, or says what would become of it."""
        if request.validate_only:
            quote = await self._admission.quote(request)
            standing = quote.standing
            basis = standing.basis or standing.unknown
            return wire.quote_to_proto(quote.job, quote.allowance, standing.position, standing.wait, basis)
        job, allowance = await self._admission.submit(request)
        return scheduler_pb2.SubmitJobResponse(job=await self._whole(job), allowance=wire.allowance_to_proto(allowance))

    async def GetAllowance(
        self, request: scheduler_pb2.GetAllowanceRequest, context: object
    ) -> scheduler_pb2.GetAllowanceResponse:
        """Says what an account may submit now."""
        _check_text("account_id", request.account_id)
        allowance = await self._admission.allowance(request.account_id)
        return scheduler_pb2.GetAllowanceResponse(allowance=wire.allowance_to_proto(allowance))

    async def GetJob(self, request: scheduler_pb2.GetJobRequest, context: object) -> scheduler_pb2.GetJobResponse:
        """Gets a job with its source."""
        job = await visible_job(self._store, request.account_ids, request.job_id, or_shared=request.or_shared)
        return scheduler_pb2.GetJobResponse(job=await self._whole(job))

    async def ListJobs(self, request: scheduler_pb2.ListJobsRequest, context: object) -> scheduler_pb2.ListJobsResponse:
        """Lists jobs in pages."""
        for name in ("account_id", "problem", "user_id", "queue"):
            _check_text(name, getattr(request, name))
        wanted = wire.filter_from_proto(request, await self._names_of_list(request))
        base = await self._base(request)
        if base:
            wanted = replace(wanted, timed_as=key_to_compare(base), other_than=base.job_id)
        size = min(request.page_size, MAX_PAGE_SIZE) if request.page_size > 0 else DEFAULT_PAGE_SIZE
        # One job more than the page holds shows whether there is another page.
        jobs = await self._reader.page(
            wanted,
            size + 1,
            page_end(request.page_token, wanted),
            lambda job: base is None or is_comparable(base, job),
        )
        page, more = jobs[:size], len(jobs) > size
        token = page_token(page_end_of(page[-1], wanted), wanted) if more else ""
        is_counted = request.with_total and not request.page_token and base is None
        total = (await self._counted(wanted) if more else len(page)) if is_counted else None
        listed = [wire.job_to_proto(job) for job in page]
        return scheduler_pb2.ListJobsResponse(jobs=listed, next_page_token=token, total=total)

    async def WatchJob(
        self, request: scheduler_pb2.WatchJobRequest, context: object
    ) -> AsyncIterator[scheduler_pb2.WatchJobResponse]:
        """Streams a job's events."""
        job = await visible_job(self._store, [request.account_id] if request.account_id else [], request.job_id)
        if not 0 <= request.after_seq <= job.last_seq:
            raise InvalidFieldError("after_seq", f"is {request.after_seq}; give 0 to {job.last_seq}, the job's last")
        with metrics.job_followers.track_inprogress():
            async for event in self._watcher.follow(job.job_id, request.after_seq):
                yield scheduler_pb2.WatchJobResponse(event=wire.event_to_proto(event))

    async def WatchJobs(
        self, request: scheduler_pb2.WatchJobsRequest, context: object
    ) -> AsyncIterator[scheduler_pb2.WatchJobsResponse]:
        """Streams the jobs of an account that change."""
        _check_text("account_id", request.account_id)
        after = request.after_revision if request.HasField("after_revision") else None
        with metrics.account_followers.track_inprogress():
            async for revision, job in self._changes.follow(request.account_id, after):
                changed = wire.job_to_proto(job) if job else None
                yield scheduler_pb2.WatchJobsResponse(revision=revision, job=changed)

    async def CancelJob(
        self, request: scheduler_pb2.CancelJobRequest, context: object
    ) -> scheduler_pb2.CancelJobResponse:
        """Ends a job."""
        job = await visible_job(self._store, request.account_ids, request.job_id)
        return scheduler_pb2.CancelJobResponse(job=wire.job_to_proto(await self._canceller.cancel(job)))

    async def UpdateJob(
        self, request: scheduler_pb2.UpdateJobRequest, context: object
    ) -> scheduler_pb2.UpdateJobResponse:
        """Changes a job's name, or who may see it."""
        changes = wire.labels_from_proto(request)
        job = await job_to_change(self._store, request)
        return scheduler_pb2.UpdateJobResponse(job=wire.job_to_proto(await self._store.label(job, changes)))

    async def ListProblems(
        self, request: scheduler_pb2.ListProblemsRequest, context: object
    ) -> scheduler_pb2.ListProblemsResponse:
        """Lists the problems of the catalogue."""
        del request, context
        summaries = [summary_to_proto(entry.problem) for _, entry in sorted(self._problems.items())]
        return scheduler_pb2.ListProblemsResponse(problems=summaries)

    async def GetProblem(
        self, request: scheduler_pb2.GetProblemRequest, context: object
    ) -> scheduler_pb2.GetProblemResponse:
        """Gets a problem with its texts."""
        slug = resolved_slug(request.slug, self._problems)
        if slug is None:
            raise UnknownProblemError(request.slug, nearest_slugs(request.slug, self._problems))
        hardware = await self._billing.hardware(request.gpu_type)
        try:
            return problem_to_proto(self._problems[slug], request.dtype or DEFAULT_DTYPE, hardware)
        except UnknownElementTypeError as error:
            raise InvalidFieldError("dtype", str(error)) from error

    async def GetQueueMetrics(
        self, request: scheduler_pb2.GetQueueMetricsRequest, context: object
    ) -> scheduler_pb2.GetQueueMetricsResponse:
        """Counts the jobs in the queue, running and ended."""
        del request, context
        counts = await self._reader.counts()
        return scheduler_pb2.GetQueueMetricsResponse(
            queued_jobs=sum(counts.get(state, 0) for state in WAITING_STATES),
            running_jobs=sum(counts.get(state, 0) for state in RUNNING_STATES),
            ended_jobs=sum(counts.get(state, 0) for state in OVER_STATES),
            finished_jobs=counts.get(JobState.FINISHED, 0),
        )

    async def _names_of_list(self, request: scheduler_pb2.ListJobsRequest) -> wire.ListNames:
        """The names that a list is filtered by, in their one spelling; raises InvalidFieldError."""
        gpu_type, dtype = request.gpu_type, request.dtype
        if gpu_type:
            gpu_type = await self._billing.hardware(gpu_type)
        if dtype:
            dtype = element_type_name(dtype)
            if dtype not in ELEMENT_TYPES:
                raise InvalidFieldError("dtype", none_of(request.dtype, list(ELEMENT_TYPES)))
        return wire.ListNames(resolved_slug(request.problem, self._problems) or request.problem, gpu_type, dtype)

    async def _counted(self, wanted: JobFilter) -> int | None:
        """The number of jobs; None if they are so many that counting takes longer than reading a page of them."""
        total = await self._reader.count(wanted, MOST_COUNTED + 1)
        return total if total <= MOST_COUNTED else None

    async def _base(self, request: scheduler_pb2.ListJobsRequest) -> Job | None:
        """The job that those of a list are to be comparable with."""
        if not request.HasField("comparable_to"):
            return None
        return await ended_job(self._store, request.comparable_to)

    async def _whole(self, job: Job) -> scheduler_pb2.Job:
        return wire.job_to_proto(job, await self._store.whole_submission(job))


def _check_text(field: str, value: str) -> None:
    # PostgreSQL accepts no NUL character, not even in a comparison.
    if "\0" in value:
        raise InvalidFieldError(field, "has a NUL character; send plain text")
