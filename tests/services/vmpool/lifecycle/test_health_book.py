"""The times at which machines are polled, and the silence after which they count as lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.vmpool.lifecycle.health_book import HealthBook
from tests.services.vmpool.conftest import START

SECOND = timedelta(seconds=1)


@pytest.fixture
def book() -> HealthBook:
    return HealthBook(heartbeat_interval=2 * SECOND, lost_after=6 * SECOND, reserved_lost_after=600 * SECOND)


def test_a_machine_is_asked_once_in_an_interval(book: HealthBook) -> None:
    assert [book.is_due("m1", START + seconds * SECOND) for seconds in range(5)] == [True, False, True, False, True]


def test_silence_counts_from_the_last_answer(book: HealthBook) -> None:
    book.heard("m1", START)
    assert not book.is_lost("m1", START + 5 * SECOND)
    assert book.is_lost("m1", START + 6 * SECOND)
    assert not book.is_lost("m1", START + 599 * SECOND, is_reserved=True)
    assert book.is_lost("m1", START + 600 * SECOND, is_reserved=True)
    book.forget("m1")
    assert not book.is_lost("m1", START + 6 * SECOND)


def test_a_clock_that_is_set_back_keeps_nobody_from_being_asked_and_lost(book: HealthBook) -> None:
    assert book.is_due("m1", START)
    book.heard("m1", START)
    earlier = START - timedelta(hours=1)
    assert book.is_due("m1", earlier)
    assert not book.is_lost("m1", earlier)
    assert book.is_lost("m1", earlier + 6 * SECOND)
