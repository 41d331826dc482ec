"""Compares policies of keeping machines warm: the cost of a day of jobs, and their waits.

`python benchmarks/pool_policy.py` replays made-up days (office hours, chains of edits, sweeps) or, with `--arrivals`,
recorded ones, in simulated time. Ours is the product's own code, with all its defaults except the idle timeout, which
trades cost for wait in every policy.

- machine per job: every job has a machine of its own, released when it ends.
- fixed N min: a machine for every waiting job that finds none free, up to the limit; each is released after N idle
  minutes. It knows neither the tariff nor how long jobs and starts take.
- ours N min: `services/vmpool/policy/sizing.py` with an idle timeout of N minutes.

They are compared at equal wait: each fixed timeout with the cheapest of ours whose mean wait is no longer. The mean
counts, because with nearly every policy half of the jobs do not wait, and the 95th percentile is the time of one cold
start.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from random import Random
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Sequence

from benchmarks.pool_replay.arrivals import Arrival, Habits, day_of_arrivals, read_arrivals
from benchmarks.pool_replay.replay import GPU_TYPE, Cloud, Outcome, Policy, Replay, machine_per_job
from services.vmpool.policy.retention import Retention
from services.vmpool.policy.sizing import Limits
from services.vmpool.policy.warm_windows import parse_keep_warm
from vocabulary.money import MICROS_PER_DOLLAR, Tariff

PRICE_MICROS_PER_HOUR = 1_990_000
TARIFFS = {
    "by the second": Tariff(PRICE_MICROS_PER_HOUR),
    "1 h minimum, then by the minute": Tariff(PRICE_MICROS_PER_HOUR, timedelta(hours=1), timedelta(minutes=1)),
    "whole hours": Tariff(PRICE_MICROS_PER_HOUR, timedelta(hours=1), timedelta(hours=1)),
}
FIXED_MINUTES = (5, 10, 15)
OUR_MINUTES = (0, 5, 10, 15, 20, 30, 40, 50, 60, 90)
DEFAULT_MINUTES = 10
KEPT_WARM = parse_keep_warm(f"Mon-Sun 08:00-18:00 UTC {GPU_TYPE}=1", (GPU_TYPE,))
PER_JOB = "machine per job"


@dataclass(frozen=True)
class Summary:
    """All days of one policy; waits in seconds, cost and cold starts for one day."""

    name: str
    cost_micros: float
    cold_starts: float
    p50: float
    p95: float
    mean: float
    most_machines: int


def fixed(minutes: float, max_machines: int) -> Policy:
    """A policy with a plain idle timeout."""
    retention = Retention(timedelta(minutes=minutes), surplus_share=1, release_margin=timedelta(0))
    return Policy(f"fixed {minutes:g} min", Limits(max_machines, retention), knows_tariff=False, knows_paces=False)


def ours(minutes: float, max_machines: int) -> Policy:
    """The product's policy."""
    return Policy(f"ours {minutes:g} min", Limits(max_machines, Retention(timedelta(minutes=minutes))))


def kept_warm(policy: Policy) -> Policy:
    """The policy with one more machine kept ready in office hours."""
    return replace(policy, name=f"{policy.name}, 1 kept 8-18 h", limits=replace(policy.limits, keep_warm=KEPT_WARM))


def replayed(policy: Policy | None, cloud: Cloud, days: Sequence[Sequence[Arrival]]) -> list[Outcome]:
    """The outcome of each day; None means a machine for each job."""
    draws = [Random(day) for day in range(len(days))]  # noqa: S311 - a simulation
    if policy is None:
        return [machine_per_job(cloud, day, draw) for day, draw in zip(days, draws, strict=True)]
    return [Replay(policy, cloud, day, draw).run() for day, draw in zip(days, draws, strict=True)]


