"""Notes of a run to its author."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.executor.core.check.run_verdict import Progress
from services.executor.core.model.events import Benchmarked, Compiled
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import Timing
from submissions.modes import Mode
from tests.services.executor.core.commands.test_bench_table import CASE


@pytest.mark.parametrize(("language", "says"), [("hip", False), ("", False), ("cuda", True)])
def test_who_sends_cuda_reads_that_it_is_compiled_as_hip(language: str, says: bool) -> None:
    job = CoreJob.from_bytes(CoreJob("x", Mode.CHECK, language=language).to_bytes())
    progress = Progress(job, lambda _: None)
    compiled = progress.compiled(Compiled("unused variable", 1.0, cached=False))
    assert compiled.warnings.endswith("unused variable")
    refused = progress.finished(Failure(Verdict.COMPILE_ERROR, "no such header")).message
    for text in (compiled.warnings, refused):
        assert ("is compiled as HIP" in text and "hipify-perl" in text) is says
    assert "HIP" not in progress.finished(Failure(Verdict.WRONG_ANSWER, "wrong")).message


def test_the_sentence_has_the_time_as_the_table_shows_it() -> None:
    case = replace(CASE, runtime_ns=53_450.0, ci_low_ns=11_450.0, ci_high_ns=95_450.0, timing=Timing.UNSTABLE)
    progress = Progress(CoreJob("x", Mode.FULL), lambda event: None, total_tests=1)
    progress.benchmarked = Benchmarked((case,), 53_450.0, 1.0, Timing.UNSTABLE, "cpu")
    said = progress.finished(None).message
    assert said.startswith("The only case is right; geometric mean 53 ± 42 µs on a CPU, whose times never rank. ")


def test_the_medians_of_sessions_have_the_unit_and_the_digits_of_their_time() -> None:
    case = replace(CASE, runtime_ns=53_450.0, ci_low_ns=49_450.0, ci_high_ns=57_450.0, timing=Timing.UNSTABLE)
    progress = Progress(CoreJob("x", Mode.FULL), lambda event: None, total_tests=1)
    case = replace(case, session_median_ns=(53_450.0, 60_123.0, 1_234_567.0), disagreement=0.12)
    progress.benchmarked = Benchmarked((case,), 53_450.0, 1.0, Timing.UNSTABLE, "rocm")
    said = progress.finished(None).message
    assert "geometric mean 53.5 ± 4.0 µs." in said
    assert "12 % between sessions with medians of 53.5, 60.1 and 1,234.6 µs, and an interval of ± 7.5 %" in said
