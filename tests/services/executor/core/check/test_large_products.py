"""Products that are too large for a full reference; here a threshold makes every product count as large."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.check import case_judge
from services.executor.core.check.case_judge import LargeCaseRule
from services.executor.core.model.events import Event
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode

TESTS = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def no_product_is_compared_wholly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_judge, "compare", None)


@pytest.mark.parametrize(
    ("file", "mode", "verdict", "said"),
    [
        ("honest/matmul_tiled", Mode.BENCHMARK, Verdict.ACCEPTED, ""),
        ("attacks/20_skipped_work/last_tile", Mode.CHECK, Verdict.WRONG_ANSWER, "of `output_c` are wrong"),
        ("attacks/20_skipped_work/short_dot_products", Mode.CHECK, Verdict.WRONG_ANSWER, "of `output_c` are wrong"),
        ("attacks/19_lower_precision/bfloat16_sum", Mode.CHECK, Verdict.PRECISION, "`output_c` is close"),
    ],
)
async def test_a_large_product_is_judged_by_its_factors(
    context: RunContext,
    reported: list[Event],
    file: str,
    mode: Mode,
    verdict: Verdict,
    said: str,
) -> None:
    context = replace(context, large_cases=LargeCaseRule(wholly_compared_flops=0))
    finished = await run(
        CoreJob((TESTS / f"{file}.hip").read_text(), mode, "matrix-multiplication"), context, reported.append
    )
    assert (finished.verdict, said in finished.message) == (verdict, True), finished
    if wrong := finished.wrong_answer:
        assert wrong.window is not None
        assert wrong.error_map is not None
        first, looked_at = wrong.first_mismatches[0], wrong.error_map.compared
        row, column = (index - begin for index, begin in zip(first.index, wrong.window.origin, strict=True))
        at = row * wrong.window.columns + column
        assert (wrong.window.wrong[at], wrong.window.actual[at]) == (True, first.actual)
        assert (sum(looked_at), sum(wrong.error_map.wrong)) == (wrong.element_count, wrong.mismatch_count)
