"""The choice of calls and of answers to compare; `test_simulated_gpu.py` tests them end to end."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numpy.typing import NDArray

from problems.library.catalogue import load_problem
from services.executor.core.check.case_judge import CaseJudge, Trial
from services.executor.core.check.checking import Checker
from services.executor.core.measure import timed_calls
from services.executor.core.measure.timed_calls import check_repeatedly
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.runner_pair import runner_pair

ADDITION = load_problem(Path(__file__).parents[5] / "problems" / "catalogue" / "vector-addition").problem


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time advances by `seconds` at each reading."""
    clock = SimpleNamespace(seconds=0.0)
    looks = count()
    now = SimpleNamespace(monotonic=lambda: next(looks) * clock.seconds, perf_counter=lambda: 0.0)
    monkeypatch.setattr(timed_calls, "time", now)
    return clock


@pytest.mark.parametrize("at_once", [1, 6])
@pytest.mark.parametrize(
    ("cases", "seconds", "calls"), [(1, 0.0, 40), (3, 0.0, 3 * 13), (5, 0.0, 5 * 9), (1, 0.1, 3), (2, 3.0, 2)]
)
async def test_each_case_is_called_as_often_as_is_enough(
    context: RunContext,
    monkeypatch: pytest.MonkeyPatch,
    clock: SimpleNamespace,
    at_once: int,
    cases: int,
    seconds: float,
    calls: int,
) -> None:
    monkeypatch.setattr(CaseJudge, "at_once", at_once)
    clock.seconds, compared = seconds, list[int]()
    original = CaseJudge.fault_in_part

    def seen(judge: CaseJudge, trial: Trial, outputs: dict[str, NDArray[Any]]) -> Failure | None:
        compared.append(trial.call)
        return original(judge, trial, outputs)

    monkeypatch.setattr(CaseJudge, "fault_in_part", seen)
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    async with runner_pair(context, ADDITION, source) as (checker, _):
        await check_repeatedly(checker, [ADDITION.sizes.cpu[0]] * cases)
    assert len(set(compared)) == len(compared) == calls


async def test_a_wrong_answer_counts_before_what_later_calls_did(
    context: RunContext, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> None:
    """Called one by one, it would have been found before the later calls were made."""
    monkeypatch.setattr(CaseJudge, "at_once", 6)
    clock.seconds = 0.0
    source = (SUBMISSIONS / "wrong_then_worse.hip").read_text().replace("FIRST_WRONG", "4")
    async with runner_pair(context, ADDITION, source) as (checker, _):
        with pytest.raises(Failure) as caught:
            await check_repeatedly(checker, [ADDITION.sizes.cpu[0]])
    assert caught.value.verdict is Verdict.WRONG_ANSWER, caught.value.message


async def test_calls_that_our_own_runner_launches_are_no_repeated_ones(context: RunContext) -> None:
    """Not all answers of large cases are compared in those calls."""
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    async with runner_pair(context, ADDITION, source) as (checker, _):
        launching = Checker(ADDITION, RunSeed(), checker.session, program_of=lambda _, __: b"")
        with pytest.raises(ValueError, match="not all compared"):
            await check_repeatedly(launching, ADDITION.sizes.cpu)
