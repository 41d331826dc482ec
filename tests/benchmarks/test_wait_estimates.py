"""The waits that people are told who reserve GPUs come true, on made-up days that are played by the real decisions."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.reservation_replay.arrivals import DAY, Habits, days_of_visits
from benchmarks.reservation_replay.replay import P50, P90, Replay, Wait, share_within
from benchmarks.wait_estimates import AIM, LEARNING_DAYS


@pytest.mark.timeout(600)
def test_nine_of_ten_who_wait_for_gpus_start_within_their_p90() -> None:
    """The days are made up from a seed, as nobody has recorded real ones; `benchmarks/wait_estimates.py` has more."""
    played = Replay(21, LEARNING_DAYS + 6, Habits()).run()
    waits = [one for one in played if one.at >= LEARNING_DAYS * DAY]
    assert sum(one.counts for one in waits) > 50, "few who wait say nothing"
    assert AIM[0] <= share_within(waits, P90) <= AIM[1]
    assert 0.35 <= share_within(waits, P50) <= 0.65
    assert share_within(waits, P90, scale=0.5) < AIM[0], "half of each estimate would be too short"
    assert share_within(waits, P90, scale=3) > AIM[1], "three times each estimate would be too long"


def test_who_gives_up_counts_only_after_the_time_that_was_told() -> None:
    def after(waited: float, *, started: bool = True) -> Wait:
        return Wait(0, 1, 100, 200, waited, started)

    found_free = Wait(0, 1, 0, 0, 0, started=True)
    waits = [after(50), after(150), after(150, started=False), after(250, started=False), found_free]
    assert share_within(waits, P50) == 1 / 4
    assert share_within(waits, P90) == 2 / 3


def test_a_seed_gives_the_same_people() -> None:
    first, again, other = (days_of_visits(Random(seed), Habits(), 3) for seed in (1, 1, 2))  # noqa: S311
    assert first == again != other
