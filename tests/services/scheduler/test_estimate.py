from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.estimate import (
    PLAYED_AHEAD,
    WaitEstimate,
    percentile,
    wait_estimate,
    why_unknown,
)
from services.scheduler.jobs.played_machines import Busy, Need, PlayedMachines
from vocabulary.slots import EIGHTHS_PER_GPU, LEGAL_SIZES, Slot, gpus_for

SECOND = timedelta(seconds=1)
RUNS = (1.0, 2.0, 3.0, 4.0, 10.0)
TEN = (10.0, 10.0, 10.0)
ONE = Need(TEN)
times = st.lists(st.floats(0, 86_400), min_size=3, max_size=8)


def whole(gpu: int) -> Slot:
    return Slot(gpu, 0, EIGHTHS_PER_GPU)


def a_fleet(
    free: int, busy: list[tuple[float, list[float]]], starting: list[tuple[float, float, float]]
) -> PlayedMachines:
    """Machines of one GPU each."""
    runs = [Busy([whole(free + number)], *run) for number, run in enumerate(busy)]
    starts = {free + len(busy) + number: start for number, start in enumerate(starting)}
    return PlayedMachines([1] * (free + len(runs) + len(starts)), runs, starts)


fleets = st.builds(
    a_fleet,
    st.integers(0, 3),
    st.lists(st.tuples(st.floats(0, 86_400), times), max_size=3),
    st.lists(st.tuples(st.floats(0, 600), st.floats(0, 300), st.floats(300, 600)), max_size=2),
)


def known(ahead: list[Any], fleet: PlayedMachines, need: Need = ONE, seed: str = "job-1") -> WaitEstimate:
    """The estimate, which there is; jobs ahead may be given by the times of their runs alone."""
    needs = [one if isinstance(one, Need) else Need(one) for one in ahead]
    estimate = wait_estimate(need, needs, fleet, seed)
    assert estimate is not None
    return estimate


def seconds(ahead: list[Any], fleet: PlayedMachines, need: Need = ONE) -> float:
    """The wait if all runs take as long as they are known to."""
    estimate = known(ahead, fleet, need)
    assert estimate.p50 == estimate.p90
    return estimate.p50.total_seconds()


def two_halves(*free: int) -> PlayedMachines:
    """Machines of four GPUs, of which so many are free and the others have a run of 10 s that has 4 s to go."""
    busy = [Busy([whole(4 * machine + gpu)], 6.0, TEN) for machine, count in enumerate(free) for gpu in range(count, 4)]
    return PlayedMachines([4] * len(free), busy)


def test_nothing_is_said_without_history_or_gpus() -> None:
    assert wait_estimate(ONE, [Need(())], PlayedMachines([1]), "job-1") is None
    assert wait_estimate(ONE, [], PlayedMachines([1], [Busy([whole(0)], 0.0, ())]), "job-1") is None
    assert wait_estimate(ONE, [ONE], PlayedMachines([]), "job-1") is None


def test_a_job_with_a_free_gpu_waits_for_nobody() -> None:
    assert known([RUNS], PlayedMachines([1, 1])) == WaitEstimate(timedelta(0), timedelta(0))


def test_each_gpu_takes_the_next_job_when_it_is_free() -> None:
    """Two GPUs, five jobs of 10 s ahead and one run of 10 s that has 4 s to go."""
    fleet = PlayedMachines([2], [Busy([whole(0)], 6.0, TEN), Busy([whole(1)], 0.0, TEN)])
    assert known([TEN] * 5, fleet).p90 == 30 * SECOND
    assert known([], fleet) == WaitEstimate(4 * SECOND, 4 * SECOND)


def test_a_job_of_several_gpus_waits_for_all_of_them_and_those_behind_it_for_its_end() -> None:
    """Two GPUs: one free, one with a run of 10 s that has 4 s to go."""
    fleet, large = PlayedMachines([2], [Busy([whole(1)], 6.0, TEN)]), Need(TEN, 16)
    assert seconds([], fleet, large) == 4
    assert seconds([large], fleet) == 14
    assert wait_estimate(Need(TEN, 32), [], fleet, "job-1") is None


