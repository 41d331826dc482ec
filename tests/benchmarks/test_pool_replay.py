"""The replay keeps the pool's rules on a short day; its figures are tested by the benchmark itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from benchmarks.pool_policy import Summary, cheapest_at_equal_wait, fixed, kept_warm, ours, summary
from benchmarks.pool_replay.arrivals import Arrival, Habits, day_of_arrivals, read_arrivals
from benchmarks.pool_replay.replay import Cloud, Outcome, Policy, Replay, machine_per_job
from vocabulary.money import Tariff

HOUR = timedelta(hours=1)
HOURLY = Tariff(2_000_000, HOUR, HOUR)
MAX_MACHINES = 3


def seeded(seed: int = 1) -> Random:
    return Random(seed)  # noqa: S311 - a simulation


DAY = day_of_arrivals(seeded(7), Habits(office_rate=4, other_rate=4, edits_mean=5), hours=3)


@pytest.mark.parametrize("policy", [fixed(5, MAX_MACHINES), ours(5, MAX_MACHINES), ours(0, MAX_MACHINES)])
def test_every_job_is_served_in_time_and_every_machine_released(policy: Policy) -> None:
    outcome = Replay(policy, Cloud(HOURLY), DAY, seeded()).run()
    assert len(outcome.waits) == len(DAY) > 20
    assert min(outcome.waits) >= 0
    assert 0 < outcome.cold_starts <= len(outcome.held)
    assert 0 < outcome.most_machines <= MAX_MACHINES
    busy = timedelta(seconds=sum(arrival.duration_seconds for arrival in DAY))
    assert sum(outcome.held, timedelta(0)) >= busy


def test_a_machine_by_the_hour_is_held_to_the_end_of_hours_and_no_longer() -> None:
    cloud = Cloud(HOURLY)
    outcome = Replay(ours(0, MAX_MACHINES), cloud, DAY, seeded()).run()
    margin = timedelta(seconds=60)
    for held in outcome.held:
        # It is released within the margin before an hour ends, and gone one release later.
        before_the_end = -held % HOUR
        assert before_the_end <= margin


def test_a_machine_is_kept_through_the_hours_of_the_schedule_and_no_longer() -> None:
    outcome = Replay(kept_warm(ours(5, MAX_MACHINES)), Cloud(Tariff(2_000_000)), DAY, seeded()).run()
    assert 10 * HOUR < max(outcome.held) < 10.5 * HOUR


def test_one_job_costs_what_the_tariff_says() -> None:
    cloud = Cloud(Tariff(3_600_000), start_median_seconds=100, start_spread=0, release_seconds=20)
    job = [Arrival(10, 50)]
    alone = machine_per_job(cloud, job, seeded())
    assert (alone.waits, alone.cost_micros(cloud.tariff)) == (pytest.approx([100]), 170_000)
    kept = Replay(ours(1, MAX_MACHINES), cloud, job, seeded()).run()
    assert (kept.waits, kept.cost_micros(cloud.tariff)) == (pytest.approx([100]), 230_000)


def test_the_cheapest_of_those_that_wait_no_longer_stands_against_a_policy() -> None:
    tariff = Tariff(3_600_000_000)

    def of(name: str, hours: int, wait: float) -> Summary:
        return summary(name, [Outcome([wait], [hours * HOUR])], tariff)

    other, dear, cheap, slow = of("other", 5, 10), of("dear", 4, 9), of("cheap", 3, 10), of("slow", 1, 11)
    assert cheapest_at_equal_wait(other, [dear, cheap, slow]) == cheap
    assert cheapest_at_equal_wait(other, [slow]) is None


def test_recorded_arrivals_are_read_in_order_from_the_first_on(tmp_path: Path) -> None:
    file = tmp_path / "arrivals"
    file.write_text("# when how_long\n1700000060 12.5\n\n1700000000,7\n1700000030\n")
    assert read_arrivals(file, 30) == [Arrival(0, 7), Arrival(30, 30), Arrival(60, 12.5)]


@pytest.mark.parametrize(
    ("text", "words"), [("1 x", "arrivals:1: '1 x' is not"), ("1 2\n3 -1", "arrivals:2: .*more than 0"), ("", "no arr")]
)
def test_a_file_that_cannot_be_read_is_refused_by_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "arrivals"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_arrivals(file, 30)


def test_a_seed_gives_one_day() -> None:
    assert day_of_arrivals(seeded(3), Habits()) == day_of_arrivals(seeded(3), Habits())
    assert day_of_arrivals(seeded(3), Habits()) != day_of_arrivals(seeded(4), Habits())
