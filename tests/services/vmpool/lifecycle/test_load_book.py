from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.lifecycle.load_book import RECENT, SLICE, LoadBook
from services.vmpool.machines.load import Load, MeanLoad
from tests.services.vmpool.conftest import START

MINUTE = timedelta(minutes=1)
WINDOW = 30 * MINUTE
SHARES = st.none() | st.floats(0, 1)
LOADS = st.builds(Load, SHARES, SHARES, SHARES, SHARES)


def test_processors_are_of_the_last_minutes_and_gpus_of_the_whole_window() -> None:
    book = LoadBook(WINDOW)
    for minute in range(30):
        share = 1.0 if minute < 20 else 0.0
        book.note("m1", Load(share, share, share, share), START + minute * MINUTE)
    assert book.mean("m1", START + 29 * MINUTE) == MeanLoad(0.0, 0.0, pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_what_a_machine_does_not_report_is_not_known_and_an_old_load_is_forgotten() -> None:
    book = LoadBook(WINDOW)
    assert book.mean("m1", START) == MeanLoad()
    book.note("m1", Load(cpu_share=0.5), START)
    assert book.mean("m1", START) == MeanLoad(cpu_share=0.5)
    assert book.mean("m1", START + RECENT + MINUTE) == MeanLoad()
    book.forget("m1")
    assert book.mean("m1", START) == MeanLoad()


def test_a_clock_that_is_set_back_does_not_add_to_the_future() -> None:
    book = LoadBook(WINDOW)
    book.note("m1", Load(cpu_share=1.0), START + timedelta(days=1))
    book.note("m1", Load(cpu_share=0.0), START)
    assert book.mean("m1", START).cpu_share is not None


@given(st.lists(st.tuples(st.integers(0, 900), LOADS), max_size=200))
def test_the_mean_is_within_what_was_reported_and_memory_is_bounded(heartbeats: list[tuple[int, Load]]) -> None:
    book, now = LoadBook(WINDOW), START
    for seconds, load in heartbeats:
        now += timedelta(seconds=seconds / 100)
        book.note("m1", load, now)
    mean = book.mean("m1", now)
    for name in ("cpu_share", "memory_share", "gpu_share", "leased_share"):
        reported = [share for _, load in heartbeats if (share := getattr(load, name)) is not None]
        found = getattr(mean, name)
        assert (found is None) <= (not reported)
        # The rounding of sums of hundreds of shares.
        assert found is None or min(reported) - 1e-9 <= found <= max(reported) + 1e-9
    slices = book._slices.get("m1", ())
    assert len(slices) <= WINDOW / SLICE + 2
