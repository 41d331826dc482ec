"""Every sample of a submission's benchmark, by session, and the state of the device while they were taken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Annotated

from pydantic import BaseModel, Field
from wavepool.executor.v1.run_event_pb2 import BenchmarkResult
from wavepool.scheduler.v1.scheduler_pb2 import Job
from wavepool.submission.v1.submission_pb2 import RUN_MODE_BENCHMARK, RUN_MODE_FULL

from gateway.http.errors import Problem, ProblemError
from gateway.submissions.views import is_over
from gateway.words.enum_names import mode_name
from gateway.words.shown import NS_PER_MS, shown


class ReplacedSample(BaseModel):
    """A sample that was taken again for a recorded cause; the new one stands at its place."""

    index: Annotated[int, Field(description="Its place in the session, from 0.")]
    ms: Annotated[float, Field(description="The time that no longer counts.")]
    cause: Annotated[str, Field(description="`clock`, `page_fault` or `other_process`; others may follow.")]


class SessionSamples(BaseModel):
    """The samples of one session, which is a process of its own."""

    session: Annotated[
        int | None, Field(description="From 1. Null: of all sessions, as an older machine did not say where they end.")
    ]
    samples_ms: Annotated[list[float], Field(description="In the order in which they were taken.")]
    replaced: list[ReplacedSample]


class InstrumentReading(BaseModel):
    """The state of the device when a sample had been taken; null: the device does not report it."""

    sample: Annotated[int, Field(description="The sample's place among all of the case, from 0.")]
    time_ms: Annotated[float, Field(description="Since the measurement of the case began.")]
    clock_mhz: float | None
    temperature_celsius: float | None
    power_watts: float | None


class CaseSamples(BaseModel):
    """The samples of one test case."""

    test_id: Annotated[int, Field(description="From 1.")]
    name: str
    sessions: list[SessionSamples]
    instruments: Annotated[
        list[InstrumentReading],
        Field(description="At most 200, evenly spaced over the samples; none if the device has no instruments."),
    ]


class SubmissionSamples(BaseModel):
    """The samples of a submission's benchmark; the median of the sessions' medians is a case's `runtime_ms`."""

    id: str
    cases: list[CaseSamples]


def samples_of(job: Job, test_id: int | None) -> SubmissionSamples:
    """The samples of all test cases, or of one. Raises ProblemError if there are none, and says why."""
    results = job.result.benchmarked.results
    if not is_over(job) or not results:
        raise ProblemError(Problem(404, f"Submission {job.job_id} has no samples: {_why_none(job)}."))
    found = [result for result in results if test_id in {None, result.test_id}]
    if not found:
        known = ", ".join(str(result.test_id) for result in results)
        raise ProblemError(Problem(404, f"Submission {job.job_id} has no test case {test_id}; it has {known}."))
    return SubmissionSamples(id=job.job_id, cases=[_case_of(result) for result in found])


def _why_none(job: Job) -> str:
    if not is_over(job):
        return "it has not ended yet"
    if job.spec.submission.mode not in {RUN_MODE_BENCHMARK, RUN_MODE_FULL}:
        return f"its mode is {mode_name(job.spec.submission.mode)}, and only `benchmark` and `full` measure times"
    return "it ended before all of its times were measured"


def _case_of(result: BenchmarkResult) -> CaseSamples:
    return shown(CaseSamples, result, sessions=_sessions(result))


def _sessions(result: BenchmarkResult) -> list[SessionSamples]:
    counts: Sequence[int] = result.session_samples
    if not counts and len(result.session_median_ns) == 1:
        counts = [len(result.sample_ns)]
    if sum(counts) != len(result.sample_ns) or min(counts, default=0) < 0:
        return [SessionSamples(session=None, samples_ms=_ms(result.sample_ns), replaced=[])]
    return [
        SessionSamples(
            session=number + 1,
            samples_ms=_ms(result.sample_ns[begin:end]),
            replaced=[
                ReplacedSample(index=one.index, ms=one.ns / NS_PER_MS, cause=one.cause)
                for one in result.replaced
                if one.session == number
            ],
        )
        for number, (begin, end) in enumerate(pairwise(accumulate(counts, initial=0)))
    ]


def _ms(samples_ns: Sequence[float]) -> list[float]:
    return [ns / NS_PER_MS for ns in samples_ns]
