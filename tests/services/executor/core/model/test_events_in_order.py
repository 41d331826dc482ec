"""Events come in the order of a run's steps, whichever of them ends first."""

from __future__ import annotations

from services.executor.core.model.events import Checking, Compiled, Event
from services.executor.core.model.events_in_order import EventsInOrder

COMPILED, FIRST, SECOND = Compiled("", 1.0, cached=False), Checking(1), Checking(2)


def test_events_wait_for_an_earlier_one_that_is_not_complete() -> None:
    said: list[Event] = []
    events = EventsInOrder(said.append)
    with events.kept():
        events(FIRST)
        assert said == []
        events.release(COMPILED)
        assert said == [COMPILED, FIRST]
        events(SECOND)
    assert said == [COMPILED, FIRST, SECOND]


def test_what_a_cancelled_run_kept_is_not_passed_on() -> None:
    said: list[Event] = []
    events = EventsInOrder(said.append)
    with events.kept():
        events(FIRST)
    events(SECOND)
    assert said == [SECOND]
