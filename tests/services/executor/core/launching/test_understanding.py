"""Recordings with memory at any addresses give the same program; any other difference between them is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.executor.core.launching.program import (
    Base,
    Copy,
    Fill,
    Launch,
    LaunchProgram,
    Mark,
    Place,
    Relocation,
    Value,
    Wait,
    Write,
)
from services.executor.core.launching.recording import Kind, NotRecordableError, RecordingError, recording_from_bytes
from services.executor.core.launching.understanding import DifferingError, understood
from tests.services.executor.core.launching.written import Written, apart, launch, record, word

_NUMBERS = st.lists(st.integers(0, 1 << 60), min_size=12, max_size=12, unique=True)
_DRAWN = st.lists(_NUMBERS, min_size=3, max_size=3).map(
    lambda drawn: [apart(numbers, recording) for recording, numbers in enumerate(drawn)]
)
FIXED = [apart([(at * factor) % 97 for at in range(12)], recording) for recording, factor in enumerate((3, 5, 31))]


def program_of(
    write: Callable[[Written, int], None],
    addresses: list[list[int]] | None = None,
    scalars: tuple[dict[int, bytes], ...] = ({}, {}, {}),
) -> LaunchProgram:
    """The program that three recordings show; `write` gets each recording's number."""
    recordings = []
    for number, drawn in enumerate(addresses or FIXED):
        written = Written(drawn)
        write(written, number)
        recordings.append(recording_from_bytes(written.ended()))
    return understood(recordings, scalars)


def calls(write_one: Callable[[Written, list[int], int], None]) -> Callable[[Written, int], None]:
    """Three calls with two arrays of 4096 bytes, all written alike."""

    def write(written: Written, recording: int) -> None:
        del recording
        for number in (1, 2, 3):
            write_one(written, written.call(number, 4096, 4096), number)

    return write


def workspace_and_struct(written: Written, arrays: list[int], number: int) -> None:
    """An argument, one past its end, a struct of pointers that is not aligned, a workspace, a fill and a table."""
    del number
    own = written.allocate(1024)
    packed = b"\x05\x06\x07" + word(arrays[0] + 8) + b"\x09" + word(own - 16)
    written.add(
        launch(word(arrays[0]), word(arrays[1] + 4096), word(17), packed),
        record(Kind.FILL, 0, own, 4, 0xFFFFFFFF, 256),
        record(Kind.COPY, 0, own + 8, arrays[0], 64),
        record(Kind.WRITE, 0, own, strings=(word(1, arrays[1] + 8, 2, own),)),
    )


def expected() -> tuple[object, ...]:
    def argument(index: int, offset: int = 0) -> Place:
        return Place(Base.ARGUMENT, index, offset)

    def own(offset: int = 0) -> Place:
        return Place(Base.WORKSPACE, 0, offset)

    def pointer(place: Place) -> Value:
        return Value(bytes(8), (Relocation(0, place),))

    places = (Relocation(3, argument(0, 8)), Relocation(12, own(-16)))
    packed = Value(b"\x05\x06\x07" + bytes(8) + b"\x09" + bytes(8), places)
    values = (pointer(argument(0)), pointer(argument(1, 4096)), Value(word(17)), packed)
    table = Value(word(1, 0, 2, 0), (Relocation(8, argument(1, 8)), Relocation(24, own())))
    return (
        Launch(0, "k", (4, 1, 1), (256, 1, 1), 0, False, values),
        Fill(0, own(), 4, 0xFFFFFFFF, 256),
        Copy(0, own(8), argument(0), 64),
        Write(0, own(), table),
    )


@settings(max_examples=30)
@given(_DRAWN)
def test_whatever_addresses_are_drawn_the_same_program_comes_out(addresses: list[list[int]]) -> None:
    program = program_of(calls(workspace_and_struct), addresses)
    assert program.later == expected()
    assert program.first == program.later
    assert program.workspaces == (1024,)


@settings(max_examples=30)
@given(_DRAWN, st.integers(0, 2), st.integers(0, 7), st.integers(1, 255))
def test_a_byte_that_differs_for_another_reason_is_refused(
    addresses: list[list[int]], which: int, at: int, difference: int
) -> None:
    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            (array,) = written.call(number, 64)
            value = bytearray(8)
            value[at] ^= difference if recording == which else 0
            written.add(launch(word(array), bytes(value), line=31))

    with pytest.raises(DifferingError, match="argument 2 of k differs from run to run") as caught:
        program_of(write, addresses)
    assert caught.value.line == 31


@pytest.mark.parametrize(
    "disguise",
    [
        lambda a, b: word(~a),
        lambda a, b: word(a - b),
        lambda a, b: word(a)[:6],
        lambda a, b: word(a >> 32) + word(a & 0xFFFFFFFF),
        lambda a, b: word(a)[::-1],
    ],
    ids=["inverted", "a distance", "cut off", "in halves", "turned around"],
)
def test_an_address_in_disguise_is_refused(disguise: Callable[[int, int], bytes]) -> None:
    with pytest.raises(DifferingError, match="argument 1 of k differs from run to run"):
        program_of(calls(lambda written, arrays, number: written.add(launch(disguise(*arrays)))))


@pytest.mark.parametrize("which", range(3))
def test_another_place_in_one_of_the_recordings_is_refused(which: int) -> None:
    """One recording has an address of another place in the array: the offset depends on more than sizes."""

    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            (array,) = written.call(number, 4096)
            written.add(launch(word(array + 64 * (recording == which))))

    with pytest.raises(DifferingError, match="argument 1 of k differs from run to run"):
        program_of(write)


