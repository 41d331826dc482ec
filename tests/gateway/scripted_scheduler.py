"""A scheduler that plays a script: the tests write its jobs and logs."""

# pyright: basic
# ruff: noqa: N802, S106 - RPCs are VerbNoun, and no secret here opens anything

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, cast

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

STATEMENT = "# Vector addition\n\nAdd `a` and `b`.\n\n| name | value |\n| --- | --- |\n| tolerance | **2 eps** |\n"
STARTER = """#include <hip/hip_runtime.h>

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
}
"""
ALIAS = "vecadd"
"""Another name of PROBLEM."""
PROBLEM = scheduler_pb2.ProblemSummary(
    slug="vector-addition",
    title="Vector addition",
    difficulty="EASY",
    tags=["elementwise"],
    dtypes=["float32", "float16"],
    signature="const float* a, const float* b, float* c, size_t n",
)
PARAMETERS = [
    scheduler_pb2.ProblemParameter(name=name, type=kind, const=const, pointer=pointer, meaning=meaning)
    for name, kind, const, pointer, meaning in (
        *(("a", "float", True, True, "device, `n` floats"), ("b", "float", True, True, "the same")),
        *(("c", "float", False, True, "device, the sum"), ("n", "size_t", False, False, "the number of elements")),
    )
]
CASES = [
    scheduler_pb2.ProblemCase(
        name="n = 2^26",
        sizes=[scheduler_pb2.CaseSize(name="n", value="67108864")],
        bytes=805306368,
        flops=67108864,
        least_ns=151944.6,
        bound=run_event_pb2.BOUND_MEMORY,
    ),
    scheduler_pb2.ProblemCase(name="n = 7", sizes=[scheduler_pb2.CaseSize(name="n", value="7")], bytes=84, flops=7),
]


ALLOWANCE = scheduler_pb2.Allowance(
    remaining_submissions=2,
    jobs_in_flight=18,
    max_jobs_in_flight=20,
    submissions_in_last_hour=30,
    max_submissions_per_hour=3600,
    renew_after=Duration(seconds=59, nanos=500_000_000),
)


QUOTE = scheduler_pb2.SubmissionQuote(hold_micros=33_167, position=3, eta_p50=Duration(seconds=4))


