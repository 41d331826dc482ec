"""The results of a run so far, and the last event that is made of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.model.events import (
    Benchmarked,
    BenchmarkProgress,
    Compiled,
    Event,
    Finished,
    Profile,
    ProfileOutcome,
    ProgramResult,
    Sample,
    TestResult,
)
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.resolved_problem import substitution_note
from services.executor.core.timing.case_timing import timing_note
from services.executor.sandboxes.sandbox import Exit
from submissions.modes import Mode
from vocabulary.intervals import interval_of_mean, time_text
from vocabulary.limits import CUDA
from vocabulary.verdicts import status_of

_MOST_NAMED = 5
"""The most cases that are named for one reason to leave them out, and the most such reasons."""
_MOST_NAME = 60
_LEFT_BEHIND = " Processes that it left cannot be ended, so this machine accepts no more runs. This run is not charged."
_CUDA_NOTE = (
    "This was sent as CUDA, and is compiled as HIP: kernels are the same, but host calls such as cudaMalloc and "
    "headers such as cuda_runtime.h are not. hipify-perl translates them."
)
_ORIGINS = {"cpu": " on a CPU, whose times never rank", "sim": ", simulated"}


@dataclass
class Progress:
    """The progress of a run, filled in by its stages."""

    job: CoreJob
    tell: Callable[[Event], None]
    source_notes: Sequence[str] = ()
    """Notes about what was left out of the source, or made of it."""
    total_tests: int = 0
    test_results: list[TestResult] = field(default_factory=list[TestResult])
    benchmarked: Benchmarked | None = None
    sample: Sample | None = None
    program: ProgramResult | None = None
    end: Exit | None = None
    first_call_time: float | None = None
    stage_seconds: dict[str, float] = field(default_factory=dict[str, float])
    report: dict[str, object] = field(default_factory=dict[str, object])
    profile: Profile | None = None
    refused: str = ""
    """What AMD's compiler refuses in a source that this device has compiled."""
    untaken: str = ""
    """Which lines ask for an MI300X, on a device that is none; empty if none does."""
    is_unkillable: bool = False
    """True if work that the verdict does not depend on left processes that SIGKILL does not end."""
    begin: float = field(default_factory=time.monotonic)

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Adds the time of its block to the stage's time."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.stage_seconds[name] = self.stage_seconds.get(name, 0.0) + time.perf_counter() - begin

    @property
    def left_seconds(self) -> float:
        """The time that is left of the run's; infinity if it has no limit."""
        longest = self.job.longest_seconds or float("inf")
        return longest - (time.monotonic() - self.begin)

    def compiled(self, event: Compiled) -> Compiled:
        """Returns COMPILED with notes before its warnings.

        Notes say if the sent definition is not used, the source is not said to be HIP, or it was changed. What AMD's
        compiler refuses is kept for the verdict.
        """
        self.refused = event.isa.refused
        said = (substitution_note(self.report), self._language_note(), self.untaken, *self.source_notes)
        return replace(event, warnings="\n".join(filter(None, (*said, event.warnings))))

    def leave(self, session: RunnerSession, *, has_host_code: bool) -> None:
        """Keeps the time of the first call and, if host code of the submission could print, the end of the session."""
        if has_host_code:
            self.end = session.end
        self.first_call_time = self.first_call_time or session.first_call_time

    def finished(self, failure: Failure | None) -> Finished:
        """Returns the last event: `failure`, or success if there is none."""
        verdict = self._verdict(failure)
        passed = sum(result.passed for result in self.test_results)
        truncated = self.end is not None and self.end.output_truncated
        return Finished(
            verdict=verdict,
            status=status_of(verdict, self.job.mode),
            message=_with_flag(
                self._failed(failure) if failure else f"{self._success()}{self._whose()}{self._beside()}",
                truncated=truncated,
            ),
            details=failure.details if failure else "",
            reason=failure.reason if failure else "",
            wrong_answer=failure.wrong_answer if failure else None,
            test_results=tuple(self.test_results),
            passed_tests=passed,
            total_tests=self.total_tests,
            sample=self.sample,
            program=self.program,
            benchmarked=self.benchmarked,
            stdout=_text(self.end.stdout if self.end else b""),
            stderr=_text(self.end.stderr if self.end else b""),
            output_truncated=truncated,
            isa=failure.isa if failure else None,
            unkillable=self.is_unkillable or (failure.unkillable if failure else False),
            profile=self._profile(failure),
            stage_seconds=self.stage_seconds,
            first_call_time=self.first_call_time,
            report={**self.report, **self._benchmark_report(), "verdict": verdict},
        )

    def _verdict(self, failure: Failure | None) -> Verdict:
        if failure:
            return failure.verdict
        is_sample = self.job.mode is not Mode.SAMPLE and self._authored().get("is_sample")
        return Verdict.SAMPLE_ONLY if is_sample else Verdict.ACCEPTED

    def _profile(self, failure: Failure | None) -> Profile | None:
        if not self.job.profile or self.profile is not None:
            return self.profile
        return Profile(ProfileOutcome.SKIPPED, f"not made: the run ended with {self._verdict(failure)}")

    def _benchmark_report(self) -> dict[str, object]:
        """Returns every figure and every sample, which are signed with the rest."""
        return {"benchmark": asdict(self.benchmarked)} if self.benchmarked else {}

    def _success(self) -> str:
        if self.sample is not None:
            return "The sample is right; of large arrays only the corner at index 0 is shown."
        if not self.total_tests:
            return "The program ended well."
        mean = ""
        if self.benchmarked is not None:
            origin = _ORIGINS.get(self.benchmarked.device, "")
            known = time_text(self.benchmarked.mean_runtime_ns, interval_of_mean(self.benchmarked.results))
            mean = f"; geometric mean {known}{origin}"
        return f"{self._how_many()}{mean}.{self._left_out()}{self._timing()}"

    def _failed(self, failure: Failure) -> str:
        left = _LEFT_BEHIND if failure.unkillable and failure.verdict is not Verdict.INFRA_ERROR else ""
        language = f" {self._language_note()}" if failure.verdict is Verdict.COMPILE_ERROR else ""
        beside = self._beside() if failure.verdict is not Verdict.INFRA_ERROR else ""
        return f"{failure.message}{left}{self._substitution()}{language.rstrip()}{beside}"

    def _beside(self) -> str:
        """Returns what the verdict of this device leaves open."""
        return "".join(f" {note}" for note in (self.untaken, self.refused) if note)

    def _language_note(self) -> str:
        return _CUDA_NOTE if self.job.language == CUDA else ""

    def _timing(self) -> str:
        one = self.benchmarked
        if one is None:
            return ""
        note = timing_note(one.timing, one.results, one.unproven_because, is_shared=one.device == "cpu")
        return f" {note}" if note else ""

    def _how_many(self) -> str:
        """Says how many cases are right and, for an author's own definition, that these were not all."""
        authored = self._authored()
        left_out = len(authored.get("cases_left_out", ()))
        if authored.get("is_sample"):
            return f"Only the sample was run, and it is right: no test case was, of {left_out}"
        if catalogues := authored.get("catalogue_cases"):
            return (
                f"The definition's sample is right, and so are {catalogues} cases of the catalogue's problem of that "
                f"name, which has the same parameters and answers: no test case of its own was run, of {left_out}"
            )
        smaller = self._made_smaller(len(authored.get("cases_made_smaller", ())))
        if left_out:
            were = "cases was run, and is" if self.total_tests == 1 else "cases were run, and are"
            return f"{self.total_tests} of {self.total_tests + left_out} {were} right{smaller}"
        right = "The only case is right" if self.total_tests == 1 else f"All {self.total_tests} cases are right"
        return f"{right}{smaller}"

    def _made_smaller(self, count: int) -> str:
        if not count:
            return ""
        they = f"{count} of them" if count < self.total_tests else "it was" if count == 1 else "all"
        return f" ({they} made smaller, as the names say: whole, they are too large for this device)"

    def _left_out(self) -> str:
        names: dict[str, list[str]] = {}
        for one in self._authored().get("cases_left_out", ()):
            names.setdefault(one["reason"], []).append(f"`{one['name'][:_MOST_NAME]}`")
        if not names:
            return ""
        said = [f"{_listed(these)} ({reason})" for reason, these in names.items()]
        more = f"; and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        return f" Left out: {'; '.join(said[:_MOST_NAMED])}{more}."

    def _authored(self) -> Mapping[str, Any]:
        """Returns the report on an author's own problem definition; empty if there is none."""
        return cast("Mapping[str, Any]", self.report.get("problem_definition", {}))

    def _whose(self) -> str:
        own = " The problem is by its author's own definition, so it is not ranked."
        return own if self._authored() else self._substitution()

    def _substitution(self) -> str:
        note = substitution_note(self.report)
        return f" {note}" if note else ""


PULSE_SECONDS = 1.0
PULSE_SHARE = 0.05


class Pulse:
    """Reports the progress of a benchmark: each second at first, and later after a twentieth of the time so far.

    Every event becomes a durable row of the job, so a benchmark of 15 minutes reports about a hundred times.
    """

    def __init__(self, tell: Callable[[Event], None], monotonic_seconds: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._monotonic_seconds = monotonic_seconds
        self._begin = self._reported = monotonic_seconds()
        self._samples = 0
        self._place: BenchmarkProgress | None = None

    def at(self, place: BenchmarkProgress) -> None:
        """Notes the case and the session that the benchmark has come to."""
        self._place = place
        self._beat()

    def sample(self) -> None:
        """Counts a sample."""
        self._samples += 1
        self._beat()

    def _beat(self) -> None:
        now = self._monotonic_seconds()
        pause = max(PULSE_SECONDS, PULSE_SHARE * (now - self._begin))
        if self._place is not None and now - self._reported >= pause:
            self._reported = now
            self._tell(replace(self._place, samples=self._samples))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _with_flag(message: str, *, truncated: bool) -> str:
    return f"{message} (It printed more than is kept; the rest was dropped.)" if truncated else message


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
