from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.catalogue import Catalogue
from problems.definition import SizeSet
from services.executor.core.case_judge import CaseJudge
from services.executor.core.seeds import RunSeed

if TYPE_CHECKING:
    from problems.definition import Case

PROBLEM = Catalogue.load().get("vector-addition").problem
CALLS = range(24)


def _scales(case: Case, links: int = 0) -> list[float]:
    judge = CaseJudge(PROBLEM, case, RunSeed("a seed"), 0)
    return [float(np.median(np.abs(judge.draw(call, links).inputs["d_input1"]))) for call in CALLS]


def test_hidden_cases_and_chains_come_at_many_scales_and_public_ones_at_their_own() -> None:
    public = PROBLEM.sizes.cpu[0]
    assert max(_scales(public)) < 2 * min(_scales(public))
    hidden = PROBLEM.hidden_case(SizeSet.CPU, RunSeed("a seed").generator("hidden case"))
    for scales in (_scales(hidden), _scales(public, links=2)):
        assert max(scales) > 1e3 * min(scales)


def test_a_call_is_planted_alike_from_the_same_seed_and_otherwise_from_another() -> None:
    case = PROBLEM.sizes.cpu[0]
    first, again, other = (
        CaseJudge(PROBLEM, case, RunSeed(text), 0).draw(3).inputs["d_input1"] for text in ("one", "one", "two")
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    drawn = PROBLEM.inputs(case, RunSeed("one").generator("inputs", 0, 3))["d_input1"]
    changed = np.flatnonzero(drawn != first)
    assert 0 < changed.size < first.size / 1000
    assert changed[-1] >= first.size - 64
