"""The calendar of reservations that start later: what fits, what does not, and who gets which GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from services.scheduler.fleet.machine import Machine, Use
from services.scheduler.jobs.reservation_calendar import Booking, Calendar
from tests.tiers import examples
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
HORIZON = 40


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def booking(name: str, gpus: int, begin: int, end: int, machines: int = 1) -> Booking:
    return Booking(name, gpus, at(begin), at(end), machines)


def machine(name: str, gpus: int, *uses: tuple[str, int, int]) -> Machine:
    return Machine(name, gpus, tuple(Use(user, Slot(gpu, 0, EIGHTHS_PER_GPU), at(end)) for user, gpu, end in uses))


@st.composite
def machines(draw: st.DrawFn) -> list[Machine]:
    found: list[Machine] = []
    for number in range(draw(st.integers(1, 3))):
        gpus = draw(st.sampled_from([1, 2, 4]))
        ends = [draw(st.integers(0, 12)) for _ in range(gpus)]
        uses = [(f"run-{number}-{gpu}", gpu, end) for gpu, end in enumerate(ends) if end]
        found.append(machine(f"machine-{number}", gpus, *uses))
    return found


@st.composite
def requests(draw: st.DrawFn, most: int = 4) -> list[Booking]:
    found: list[Booking] = []
    for number in range(draw(st.integers(1, most))):
        begin, lasts = draw(st.integers(1, 15)), draw(st.integers(1, 8))
        gpus, several = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 1, 2, 3]))
        found.append(booking(f"res-{number}", gpus, begin, begin + lasts, several))
    return found


def is_possible(there: Sequence[Machine], bookings: Sequence[Booking]) -> bool:
    """Tries every way to give the bookings machines, minute by minute."""
    return any(
        all(
            sum(use.end > at(minute) for use in one.uses)
            + sum(
                asked.gpus
                for asked, names in zip(bookings, chosen, strict=True)
                if one.machine_id in names and asked.begin <= at(minute) < asked.end
            )
            <= one.gpus
            for one in there
            for minute in range(HORIZON)
            if any(
                one.machine_id in names and asked.begin <= at(minute) < asked.end
                for asked, names in zip(bookings, chosen, strict=True)
            )
        )
        for chosen in product(*(combinations([one.machine_id for one in there], one.machines) for one in bookings))
    )


def admitted(there: Sequence[Machine], asked: Sequence[Booking]) -> Calendar:
    """The calendar after each was asked for, one after the other."""
    calendar = Calendar(there)
    for one in asked:
        if calendar.fits(one):
            calendar = Calendar(there, [*calendar.bookings, one])
    return calendar


def test_one_may_begin_at_the_instant_at_which_another_ends() -> None:
    calendar = Calendar([machine("m", 1, ("run", 0, 10))], [booking("a", 1, 20, 30)])
    assert calendar.fits(booking("b", 1, 10, 20))
    assert calendar.fits(booking("b", 1, 30, 40))
    assert not calendar.fits(booking("b", 1, 9, 20))
    assert not calendar.fits(booking("b", 1, 10, 21))
    assert not calendar.fits(booking("b", 1, 29, 40))


def test_gpus_of_two_machines_are_not_those_of_one() -> None:
    there = [machine("m", 2, ("run", 0, 30)), machine("n", 2, ("run", 1, 30))]
    assert not Calendar(there).fits(booking("a", 2, 0, 10))
    assert Calendar(there, [booking("a", 1, 0, 10)]).fits(booking("b", 1, 0, 10))


def test_one_that_waits_goes_to_another_machine_if_a_larger_one_needs_its_own() -> None:
    calendar = Calendar([machine("m", 4), machine("n", 1)], [booking("small", 1, 0, 10)])
    assert calendar.fits(booking("large", 4, 5, 10))


def test_a_refusal_has_all_that_is_in_the_way_and_the_nearest_start() -> None:
    calendar = Calendar([machine("m", 2, ("run", 0, 15), ("run", 1, 15))], [booking("a", 2, 20, 30)])
    asked = booking("b", 1, 10, 20)
    assert calendar.in_the_way(asked) == ["run"]
    assert calendar.in_the_way(booking("b", 1, 10, 21)) == ["run", "a"]
    assert calendar.nearest_start(asked, at(60)) == at(30)
    assert calendar.nearest_start(asked, at(29)) is None
    assert calendar.nearest_start(booking("b", 1, 10, 15), at(60)) == at(15)


def test_dated_ones_together_have_no_more_than_their_share() -> None:
    calendar = Calendar([machine("m", 4)], [booking("a", 2, 0, 10)], most_gpus=3)
    assert not calendar.fits(booking("b", 2, 5, 15))
    assert calendar.fits(booking("b", 1, 5, 15))
    assert calendar.nearest_start(booking("b", 2, 5, 15), at(60)) == at(10)


def test_more_time_ends_where_a_booking_needs_the_gpu() -> None:
    there = [machine("m", 2, ("run", 0, 10), ("other", 1, 10))]
    assert Calendar(there, [booking("a", 2, 30, 40)]).longest_end("run", at(60)) == at(30)
    assert Calendar(there, [booking("a", 1, 30, 40)]).longest_end("run", at(60)) == at(60)
    assert Calendar(there, [booking("a", 2, 10, 40)]).longest_end("run", at(60)) == at(10)
    assert Calendar([*there, machine("n", 2)], [booking("a", 2, 30, 40)]).longest_end("run", at(60)) == at(60)


def test_one_that_cannot_be_honoured_gets_the_first_gpus_after_the_others_and_keeps_nobody_back() -> None:
    calendar = Calendar([machine("m", 1, ("run", 0, 10))], [booking("a", 1, 0, 20), booking("b", 1, 12, 15)])
    assert [(seat.booking_id, seat.begin) for seat in calendar.seats()] == [("b", at(12)), ("a", at(15))]
    assert calendar.longest_end("run", at(60)) == at(12)


def test_who_is_too_large_for_all_machines_has_no_seat() -> None:
    assert not Calendar([machine("m", 1)], [booking("a", 2, 5, 9)]).seats()
    assert not Calendar([]).fits(booking("a", 1, 0, 1))


def test_seats_keep_their_machines_while_they_can() -> None:
    there = [machine("m", 1), machine("n", 1)]
    calendar = Calendar(there, [booking("a", 1, 5, 10)])
    assert [seat.machine_id for seat in calendar.seats({"a": {"n"}})] == ["n"]
    assert [seat.machine_id for seat in calendar.seats({"a": {"gone"}})] == ["m"]


def test_one_that_begins_late_counts_on_a_machine_that_is_yet_to_be_started() -> None:
    there = [machine("m", 1), Machine("new", 1, is_known=False)]
    bookings = [booking("a", 1, 5, 50), booking("b", 1, 30, 40)]
    assert {seat.booking_id: seat.machine_id for seat in Calendar(there, bookings, soon=at(9)).seats()} == {
        "a": "m",
        "b": "new",
    }
    assert [seat.machine_id for seat in Calendar(there, bookings[1:], soon=at(9)).seats()] == ["new"]
    assert [seat.machine_id for seat in Calendar(there, bookings[1:]).seats()] == ["m"]
    assert [seat.machine_id for seat in Calendar(there[:1], bookings[1:], soon=at(9)).seats()] == ["m"]


def test_one_of_several_machines_has_all_at_its_begin_or_later_but_never_a_part() -> None:
    there = [machine("m", 8), machine("n", 8, ("run", 0, 30))]
    assert not Calendar(there).fits(booking("both", 8, 10, 20, machines=2))
    assert Calendar(there).nearest_start(booking("both", 8, 10, 20, machines=2), at(60)) == at(30)
    assert not Calendar(there).fits(booking("three", 8, 40, 50, machines=3))
    late = Calendar(there, [booking("both", 8, 10, 20, machines=2)])
    assert [(seat.machine_id, seat.begin) for seat in late.seats()] == [("m", at(30)), ("n", at(30))]
    assert not Calendar([machine("m", 8), machine("n", 8)], late.bookings).fits(booking("one", 1, 19, 30))


def test_several_machines_are_of_one_site_if_one_has_enough_that_are_free() -> None:
    names = {"a": "east", "b": "west", "c": "east", "d": "west"}
    there = [Machine(name, 8, site=(site,)) for name, site in names.items()]

    def seats(*bookings: Booking) -> list[str]:
        found = Calendar(there, bookings).seats({"one": {"a"}})
        return [seat.machine_id for seat in found if seat.booking_id == "both"]

    assert seats(booking("both", 8, 10, 20, machines=2)) == ["a", "c"]
    assert seats(booking("both", 8, 10, 20, machines=2), booking("one", 1, 5, 15)) == ["b", "d"]
    assert seats(booking("both", 8, 10, 20, machines=3)) == ["a", "b", "c"]


@settings(max_examples=examples(300))
@given(machines(), requests())
def test_never_more_is_admitted_than_there_is_at_any_instant(there: list[Machine], asked: list[Booking]) -> None:
    calendar = admitted(there, asked)
    assert is_possible(there, calendar.bookings)
    seats, by_id = calendar.seats(), {one.booking_id: one for one in calendar.bookings}
    gpus_of = {one.machine_id: one for one in there}
    for one in calendar.bookings:
        assert len({seat.machine_id for seat in seats if seat.booking_id == one.booking_id}) == one.machines
    assert len(seats) == sum(one.machines for one in calendar.bookings)
    for seat in seats:
        one = by_id[seat.booking_id]
        assert (seat.begin, len(seat.gpus)) == (one.begin, one.gpus)
        busy = gpus_of[seat.machine_id].busy_until
        assert all(gpu not in busy or busy[gpu] <= one.begin for gpu in seat.gpus)
        for theirs in seats:
            if theirs.booking_id != one.booking_id and by_id[theirs.booking_id].overlaps(one.begin, one.end):
                assert theirs.machine_id != seat.machine_id or not {*theirs.gpus} & {*seat.gpus}


@settings(max_examples=examples(300))
@given(machines(), requests())
def test_one_that_is_refused_really_did_not_fit(there: list[Machine], asked: list[Booking]) -> None:
    calendar = admitted(there, asked[:-1])
    assert calendar.fits(asked[-1]) == is_possible(there, [*calendar.bookings, asked[-1]])


@settings(max_examples=examples(200))
@given(machines(), requests(3))
def test_the_nearest_start_fits_and_no_earlier_one_does(there: list[Machine], asked: list[Booking]) -> None:
    calendar, last = admitted(there, asked[:-1]), asked[-1]
    found = calendar.nearest_start(last, at(HORIZON))
    fitting = [
        at(minute)
        for minute in range(HORIZON)
        if at(minute) >= last.begin and is_possible(there, [*calendar.bookings, last.moved_to(at(minute))])
    ]
    assert found == next(iter(fitting), None)


@settings(max_examples=examples(200))
@given(machines(), requests(3), st.integers(0, 20), st.data())
def test_the_longest_end_is_possible_and_no_later_one_is(
    there: list[Machine], asked: list[Booking], more: int, data: st.DataObject
) -> None:
    calendar = admitted(there, asked)
    users = [use for one in there for use in one.uses]
    if not users:
        return
    use = data.draw(st.sampled_from(users))

    def with_end(end: datetime) -> list[Machine]:
        return [
            Machine(
                one.machine_id,
                one.gpus,
                tuple(Use(had.user_id, had.slot, end if had.user_id == use.user_id else had.end) for had in one.uses),
            )
            for one in there
        ]

    wanted = use.end + timedelta(minutes=more)
    found = calendar.longest_end(use.user_id, wanted)
    assert use.end <= found <= wanted
    assert is_possible(with_end(found), calendar.bookings)
    if found < wanted:
        assert not is_possible(with_end(found + timedelta(minutes=1)), calendar.bookings)