def test_several_gpus_are_of_one_machine_though_others_have_as_many_together() -> None:
    assert seconds([], two_halves(2, 2), Need(TEN, 32)) == 4
    assert seconds([], two_halves(2, 4), Need(TEN, 32)) == 0
    assert seconds([Need(TEN, 32)], two_halves(2, 4), Need(TEN, 16)) == 0
    assert wait_estimate(Need(TEN, 32), [], PlayedMachines([2, 2]), "job-1") is None


def test_one_of_several_machines_waits_for_the_last_of_them_and_those_behind_it_for_its_end() -> None:
    """Three machines of four GPUs: one free, one with a run of 10 s that has 4 s to go, one with one of 10 s to go."""
    fleet = PlayedMachines([4, 4, 4], [Busy([whole(4)], 6.0, TEN), Busy([whole(8)], 0.0, TEN)])
    both = Need(TEN, 32, machines=2)
    assert seconds([], fleet, both) == 4
    assert seconds([], fleet, Need(TEN, 32, machines=3)) == 10
    assert seconds([both], fleet, Need(TEN, 32)) == 10, "the third machine is free before both end"
    assert seconds([both], fleet, both) == 14
    assert seconds([Need(TEN, 32, machines=4)], fleet, Need(TEN, 32)) == 0, "what is never there holds nobody up"
    limited = PlayedMachines([4, 4], [Busy([whole(0)], 6.0, TEN, ["red"])], limits={"red": 64})
    assert seconds([], limited, Need(TEN, 32, limits=["red"], machines=2)) == 4


def test_several_machines_are_those_of_one_site_if_one_has_so_many() -> None:
    """The machines of a site are free in 4 and in 8 s; the two of other sites are free now."""
    busy = [Busy([whole(0)], 6.0, TEN), Busy([whole(1)], 2.0, TEN)]
    both = Need(TEN, machines=2)
    assert seconds([], PlayedMachines([1, 1, 1, 1], busy, sites=("east", "east", "west", "south")), both) == 8
    assert seconds([], PlayedMachines([1, 1, 1, 1], busy, sites=("east", "north", "west", "south")), both) == 0


@given(st.lists(st.tuples(st.sampled_from(["east", "west"]), st.integers(0, 9)), max_size=6), st.integers(2, 4))
def test_several_machines_start_with_the_last_of_the_first_that_are_free(
    machines: list[tuple[str, int]], number: int
) -> None:
    busy = [Busy([whole(at)], 10.0 - rest, TEN) for at, (_, rest) in enumerate(machines) if rest]
    fleet = PlayedMachines([1] * len(machines), busy, sites=[site for site, _ in machines])
    estimate = wait_estimate(Need(TEN, machines=number), [], fleet, "job-1")
    rests = {site: sorted(rest for where, rest in machines if where == site) for site in ("east", "west")}
    of_sites = [those[number - 1] for those in rests.values() if len(those) >= number]
    of_all = sorted(rest for _, rest in machines)[number - 1 : number]
    first = min(of_sites or of_all, default=None)
    assert (estimate and round(estimate.p90.total_seconds())) == first


def test_it_is_said_why_nothing_is_known() -> None:
    both = Need(TEN, machines=2)
    assert why_unknown(both, [], PlayedMachines([1, 1])) == ""
    assert "fewer are there or on their way" in why_unknown(both, [], PlayedMachines([1]))
    assert "being started" in why_unknown(both, [], PlayedMachines([1], unknown_starts=1))
    assert "may have at once" in why_unknown(
        both._replace(limits=["red"]), [], PlayedMachines([1, 1], limits={"red": 8})
    )
    assert "too few runs" in why_unknown(both, [Need(())], PlayedMachines([1, 1]))


def test_parts_lie_beside_each_other_on_a_gpu_and_a_whole_one_waits_for_all_of_them() -> None:
    half = Busy([Slot(0, 4, 4)], 6.0, TEN)
    assert seconds([], PlayedMachines([1], [half]), Need(TEN, 4)) == 0
    assert seconds([Need(TEN, 2), Need(TEN, 2)], PlayedMachines([1], [half]), Need(TEN, 4)) == 4
    assert seconds([Need(TEN, 1)], PlayedMachines([1], [half]), Need(TEN, 4)) == 4
    assert seconds([], PlayedMachines([1], [half])) == 4
    assert seconds([Need(TEN, 4)], PlayedMachines([1], [half])) == 10


