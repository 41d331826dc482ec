"""Reads a recorder's output with suspicion: the recorder runs the submission's host code, so it may hold any bytes.

`hipcpu/runtime/recorder/record.h` describes the records. Whatever the bytes are, the result is a Recording, a
RecordingError or a NotRecordableError.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

MOST_BYTES = 192 << 20
"""A size that no recorder of ours reaches."""
CALLS = 3
_MOST_RECORDS = 500_000
_MOST_ARGUMENTS = 1_024
_MOST_NAME_BYTES = 16_384
_MOST_TEXT = 400
_HEAD = struct.Struct("<IIQ")
_WORD = struct.Struct("<Q")


class Kind(IntEnum):
    """The kinds of records that a recorder writes."""

    VARIABLE = 1
    CALL = 2
    ARGUMENT = 3
    ALLOCATE = 4
    LAUNCH = 5
    COPY = 6
    WRITE = 7
    FILL = 8
    STREAM = 9
    EVENT = 10
    WAIT = 11
    SYNCHRONISE = 12
    REFUSED = 13
    END = 14


# The number of integers in a record, and of byte strings. A launch has more strings, with their count before them.
_FORMS = {
    Kind.VARIABLE: (2, 1),
    Kind.CALL: (1, 0),
    Kind.ARGUMENT: (3, 0),
    Kind.ALLOCATE: (3, 0),
    Kind.LAUNCH: (9, 1),
    Kind.COPY: (4, 0),
    Kind.WRITE: (2, 1),
    Kind.FILL: (5, 0),
    Kind.STREAM: (2, 0),
    Kind.EVENT: (2, 0),
    Kind.WAIT: (2, 0),
    Kind.SYNCHRONISE: (1, 0),
    Kind.REFUSED: (1, 1),
    Kind.END: (0, 0),
}


class Explains(IntEnum):
    """Likely end on a device of a call that cannot be recorded. `runtime/recorder/record.h` has the same values."""

    NOTHING = 0
    CRASH = 1
    TIME_LIMIT = 2


class RecordingError(ValueError):
    """The bytes are not a valid recording."""


class NotRecordableError(Exception):
    """There can be no launch program; `line` is the source's line, 0 if it is not known.

    `explains` says how a run on a device is likely to end for the same reason.
    """

    def __init__(self, reason: str, line: int = 0, explains: int = Explains.NOTHING) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.reason = reason
        self.line = line
        self.explains = explains


@dataclass(frozen=True)
class Record:
    """One record: its numbers and byte strings in order."""

    kind: Kind
    line: int
    numbers: tuple[int, ...] = ()
    strings: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Recording:
    """The records before the first call, and those of each call."""

    before: tuple[Record, ...]
    calls: tuple[tuple[Record, ...], ...]


def recording_from_bytes(data: bytes) -> Recording:
    """Parses a recording; raises RecordingError, or NotRecordableError if it ended early, with or without a reason."""
    if len(data) > MOST_BYTES:
        raise RecordingError(f"it is larger than {MOST_BYTES >> 20} MiB")
    segments: list[list[Record]] = [[]]
    records = _records(data)
    for record in records:
        if record.kind is Kind.REFUSED:
            raise NotRecordableError(_text(record.strings[0]), record.line, record.numbers[0])
        if record.kind is Kind.END:
            break
        if record.kind is Kind.CALL:
            if record.numbers[0] != len(segments):
                raise RecordingError("its calls are not in order")
            segments.append([])
        else:
            segments[-1].append(record)
    else:
        raise NotRecordableError("the process that recorded `solution` ended before its calls were made")
    if len(segments) != CALLS + 1:
        raise RecordingError(f"it has {len(segments) - 1} calls, not {CALLS}")
    return Recording(tuple(segments[0]), tuple(map(tuple, segments[1:])))


def _records(data: bytes) -> list[Record]:
    """The records up to the first that ends a recording; anything after it is ignored."""
    found: list[Record] = []
    at = 0
    while at < len(data):
        if at + _HEAD.size > len(data):
            raise RecordingError("it is cut off")
        number, line, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if size > len(data) - at:
            raise RecordingError("it is cut off")
        try:
            kind = Kind(number)
        except ValueError as error:
            raise RecordingError(f"it has a record of kind {number}") from error
        found.append(_Reader(data[at : at + size]).record(kind, line))
        if kind in {Kind.REFUSED, Kind.END}:
            break
        if len(found) > _MOST_RECORDS:
            raise RecordingError(f"it has more than {_MOST_RECORDS:,} records")
        at += size
    return found


class _Reader:
    """Reads the numbers and strings of one record."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def record(self, kind: Kind, line: int) -> Record:
        """Reads the whole record; raises RecordingError if it is too short or too long."""
        numbers, strings = _FORMS[kind]
        read_numbers = tuple(self._number() for _ in range(numbers))
        read_strings = [self._string() for _ in range(strings)]
        if kind is Kind.LAUNCH:
            count = self._number()
            if count > _MOST_ARGUMENTS:
                raise RecordingError(f"a launch has {count:,} arguments")
            read_strings += [self._string() for _ in range(count)]
        if kind in {Kind.LAUNCH, Kind.VARIABLE} and not 0 < len(read_strings[0]) <= _MOST_NAME_BYTES:
            raise RecordingError("a name is empty, or too long")
        if self._at != len(self._data):
            raise RecordingError("a record is longer than what is in it")
        return Record(kind, line, read_numbers, tuple(read_strings))

    def _number(self) -> int:
        if self._at + _WORD.size > len(self._data):
            raise RecordingError("a record is cut off")
        (value,) = _WORD.unpack_from(self._data, self._at)
        self._at += _WORD.size
        return int(value)

    def _string(self) -> bytes:
        size = self._number()
        if size > len(self._data) - self._at:
            raise RecordingError("a record is cut off")
        self._at += size
        return self._data[self._at - size : self._at]


def _text(data: bytes) -> str:
    text = data[:_MOST_TEXT].decode(errors="replace")
    return "".join(character if character.isprintable() else " " for character in text)
