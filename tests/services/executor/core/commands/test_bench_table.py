from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.executor.core.commands.bench_table import table_of, trust_of
from services.executor.core.model.events import Benchmarked
from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing
from services.executor.core.timing.case_timing import shown_interval_of_run, timing_note
from vocabulary.roofline import Bound

CASE = BenchmarkResult(
    test_id=1, name="small", total_tests=1, runtime_ns=2e6, ci_low_ns=1.99e6, ci_high_ns=2.01e6, samples=300,
    converged=True, stopped_by="precision", min_ns=1e6, p5_ns=1e6, p25_ns=1e6, p75_ns=3e6, p95_ns=3e6, p99_ns=3e6,
    max_ns=3e6, mad_ns=1e4, wall_runtime_ns=2e6, gflops=1.0, gbytes_per_second=2.0, percent_of_roof=81.5,
    bound=Bound.MEMORY, sample_ns=(2e6,), timing=Timing.VALID, session_median_ns=(2e6, 2e6, 2e6), audit_ratio=1.01,
)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "trust"),
    [
        (CASE, "VALID"),
        (replace(CASE, converged=False, stopped_by="wall_time"), "VALID, not converged (wall time)"),
        (replace(CASE, converged=False, stopped_by="out_of_reach"), "VALID, not converged (out of reach)"),
        (replace(CASE, timing=Timing.UNPROVEN), "UNPROVEN"),
        (replace(CASE, timing=Timing.UNSTABLE, shown_interval=0.21), "UNSTABLE +-21 %"),
        (replace(CASE, timing=Timing.UNSTABLE, shown_interval=0.999), "UNSTABLE +-100 %"),
        (replace(CASE, timing=Timing.UNSTABLE), "UNSTABLE"),
        (replace(CASE, timing=Timing.INVALID, shown_interval=0.21), "INVALID"),
    ],
)
def test_it_says_in_words_what_a_time_is_worth(case: BenchmarkResult, trust: str) -> None:
    assert trust_of(case) == trust
    assert table_of(Benchmarked((case,), 2e6, 1.0, case.timing, "rocm")).splitlines()[1].endswith(trust)


UNSTABLE = replace(CASE, timing=Timing.UNSTABLE)


@pytest.mark.parametrize(
    ("cases", "shown"),
    [
        ((CASE,), 0.0),
        ((replace(UNSTABLE, shown_interval=0.2), CASE, replace(UNSTABLE, shown_interval=0.82)), 0.82),
        ((replace(UNSTABLE, shown_interval=0.2), UNSTABLE), 0.0),
    ],
)
def test_a_run_shows_its_widest_interval_unless_one_is_too_wide_to_show(
    cases: tuple[BenchmarkResult, ...], shown: float
) -> None:
    assert shown_interval_of_run(cases) == shown


def test_the_author_reads_what_to_look_for_or_that_others_share_the_machine() -> None:
    assert "so there is none to rank (case `small`" in timing_note(Timing.UNSTABLE, [UNSTABLE], "")
    assert "other work on the machine may be" in timing_note(Timing.UNSTABLE, [UNSTABLE], "", is_shared=True)


def test_a_row_has_the_interval_the_roof_and_the_audit() -> None:
    row = table_of(Benchmarked((CASE,), 2e6, 1.0, Timing.VALID, "rocm")).splitlines()[1]
    assert row.split() == ["small", "2.000000", "0.5", "3", "300", "1.00", "2.00", "81.5", "%", "1.01", "VALID"]


def test_an_interval_that_says_nothing_has_no_figure_beside_its_time() -> None:
    wide = replace(CASE, ci_low_ns=1e6, ci_high_ns=53e6, timing=Timing.UNSTABLE)
    row = table_of(Benchmarked((wide,), 2e6, 1.0, Timing.UNSTABLE, "cpu")).splitlines()[1]
    assert row.split()[1:3] == ["2.000000", ">100"]


@pytest.mark.parametrize("doubt", [{"timing": Timing.UNPROVEN}, {"timing": Timing.UNSTABLE, "unproven_because": "so"}])
def test_a_time_that_is_not_proven_is_not_printed_as_one(doubt: dict[str, Any]) -> None:
    table = table_of(replace(Benchmarked((replace(CASE, **doubt),), 2e6, 1.0, Timing.VALID, "cpu"), **doubt))
    assert table.splitlines()[1].split()[1:8] == ["-", "-", "3", "300", "-", "-", "-"]
    assert "2.0" not in table


def test_an_unproven_run_says_so_and_why() -> None:
    run = Benchmarked((CASE,), 2e6, 1.0, Timing.UNPROVEN, "cpu", unproven_because="case `small`: the host was too busy")
    *_, summary, why = table_of(run).splitlines()
    assert "timing UNPROVEN" in summary
    assert why == "UNPROVEN: case `small`: the host was too busy"


def test_the_widest_interval_stands_beside_the_word_on_a_processor_whose_times_never_rank() -> None:
    table = table_of(Benchmarked((CASE,), 2e6, 1.0, Timing.UNSTABLE, "cpu", shown_interval=0.213))
    assert "timing UNSTABLE +-21 %, never ranked" in table


def test_simulated_times_are_called_so() -> None:
    table = table_of(Benchmarked((CASE,), 2e6, 1.0, Timing.VALID, "sim", converged=False, simulated=True))
    assert "SIMULATED times, of no hardware" in table
    assert "not all converged" in table