def test_a_job_waits_for_the_gpus_that_it_may_have_and_one_that_has_none_holds_nobody_up() -> None:
    fleet = PlayedMachines([2], [Busy([whole(1)], 6.0, TEN)])
    assert seconds([], fleet, Need(TEN, 4, frozenset({1}))) == 4
    assert wait_estimate(Need(TEN, 4, frozenset()), [], fleet, "job-1") is None
    assert wait_estimate(Need(TEN, 16, frozenset({1})), [], fleet, "job-1") is None
    assert seconds([Need(TEN, 8, frozenset())], fleet) == 0


def test_a_queue_at_its_limit_waits_for_its_own_runs_and_holds_no_other_up() -> None:
    """Four GPUs; a queue may have two of them, and two of its runs have 4 s to go."""
    runs = [Busy([whole(gpu)], 6.0, TEN, ["red"]) for gpu in (0, 1)]
    fleet, red = PlayedMachines([4], runs, limits={"red": 16}), Need(TEN, limits=["red"])
    assert seconds([], fleet, red) == 4
    assert seconds([red, red], fleet, red) == 14
    assert seconds([red, red, red, red], fleet) == 0
    assert seconds([], PlayedMachines([4], runs, limits={"red": 24}), red) == 0
    assert wait_estimate(Need(TEN, 32, limits=["red"]), [], fleet, "job-1") is None
    assert seconds([Need(TEN, 32, limits=["red"])], fleet) == 0


def test_runs_above_a_limit_that_was_lowered_have_to_end_first() -> None:
    rests = [2.0, 4.0, 6.0]
    runs = [Busy([whole(gpu)], 10 - rest, TEN, ["red"]) for gpu, rest in enumerate(rests)]
    fleet = PlayedMachines([4], runs, limits={"red": 8})
    assert seconds([], fleet, Need(TEN, limits=["red"])) == 6


def test_a_run_elsewhere_counts_for_its_limit_and_a_part_counts_as_a_part() -> None:
    elsewhere = Busy([], 6.0, TEN, ["red"], 4)
    fleet = PlayedMachines([1], [elsewhere], limits={"red": 8})
    assert seconds([], fleet, Need(TEN, limits=["red"])) == 4
    assert seconds([], fleet, Need(TEN, 4, limits=["red"])) == 0
    assert seconds([], fleet, Need(TEN, 8, limits=["red"], counted=4)) == 0


def test_what_is_ahead_counts_by_its_own_kind() -> None:
    checks, benchmarks = (1.0, 1.0, 1.0), (60.0, 60.0, 60.0)
    busy = PlayedMachines([1], [Busy([whole(0)], 0.0, checks)])
    assert known([checks] * 3, busy).p90 == 4 * SECOND
    assert known([benchmarks] * 3, busy).p50 == 181 * SECOND


def test_a_run_that_is_longer_than_all_known_ones_takes_as_long_again() -> None:
    assert known([], PlayedMachines([1], [Busy([whole(0)], 25.0, RUNS)])).p50 == 25 * SECOND


def test_a_machine_that_starts_is_free_when_it_is_ready() -> None:
    estimate = known([], PlayedMachines([1], starting={0: (50.0, 200.0, 300.0)}))
    assert estimate.p50 == pytest.approx(150 * SECOND, abs=5 * SECOND)
    assert timedelta(seconds=200) <= estimate.p90 <= timedelta(seconds=300)


def test_a_very_long_queue_counts_beyond_what_is_played() -> None:
    one = (1.0, 1.0, 1.0)
    fleet = PlayedMachines([1], [Busy([whole(0)], 0.0, one)])
    assert known([one] * (PLAYED_AHEAD + 300), fleet).p50 == (PLAYED_AHEAD + 301) * SECOND
    beyond = wait_estimate(ONE, [], fleet, "job-1", beyond_seconds=300)
    assert beyond is not None
    assert beyond.p50 == 301 * SECOND