def summary(name: str, outcomes: Sequence[Outcome], tariff: Tariff) -> Summary:
    """The figures of these days."""
    waits = sorted(wait for outcome in outcomes for wait in outcome.waits)
    return Summary(
        name,
        fmean(outcome.cost_micros(tariff) for outcome in outcomes),
        fmean(outcome.cold_starts for outcome in outcomes),
        waits[len(waits) // 2],
        waits[min(len(waits) - 1, len(waits) * 95 // 100)],
        fmean(waits),
        max(outcome.most_machines for outcome in outcomes),
    )


def cheapest_at_equal_wait(other: Summary, candidates: Sequence[Summary]) -> Summary | None:
    """The cheapest candidate whose mean wait is no longer; None if there is none."""
    able = [mine for mine in candidates if mine.mean <= other.mean]
    return min(able, key=lambda mine: mine.cost_micros, default=None)


def print_table(summaries: Sequence[Summary], per_job: Summary) -> None:
    """Prints one line for each policy."""
    print(f"{'policy':30}{'cost $':>9}{'saved':>8}{'cold':>7}{'p50 s':>8}{'p95 s':>8}{'mean s':>8}{'most':>6}")
    for line in summaries:
        saved = 1 - line.cost_micros / per_job.cost_micros
        print(
            f"{line.name:30}{line.cost_micros / MICROS_PER_DOLLAR:9.2f}{saved:8.0%}{line.cold_starts:7.0f}"
            f"{line.p50:8.1f}{line.p95:8.1f}{line.mean:8.1f}{line.most_machines:6}"
        )


def print_comparison(fixed_ones: Sequence[Summary], our_ones: Sequence[Summary]) -> None:
    """Prints the savings of ours over each fixed timeout, at equal wait."""
    for line in fixed_ones:
        mine = cheapest_at_equal_wait(line, our_ones)
        if mine is None:
            print(f"  none of ours waits as little as {line.name}")
            continue
        saved = 1 - mine.cost_micros / line.cost_micros
        print(f"  {line.name} (mean {line.mean:.1f} s, p95 {line.p95:.0f} s): {mine.name} ", end="")
        print(f"(mean {mine.mean:.1f} s, p95 {mine.p95:.0f} s) saves {saved:.0%}")


def read_options() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=5, help="made-up days, of the seeds 1, 2, ... (default 5)")
    parser.add_argument("--load", type=float, default=1.0, help="times as many sittings (default 1)")
    parser.add_argument("--arrivals", type=Path, help="a file of timestamps and, where known, durations in seconds")
    parser.add_argument("--duration-seconds", type=float, default=30.0, help="of jobs that the file gives none for")
    parser.add_argument("--max-machines", type=int, default=8)
    parser.add_argument("--start-seconds", type=float, default=150.0, help="median time until a machine is ready")
    return parser.parse_args()


def main() -> None:
    """Prints a table for each tariff."""
    options = read_options()
    days = arrivals_of(options)
    print(f"{len(days)} days, {fmean(map(len, days)):.0f} jobs a day, {options.start_seconds:g} s to start a machine")
    plain_ones = [fixed(minutes, options.max_machines) for minutes in FIXED_MINUTES]
    our_policies = [ours(minutes, options.max_machines) for minutes in OUR_MINUTES]
    our_policies.append(kept_warm(ours(DEFAULT_MINUTES, options.max_machines)))
    plain = Cloud(TARIFFS["by the second"], options.start_seconds)
    with ProcessPoolExecutor() as pool:
        # Policies that do not know the tariff do the same under each.
        blind = list(pool.map(replayed, [None, *plain_ones], repeat(plain), repeat(days)))
        for name, tariff in TARIFFS.items():
            cloud = replace(plain, tariff=tariff)
            aware = pool.map(replayed, our_policies, repeat(cloud), repeat(days))
            per_job = summary(PER_JOB, blind[0], tariff)
            fixed_ones = [
                summary(policy.name, days_, tariff) for policy, days_ in zip(plain_ones, blind[1:], strict=True)
            ]
            our_ones = [summary(policy.name, days_, tariff) for policy, days_ in zip(our_policies, aware, strict=True)]
            print(f"\nBilled {name}")
            print_table([per_job, *fixed_ones, *our_ones], per_job)
            print_comparison(fixed_ones, our_ones[:-1])


def arrivals_of(options: argparse.Namespace) -> list[list[Arrival]]:
    """The days to replay."""
    if options.arrivals:
        return [read_arrivals(options.arrivals, options.duration_seconds)]
    usual = Habits()
    habits = replace(usual, office_rate=usual.office_rate * options.load, other_rate=usual.other_rate * options.load)
    return [day_of_arrivals(Random(seed), habits) for seed in range(1, options.days + 1)]  # noqa: S311 - a simulation


if __name__ == "__main__":
    main()
