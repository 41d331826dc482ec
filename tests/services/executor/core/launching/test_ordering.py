"""Streams run in the order that the submission's host code would have caused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.launching.ordering import ALL_STREAMS, Noted, Synchronised, Waited, in_order
from services.executor.core.launching.program import Base, Fill, Mark, Place, Wait


def work(stream: int, number: int = 0) -> Fill:
    return Fill(stream, Place(Base.ARGUMENT, 0, 0), 1, number, 1)


_ITEMS = st.lists(
    st.one_of(
        st.builds(work, st.integers(0, 3), st.integers(0, 1 << 20)),
        st.builds(Noted, st.integers(0, 3), st.integers(0, 3)),
        st.builds(Waited, st.integers(0, 3), st.integers(0, 3)),
        st.builds(Synchronised, st.integers(ALL_STREAMS, 3)),
    ),
    max_size=30,
)


def before_each(items: list[object]) -> list[set[int]]:
    """For each piece of work, the pieces that must come before it, by position among the work.

    The order follows streams, events and, if there are any, waits of the host.
    """
    streams: dict[int, set[int]] = {}
    events: dict[int, set[int]] = {}
    host: set[int] = set()
    found: list[set[int]] = []
    for item in items:
        stream = streams.setdefault(getattr(item, "stream", 0), set()) if not isinstance(item, Synchronised) else set()
        match item:
            case Noted() | Mark():
                events[item.event] = stream | host
            case Waited() | Wait():
                stream |= events.get(item.event, set())
            case Synchronised():
                host |= set().union(*(of for one, of in streams.items() if item.stream in {one, ALL_STREAMS}))
            case _:
                stream |= host
                found.append(set(stream))
                stream.add(len(found) - 1)
    return found


@given(_ITEMS)
def test_all_that_came_before_a_piece_of_work_still_does(items: list[object]) -> None:
    ordered = list(in_order(items).operations)
    assert [item for item in ordered if isinstance(item, Fill)] == [item for item in items if isinstance(item, Fill)]
    kept = before_each(ordered)
    for asked, found in zip(before_each(items), kept, strict=True):
        assert asked <= found


@given(_ITEMS)
def test_the_default_stream_is_around_all_of_the_work(items: list[object]) -> None:
    marked = [work(0, 1), *in_order(items).operations, work(0, 2)]
    count = sum(isinstance(item, Fill) for item in marked)
    order = before_each(marked)
    assert order[-1] == set(range(count - 1))
    assert all(0 in before for before in order[1:])


def test_one_stream_needs_no_events() -> None:
    items = [work(0), Synchronised(ALL_STREAMS), Noted(0, 1), Waited(0, 1), work(0)]
    assert in_order(items).operations == (work(0), work(0))
    assert in_order(items).events == 0


def test_events_are_counted() -> None:
    ordered = in_order([work(1), work(2), Synchronised(1), work(2)])
    events = [item.event for item in ordered.operations if isinstance(item, Mark)]
    assert events == list(range(ordered.events))