def test_the_p90_is_nearer_to_the_truth_than_that_of_one_run_after_the_other() -> None:
    """Of many runs, not all are slow: nine tenths of 20 runs in a row end before 20 times the slow one."""
    often_quick = (1.0,) * 8 + (20.0,) * 2
    estimate = known([often_quick] * 20, PlayedMachines([1], [Busy([whole(0)], 0.0, often_quick)]))
    assert 60 * SECOND < estimate.p50 < 140 * SECOND
    assert estimate.p50 < estimate.p90 < 250 * SECOND


@given(st.lists(times, max_size=12), times, fleets, st.text(max_size=5))
def test_jobs_behind_never_wait_less_and_p90_is_never_below_p50(
    ahead: list[list[float]], one: list[float], fleet: PlayedMachines, seed: str
) -> None:
    needs = [Need(each) for each in ahead]
    first, behind = wait_estimate(ONE, needs, fleet, seed), wait_estimate(ONE, [*needs, Need(one)], fleet, seed)
    if first is None:
        assert not fleet.gpus
        return
    assert behind is not None
    assert timedelta(0) <= first.p50 <= first.p90
    assert first.p50 <= behind.p50
    assert first.p90 <= behind.p90
    assert wait_estimate(ONE, needs, fleet, seed) == first, "the same seed gives the same estimate"


needs_of_sure_times = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from(LEGAL_SIZES[:6]), st.booleans()), min_size=1, max_size=9
)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), needs_of_sure_times, st.integers(1, 5))
def test_the_wait_is_that_of_the_same_jobs_one_after_the_other_in_plain_words(
    machines: list[int], jobs: list[tuple[int, int, bool]], limit: int
) -> None:
    fleet = PlayedMachines(machines, limits={"red": 8 * limit})
    runs = {time: (float(time),) * 3 for time in range(10)}
    needs = [Need(runs[time], eighths, limits=["red"] if red else []) for time, eighths, red in jobs]

    found = wait_estimate(needs[-1], needs[:-1], fleet, "job-1")

    expected = _in_plain_words(machines, needs, 8 * limit)
    assert (None if found is None else found.p50.total_seconds()) == expected


def _in_plain_words(machines: list[int], needs: list[Need], limit: int) -> float | None:
    """When the last job starts; each eighth knows when it is free, and each red run when it ends."""
    free_at = [[[0.0] * 8 for _ in range(count)] for count in machines]
    red: list[tuple[float, int]] = []
    begin: float | None = None
    for need in needs:
        begin = None
        places = list(_places(free_at, need.eighths))
        if not places or (need.limits and need.eighths > limit):
            continue
        instants = sorted({0.0, *(end for end, _ in red)})
        earliest = 0.0
        if need.limits:
            in_use = {at: sum(size for end, size in red if end > at) for at in instants}
            earliest = next(at for at in instants if in_use[at] + need.eighths <= limit)
        ready = [max(free_at[machine][gpu][eighth] for machine, gpu, eighth in place) for place in places]
        in_time = [at for at in ready if at <= earliest]
        wanted = max(in_time) if need.limits and in_time else min(ready)
        begin = max(earliest, wanted)
        end = begin + need.times[0]
        for machine, gpu, eighth in places[ready.index(wanted)]:
            free_at[machine][gpu][eighth] = end
        red += [(end, need.eighths)] if need.limits else []
    return begin


def _places(free_at: list[list[list[float]]], size: int) -> Any:
    """The eighths of each place for a job: blocks of a GPU, or the GPUs of each machine that are free first."""
    for machine, gpus in enumerate(free_at):
        if size <= EIGHTHS_PER_GPU:
            for gpu in range(len(gpus)):
                for first in range(0, EIGHTHS_PER_GPU, size):
                    yield [(machine, gpu, first + number) for number in range(size)]
        elif len(gpus) >= gpus_for(size):
            first = sorted(range(len(gpus)), key=lambda gpu: max(gpus[gpu]))[: gpus_for(size)]
            yield [(machine, gpu, eighth) for gpu in first for eighth in range(EIGHTHS_PER_GPU)]


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(1, 100))
def test_at_least_that_share_of_the_values_is_not_above_the_percentile(values: list[float], percent: int) -> None:
    bound = percentile(values, percent)
    assert 100 * sum(value <= bound for value in values) >= percent * len(values)
