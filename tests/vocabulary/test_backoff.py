from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from vocabulary.backoff import Backoff

SECOND = timedelta(seconds=1)


def test_the_pause_doubles_up_to_the_longest() -> None:
    backoff = Backoff(first=SECOND, longest=5 * SECOND)
    assert [backoff.pause(failures) for failures in range(1, 6)] == [SECOND, 2 * SECOND, 4 * SECOND, *[5 * SECOND] * 2]


@given(st.timedeltas(SECOND / 20, timedelta(hours=1)), st.timedeltas(SECOND, timedelta(hours=6)), st.integers(1, 10**9))
def test_no_number_of_failures_ends_in_an_overflow_or_a_shorter_pause(
    first: timedelta, longest: timedelta, failures: int
) -> None:
    backoff = Backoff(first, longest)
    assert backoff.pause(failures) <= backoff.pause(failures + 1) <= longest
    assert backoff.pause(10**9) == longest
