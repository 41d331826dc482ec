from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.profiling import (
    Dispatch,
    Extent,
    LaunchFacts,
    ProfileClock,
    Profiler,
    kernels_of,
    profiler_or_reason,
)
from services.executor.devices.sim.sim_device import SimulatedGpu

A, B, C = (LaunchFacts(name) for name in "abc")
dispatches = st.lists(st.builds(Dispatch, st.sampled_from([A, B, C]), st.integers(0, 10**9)))


@given(dispatches)
def test_no_launch_and_no_time_is_lost(reported: list[Dispatch]) -> None:
    kernels = kernels_of(reported)
    assert sum(kernel.calls for kernel in kernels) == len(reported)
    assert sum(kernel.total_ns for kernel in kernels) == sum(dispatch.duration_ns for dispatch in reported)
    assert [kernel.total_ns for kernel in kernels] == sorted((one.total_ns for one in kernels), reverse=True)


def test_shares_are_of_the_time_of_all_kernels() -> None:
    first, second = kernels_of([Dispatch(A, 20), Dispatch(A, 40), Dispatch(B, 20)])
    assert (first.name, first.calls, first.mean_ns, first.min_ns, first.max_ns, first.share) == (
        "a",
        2,
        30.0,
        20,
        40,
        0.75,
    )
    assert (second.name, second.share) == ("b", 0.25)


def test_kernels_without_time_share_nothing() -> None:
    [only] = kernels_of([Dispatch(A, 0)])
    assert only.share == 0.0


def test_launches_of_one_kernel_with_different_grids_are_apart() -> None:
    small, large = LaunchFacts("a", Extent(1, 1, 1)), LaunchFacts("a", Extent(8, 1, 1))
    assert [kernel.grid for kernel in kernels_of([Dispatch(small, 1), Dispatch(large, 9)])] == [large.grid, small.grid]


def test_a_device_without_a_profiler_has_a_reason() -> None:
    assert profiler_or_reason(SimulatedGpu()) == "sim: its times are made up"
    found = profiler_or_reason(CpuDevice())
    assert isinstance(found, Profiler)
    assert (found.title, found.clock) == ("wavepool cpu runtime", ProfileClock.HOST)


def test_the_runners_own_kernels_are_left_out() -> None:
    own = ("void wavepool::run_body<wavepool::chain::Redraw>(...)", "wavepool::(anonymous namespace)::stamp(unsigned*)")
    assert kernels_of([*(Dispatch(LaunchFacts(name), 5) for name in own), Dispatch(A, 1)])[0].share == 1.0
