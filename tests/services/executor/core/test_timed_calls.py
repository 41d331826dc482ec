"""Which answers of a large case are compared; `test_simulated_gpu.py` has its calls from end to end."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.parts import FEWEST_PIECES
from services.executor.core.timed_calls import KEPT_ANSWERS, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _kept(lots: tuple[float, ...], places: int = KEPT_ANSWERS) -> tuple[int, ...]:
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
    assert len(set(kept)) == len(kept) == min(KEPT_ANSWERS, len(lots))


@given(st.integers(KEPT_ANSWERS + 1, 50))
def test_a_later_answer_takes_each_place_as_often_as_one_sample_of_so_many_should(number: int) -> None:
    lots = [(part + 0.5) / (64 * number) for part in range(64 * number)]
    places = Counter(place_of(number, lot) for lot in lots)
    assert [places[place] for place in range(KEPT_ANSWERS)] == [64] * KEPT_ANSWERS
    assert places[None] == 64 * (number - KEPT_ANSWERS)


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
    kept = np.arange(KEPT_ANSWERS + 1)
    chance = _chance_of_ending(most, most, missed)
    for number in range(most, 0, -1):
        fetched, is_full = min(1.0, KEPT_ANSWERS / number), number > KEPT_ANSWERS
        is_replaced = kept / KEPT_ANSWERS if is_full else np.zeros(KEPT_ANSWERS + 1)
        choices: list[NDArray[np.float64]] = []
        for lies in (0, 1):
            after = np.vstack([chance[lies:], chance[len(chance) - lies :]])
            replaced, added = after[:, np.maximum(0, kept - 1 + lies)], after[:, np.minimum(KEPT_ANSWERS, kept + lies)]
            choices.append((1 - fetched) * after + fetched * (is_replaced * replaced + (1 - is_replaced) * added))
        chance = np.maximum(*choices)
        if number > fewest:
            chance = np.maximum(chance, _chance_of_ending(number - 1, most, missed))
    return float(chance[0, 0])


def _chance_of_ending(samples: int, most: int, missed: float) -> NDArray[np.float64]:
    chance = np.zeros((most + 1, KEPT_ANSWERS + 1))
    chance[(samples + 1) // 2 :] = missed ** np.arange(KEPT_ANSWERS + 1)
    return chance