class ScriptedScheduler:
    def __init__(self) -> None:
        self.jobs: dict[str, scheduler_pb2.Job] = {}
        self.logs: dict[str, list[scheduler_pb2.JobEvent]] = defaultdict(list)
        self.changed = asyncio.Condition()
        self.is_severed = False
        self.watches_open = 0
        self.cancelled: list[str] = []
        self.script_of_next_job: list[scheduler_pb2.JobEvent] = []
        self.allowance = ALLOWANCE
        self.revisions: dict[str, int] = {}
        self.total: int | None = None
        self.problems = [PROBLEM]
        """The number of each job's last change."""

    def forget(self) -> None:
        self.jobs.clear()
        self.revisions.clear()
        self.total = None
        self.problems = [PROBLEM]
        self.logs.clear()
        self.cancelled.clear()
        self.script_of_next_job = []
        self.allowance = ALLOWANCE

    async def add(self, *events: scheduler_pb2.JobEvent, job_id: str = "job_1") -> None:
        """Logs events as the scheduler would: stored first, then seen."""
        async with self.changed:
            self.log(job_id, events)
            self.changed.notify_all()

    async def sever(self) -> None:
        """Breaks every open watch, as a restart would."""
        async with self.changed:
            self.is_severed = True
            self.changed.notify_all()
            await self.changed.wait_for(lambda: self.watches_open == 0)
            self.is_severed = False

    async def until_watched(self, watches: int = 1) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: self.watches_open == watches)

    def put_job(self, spec: scheduler_pb2.JobSpec, account_id: str = "acc_user", job_id: str = "job_1") -> None:
        self.jobs[job_id] = scheduler_pb2.Job(
            job_id=job_id,
            account_id=account_id,
            spec=spec,
            state=scheduler_pb2.JOB_STATE_QUEUED,
            create_time=Timestamp(seconds=1_800_000_000),
            attempt=1,
        )
        self._note_change(job_id)

    def _note_change(self, job_id: str) -> None:
        self.revisions[job_id] = max(self.revisions.values(), default=0) + 1

    def log(self, job_id: str, events: Any) -> None:
        for event in events:
            job = self.jobs[job_id]
            job.last_seq = event.seq
            if event.HasField("ended"):
                job.state = event.ended.state
                job.verdict = event.ended.result.verdict
                job.message = event.ended.result.message
                job.result.CopyFrom(event.ended.result)
                job.cost_micros = event.ended.cost_micros
                job.end_time.CopyFrom(event.time)
            self.logs[job_id].append(event)
            self._note_change(job_id)

    async def SubmitJob(self, request: Any, context: Any) -> scheduler_pb2.SubmitJobResponse:
        if request.validate_only:
            return scheduler_pb2.SubmitJobResponse(
                job=scheduler_pb2.Job(spec=request.spec), allowance=self.allowance, quote=QUOTE
            )
        job_id = f"job_{len(self.jobs) + 1}"
        self.put_job(request.spec, request.account_id, job_id)
        self.log(job_id, self.script_of_next_job)
        return scheduler_pb2.SubmitJobResponse(job=self.jobs[job_id], allowance=self.allowance)

    async def GetAllowance(self, request: Any, context: Any) -> scheduler_pb2.GetAllowanceResponse:
        return scheduler_pb2.GetAllowanceResponse(allowance=self.allowance)

    async def GetJob(self, request: Any, context: Any) -> scheduler_pb2.GetJobResponse:
        return scheduler_pb2.GetJobResponse(job=await self._job(request, context))

    async def UpdateJob(self, request: Any, context: Any) -> scheduler_pb2.UpdateJobResponse:
        job = await self._job(request, context)
        if request.HasField("name"):
            job.spec.name = request.name
        if request.HasField("visibility"):
            job.visibility = request.visibility
        self._note_change(job.job_id)
        return scheduler_pb2.UpdateJobResponse(job=job)

    async def ListJobs(self, request: Any, context: Any) -> scheduler_pb2.ListJobsResponse:
        found = [
            job
            for job in self.jobs.values()
            if (not request.account_id or job.account_id == request.account_id)
            and request.visibility in {0, job.visibility}
        ]
        return scheduler_pb2.ListJobsResponse(jobs=found, next_page_token="page-2", total=self.total)

    async def CancelJob(self, request: Any, context: Any) -> scheduler_pb2.CancelJobResponse:
        job = await self._job(request, context)
        self.cancelled.append(job.job_id)
        result = run_event_pb2.Finished(verdict=run_event_pb2.VERDICT_CANCELLED, message="Cancelled by its owner.")
        end = scheduler_pb2.Ended(state=scheduler_pb2.JOB_STATE_CANCELLED, result=result)
        await self.add(scheduler_pb2.JobEvent(job_id=job.job_id, seq=job.last_seq + 1, ended=end), job_id=job.job_id)
        return scheduler_pb2.CancelJobResponse(job=job)

    async def WatchJob(self, request: Any, context: Any) -> AsyncIterator[scheduler_pb2.WatchJobResponse]:
        job = await self._job(request, context)
        await self._count(1)
        try:
            async for event in self._events_after(job.job_id, request.after_seq):
                yield scheduler_pb2.WatchJobResponse(event=event)
        finally:
            await self._count(-1)
        if self.is_severed:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")

    async def WatchJobs(self, request: Any, context: Any) -> AsyncIterator[scheduler_pb2.WatchJobsResponse]:
        last = max(self.revisions.values(), default=0)
        after = request.after_revision if request.HasField("after_revision") else last
        if after > last:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"there was no revision {after}")
        if not request.HasField("after_revision"):
            yield scheduler_pb2.WatchJobsResponse(revision=after)
        await self._count(1)
        try:
            while not self.is_severed:
                changed = sorted((revision, job_id) for job_id, revision in self.revisions.items() if revision > after)
                for revision, job_id in changed:
                    after = revision
                    if self.jobs[job_id].account_id == request.account_id:
                        yield scheduler_pb2.WatchJobsResponse(revision=revision, job=self.jobs[job_id])
                async with self.changed:
                    while not self.is_severed and max(self.revisions.values(), default=0) <= after:
                        await self.changed.wait()
        finally:
            await self._count(-1)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")

    async def _events_after(self, job_id: str, seq: int) -> AsyncIterator[scheduler_pb2.JobEvent]:
        log, place = self.logs[job_id], 0
        while not self.is_severed:
            for event in log[place:]:
                place += 1
                if event.seq > seq:
                    yield event
                if event.HasField("ended"):
                    return
            async with self.changed:
                while not self.is_severed and place == len(log):
                    await self.changed.wait()

    async def _count(self, change: int) -> None:
        self.watches_open += change
        async with self.changed:
            self.changed.notify_all()

    async def _job(self, request: Any, context: Any) -> scheduler_pb2.Job:
        job = self.jobs.get(request.job_id)
        # WatchJob names one account, the others several.
        account_ids = [request.account_id] if hasattr(request, "account_id") else request.account_ids
        is_shared = getattr(request, "or_shared", False) and job and job.visibility > scheduler_pb2.VISIBILITY_PRIVATE
        if job is None or not (is_shared or not account_ids or job.account_id in account_ids):
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no job {request.job_id}")
        return cast("scheduler_pb2.Job", job)

    async def ListProblems(self, request: Any, context: Any) -> scheduler_pb2.ListProblemsResponse:
        return scheduler_pb2.ListProblemsResponse(problems=self.problems)

    async def GetProblem(self, request: Any, context: Any) -> scheduler_pb2.GetProblemResponse:
        if request.slug not in {PROBLEM.slug, ALIAS}:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no problem `{request.slug}`")
        starter = f"{STARTER}// float16\n" if request.dtype == "float16" else STARTER
        return scheduler_pb2.GetProblemResponse(
            problem=PROBLEM,
            statement=STATEMENT,
            starter=starter,
            parameters=PARAMETERS,
            gpu_type=request.gpu_type or "MI300X",
            cases=CASES,
        )
