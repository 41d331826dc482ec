from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.profiling import Dispatch, profiles_of

dispatches = st.lists(st.builds(Dispatch, st.sampled_from(["a", "b", "c"]), st.integers(0, 10**9)))


@given(dispatches)
def test_no_launch_and_no_time_is_lost(reported: list[Dispatch]) -> None:
    profiles = profiles_of(reported)
    assert sum(profile.launches for profile in profiles) == len(reported)
    assert sum(profile.total_ns for profile in profiles) == sum(dispatch.duration_ns for dispatch in reported)
    assert [profile.total_ns for profile in profiles] == sorted((p.total_ns for p in profiles), reverse=True)


def test_shares_are_of_the_time_of_all_kernels() -> None:
    first, second = profiles_of([Dispatch("slow", 20), Dispatch("slow", 40), Dispatch("quick", 20)])
    assert (first.kernel, first.launches, first.median_ns, first.share) == ("slow", 2, 30.0, 0.75)
    assert (second.kernel, second.share) == ("quick", 0.25)


def test_kernels_without_time_share_nothing() -> None:
    [only] = profiles_of([Dispatch("idle", 0)])
    assert only.share == 0.0