def test_tables_of_very_many_addresses_are_refused() -> None:
    def table(written: Written, arrays: list[int], number: int) -> None:
        del number
        written.add(record(Kind.WRITE, 0, arrays[1], strings=(word(*[arrays[0]] * 512),)) * 40, launch(word(arrays[1])))

    with pytest.raises(NotRecordableError, match="line 7: the device is given tables of more than 50,000 addresses"):
        program_of(calls(table))


def test_a_scalar_that_each_call_is_given_anew_is_filled_in() -> None:
    scalars = tuple({3: bytes([9, number, 7, 0x40])} for number in (1, 5, 200))

    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            (array,) = written.call(number, 64)
            written.add(launch(word(array), b"\x01\x02\x03\x04" + scalars[recording][3]))

    (step,) = program_of(write, scalars=scalars).later
    assert isinstance(step, Launch)
    assert step.arguments[1] == Value(b"\x01\x02\x03\x04" + bytes(4), (Relocation(4, Place(Base.SCALAR, 3, 0), 4),))
    with pytest.raises(DifferingError, match="argument 2 of k differs"):
        program_of(write)


def test_memory_that_is_kept_from_the_first_call_makes_the_first_call_another() -> None:
    kept: dict[int, int] = {}

    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            (array,) = written.call(number, 64)
            if number == 1:
                kept[recording] = written.allocate(512)
                written.add(record(Kind.FILL, 0, kept[recording], 1, 0, 512))
            written.add(launch(word(array), word(kept[recording])))

    program = program_of(write)
    assert program.workspaces == (512,)
    assert [type(step) for step in program.first] == [Fill, Launch]
    assert [type(step) for step in program.later] == [Launch]
    assert program.first[1] == program.later[0]


def test_what_constructors_do_is_part_of_the_first_call() -> None:
    def write(written: Written, recording: int) -> None:
        del recording
        table = written.variable("table", 64)
        written.add(record(Kind.WRITE, 0, table, strings=(bytes(64),)))
        for number in (1, 2, 3):
            written.call(number, 64)
            written.add(launch(word(table)))

    program = program_of(write)
    assert program.variables == ("table",)
    assert [type(step) for step in program.first] == [Write, Launch]
    assert [type(step) for step in program.later] == [Launch]


def test_calls_that_go_on_changing_are_refused() -> None:
    def one(written: Written, arrays: list[int], number: int) -> None:
        written.add(launch(word(arrays[0]), word(number), line=5))

    with pytest.raises(NotRecordableError, match="a second call and a third ask for different things") as caught:
        program_of(calls(one))
    assert caught.value.line == 5


def test_an_array_of_an_earlier_call_is_not_used_again() -> None:
    first: dict[int, int] = {}

    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            (array,) = written.call(number, 64)
            first.setdefault(recording, array)
            written.add(launch(word(first[recording])))

    with pytest.raises(NotRecordableError, match="an address that an earlier call was given"):
        program_of(write)


def test_memory_of_the_host_is_not_given_to_kernels() -> None:
    with pytest.raises(NotRecordableError, match="memory of the host"):
        program_of(calls(lambda w, arrays, _: w.add(launch(word(w.allocate(64, of_host=True))))))


def test_recordings_that_launch_different_kernels_are_refused() -> None:
    def write(written: Written, recording: int) -> None:
        for number in (1, 2, 3):
            written.call(number, 64)
            written.add(launch(kernel=b"k" if recording else b"other"))

    with pytest.raises(DifferingError, match="differs from run to run"):
        program_of(write)


def test_copies_stay_inside_of_their_memory() -> None:
    with pytest.raises(NotRecordableError, match="where memory of 4,096 bytes ends"):
        program_of(calls(lambda w, arrays, _: w.add(record(Kind.FILL, 0, arrays[0] + 4000, 1, 0, 97))))


def test_allocations_that_overlap_are_no_recording() -> None:
    def write(written: Written, recording: int) -> None:
        written.addresses = [1 << 44, (1 << 44) + 4096] * 3
        for number in (1, 2, 3):
            written.call(number, 64, 64)

    with pytest.raises(RecordingError, match="too close together"):
        program_of(write)


def test_a_launch_that_fits_no_device_is_no_recording() -> None:
    with pytest.raises(RecordingError, match="fits no device"):
        program_of(calls(lambda w, arrays, _: w.add(launch(grid=0))))


def test_streams_of_each_call_are_the_same_streams() -> None:
    def one(written: Written, arrays: list[int], number: int) -> None:
        written.add(
            record(Kind.STREAM, number, 1),
            launch(word(arrays[0]), stream=number),
            record(Kind.EVENT, number, number),
            record(Kind.WAIT, 0, number),
            launch(word(arrays[1])),
        )

    program = program_of(calls(one))
    assert program.streams == (1,)
    assert program.first == program.later
    launches = [step.stream for step in program.later if isinstance(step, Launch)]
    assert launches == [1, 0]
    between = [type(step) for step in program.later]
    assert between == [Mark, Wait, Launch, Mark, Wait, Launch, Mark, Wait]


def test_a_stream_that_was_never_made_is_no_recording() -> None:
    with pytest.raises(RecordingError, match="was never made"):
        program_of(calls(lambda w, arrays, _: w.add(launch(stream=9))))
