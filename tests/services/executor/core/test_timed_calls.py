"""Which calls are made and which answers compared; `test_simulated_gpu.py` has them from end to end."""

from __future__ import annotations

from collections import Counter
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.parts import FEWEST_PIECES
from problems.library.catalogue import load_problem
from services.executor.core.check.case_judge import CaseJudge
from services.executor.core.check.checking import Checker
from services.executor.core.measure import timed_calls
from services.executor.core.measure.timed_calls import COMPARED_ANSWERS, check_repeatedly, place_of
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from tests.services.executor.core.conftest import SUBMISSIONS
from tests.services.executor.core.runner_pair import runner_pair

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from services.executor.core.check.case_judge import Trial
    from services.executor.core.run.equipment import Equipment

ADDITION = load_problem(Path(__file__).parents[4] / "problems" / "catalogue" / "vector-addition").problem


def _kept(lots: tuple[float, ...], places: int = COMPARED_ANSWERS) -> tuple[int, ...]:
    """The numbers of the samples that are kept at the end."""
    kept: dict[int, int] = {}
    for number, lot in enumerate(lots, start=1):
        place = place_of(number, lot, places)
        if place is not None:
            kept[place] = number
    return tuple(sorted(kept.values()))


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=200))
def test_as_many_answers_are_kept_as_are_compared_and_one_was_asked_for_at_most_once(lots: list[float]) -> None:
    kept = _kept(tuple(lots))
    assert len(set(kept)) == len(kept) == min(COMPARED_ANSWERS, len(lots))


@given(st.integers(COMPARED_ANSWERS + 1, 50))
def test_a_later_answer_takes_each_place_as_often_as_one_sample_of_so_many_should(number: int) -> None:
    lots = [(part + 0.5) / (64 * number) for part in range(64 * number)]
    places = Counter(place_of(number, lot) for lot in lots)
    assert [places[place] for place in range(COMPARED_ANSWERS)] == [64] * COMPARED_ANSWERS
    assert places[None] == 64 * (number - COMPARED_ANSWERS)


@pytest.mark.parametrize("samples", [3, 4, 5, 6])
def test_every_choice_of_samples_is_as_likely_as_any_other(samples: int) -> None:
    """For each sample, all lots that lead to different places, which are equally likely."""
    lots = product(*([part / number for part in range(number)] for number in range(1, samples + 1)))
    counts: dict[tuple[int, ...], int] = {}
    for one in lots:
        counts[_kept(one, 3)] = counts.get(_kept(one, 3), 0) + 1
    assert len(set(counts.values())) == 1
    assert {number for kept in counts for number in kept} == set(range(1, samples + 1))


@pytest.mark.parametrize(
    ("fewest", "most", "left_out", "runs"),
    [
        *((100, 100, 1.0, 75_000), (10, 100, 1.0, 6_000), (100, 2000, 1.0, 600), (10, 2000, 1.0, 400)),
        *((100, 100, 0.02, 400), (10, 100, 0.02, 180), (10, 300, 0.02, 100), (10, 100, 0.05, 4_000)),
    ],
)
def test_the_best_of_players_goes_unnoticed_in_two_sessions_no_more_often_than_is_said(
    fewest: int, most: int, left_out: float, runs: int
) -> None:
    """One who is told after each call whether its answer was kept, and which it replaced, and may end the session.

    Of a wrong answer this share of the rows is left out.
    """
    assert _best_chance(fewest, most, (1.0 - left_out) ** FEWEST_PIECES) ** 2 <= 1 / runs


def _best_chance(fewest: int, most: int, missed: float) -> float:
    """That half of the samples or more are wrong, and all of those kept in the end are missed; from the last call back.

    `chance[wrong, kept]` is the best from a state with so many wrong samples, and so many of them kept.
    """
    kept = np.arange(COMPARED_ANSWERS + 1)
    chance = _chance_of_ending(most, most, missed)
    for number in range(most, 0, -1):
        fetched, is_full = min(1.0, COMPARED_ANSWERS / number), number > COMPARED_ANSWERS
        is_replaced = kept / COMPARED_ANSWERS if is_full else np.zeros(COMPARED_ANSWERS + 1)
        choices: list[NDArray[np.float64]] = []
        for lies in (0, 1):
            after = np.vstack([chance[lies:], chance[len(chance) - lies :]])
            replaced, added = (
                after[:, np.maximum(0, kept - 1 + lies)],
                after[:, np.minimum(COMPARED_ANSWERS, kept + lies)],
            )
            choices.append((1 - fetched) * after + fetched * (is_replaced * replaced + (1 - is_replaced) * added))
        chance = np.maximum(*choices)
        if number > fewest:
            chance = np.maximum(chance, _chance_of_ending(number - 1, most, missed))
    return float(chance[0, 0])


def _chance_of_ending(samples: int, most: int, missed: float) -> NDArray[np.float64]:
    chance = np.zeros((most + 1, COMPARED_ANSWERS + 1))
    chance[(samples + 1) // 2 :] = missed ** np.arange(COMPARED_ANSWERS + 1)
    return chance


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time passes at each look at it, by `seconds`."""
    clock = SimpleNamespace(seconds=0.0)
    looks = count()
    now = SimpleNamespace(monotonic=lambda: next(looks) * clock.seconds, perf_counter=lambda: 0.0)
    monkeypatch.setattr(timed_calls, "time", now)
    return clock


@pytest.mark.parametrize("at_once", [1, 6])
@pytest.mark.parametrize(
    ("cases", "seconds", "calls"), [(1, 0.0, 40), (3, 0.0, 3 * 13), (5, 0.0, 5 * 9), (1, 0.1, 3), (2, 3.0, 2)]
)
async def test_each_case_is_called_as_often_as_is_enough(  # noqa: PLR0917  one row each
    equipment: Equipment,
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
    async with runner_pair(equipment, ADDITION, source) as (checker, _):
        await check_repeatedly(checker, [ADDITION.sizes.cpu[0]] * cases)
    assert len(set(compared)) == len(compared) == calls


async def test_a_wrong_answer_counts_before_what_later_calls_did(
    equipment: Equipment, monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace
) -> None:
    """One by one it would have been found before they were made."""
    monkeypatch.setattr(CaseJudge, "at_once", 6)
    clock.seconds = 0.0
    source = (SUBMISSIONS / "wrong_then_worse.hip").read_text().replace("FIRST_WRONG", "4")
    async with runner_pair(equipment, ADDITION, source) as (checker, _):
        with pytest.raises(Failure) as caught:
            await check_repeatedly(checker, [ADDITION.sizes.cpu[0]])
    assert caught.value.verdict is Verdict.WRONG_ANSWER, caught.value.message


async def test_calls_that_our_own_runner_launches_are_no_repeated_ones(equipment: Equipment) -> None:
    """Not all answers of large cases are compared there."""
    source = (SUBMISSIONS / "slow_addition.hip").read_text()
    async with runner_pair(equipment, ADDITION, source) as (checker, _):
        launching = Checker(ADDITION, RunSeed(), checker.session, program_of=lambda _, __: b"")
        with pytest.raises(ValueError, match="not all compared"):
            await check_repeatedly(launching, ADDITION.sizes.cpu)
