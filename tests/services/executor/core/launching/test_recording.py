"""A recorder's output is read as a recording or refused, whatever it is: the submission's host code runs there."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.launching.recording import Kind, NotRecordableError, RecordingError, recording_from_bytes
from services.executor.core.launching.understanding import understood
from tests.services.executor.core.launching.written import Written, launch, record, refusal

_WORDS = st.integers(0, (1 << 64) - 1)
_RECORDS = st.one_of(
    st.builds(
        lambda kind, numbers, strings, count: record(kind, *numbers, strings=tuple(strings), count=count),
        st.integers(0, 16),
        st.lists(_WORDS, max_size=10),
        st.lists(st.binary(max_size=20), max_size=4),
        st.booleans(),
    ),
    st.builds(lambda number: record(Kind.CALL, number), st.integers(0, 4)),
    st.builds(lambda *numbers: record(Kind.ALLOCATE, *numbers), _WORDS, _WORDS, _WORDS),
    st.builds(lambda values: launch(*values), st.lists(st.binary(max_size=20), max_size=3)),
    st.just(record(Kind.END)),
)


def honest() -> bytes:
    written = Written([1 << 44, (1 << 44) + (1 << 30), (1 << 44) + (2 << 30)])
    for number in (1, 2, 3):
        (address,) = written.call(number, 64)
        written.add(launch(address.to_bytes(8, "little")))
    return written.ended()


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(RecordingError, NotRecordableError):
        recording_from_bytes(data)


@given(st.lists(st.lists(_RECORDS, max_size=12), min_size=3, max_size=3))
def test_any_three_streams_of_records_are_understood_or_refused(streams: list[list[bytes]]) -> None:
    calls = [record(Kind.CALL, number) for number in (1, 2, 3)]
    with suppress(RecordingError, NotRecordableError):
        understood([recording_from_bytes(b"".join([*calls, *records, record(Kind.END)])) for records in streams])


@given(st.integers(0, len(honest()) - 1), st.integers(0, 255))
def test_a_changed_byte_never_breaks_the_reader(at: int, value: int) -> None:
    data = bytearray(honest())
    data[at] = value
    with suppress(RecordingError, NotRecordableError):
        understood([recording_from_bytes(bytes(data))] * 3)


def test_a_stream_that_is_cut_off_is_no_recording() -> None:
    whole = honest()
    assert len(recording_from_bytes(whole).calls) == 3
    for end in range(len(whole)):
        with pytest.raises((RecordingError, NotRecordableError)):
            recording_from_bytes(whole[:end])


def test_a_recording_that_says_why_it_ended_gives_its_reason_and_line() -> None:
    with pytest.raises(NotRecordableError, match="line 12: hipMemcpy reads a result back") as caught:
        recording_from_bytes(record(Kind.CALL, 1) + refusal("hipMemcpy reads a result back", line=12))
    assert caught.value.line == 12


def test_a_reason_is_short_and_printable() -> None:
    with pytest.raises(NotRecordableError) as caught:
        recording_from_bytes(refusal("\x1b[31m" + "x" * 100_000))
    assert len(caught.value.reason) <= 400
    assert caught.value.reason.isprintable()


@pytest.mark.parametrize("numbers", [(1, 3, 2), (1, 2), (2, 3, 4), (1, 2, 3, 4)])
def test_calls_are_three_and_in_order(numbers: tuple[int, ...]) -> None:
    with pytest.raises(RecordingError):
        recording_from_bytes(b"".join(record(Kind.CALL, number) for number in numbers) + record(Kind.END))


def test_what_comes_behind_the_end_is_left_alone() -> None:
    assert recording_from_bytes(honest() + b"anything") == recording_from_bytes(honest())
