"""The sections of an ELF file: as much of the format as verdicts and reports ask for.

The layout is that of the System V gABI, chapter 4 (and elf(5)). Every run reads its executable so, somebody waits for
it, and a general reader takes milliseconds for each look.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_MAGIC = b"\x7fELF"
_IDENTITY_BYTES = 16
_CLASSES = {1: ("HHIIIIIHHHHHH", "IIIIIIIIII", "II"), 2: ("HHIQQQIHHHHHH", "IIQQQQIIQQ", "QQ")}
"""Of 32 and 64 bits: the rest of the file's header, a section's header, an entry of the dynamic section."""
_BYTE_ORDERS = {1: "<", 2: ">"}
_SYMBOLS, _DYNAMIC, _NO_BITS, _DYNAMIC_SYMBOLS = 2, 6, 8, 11
_IN_FIRST_SECTION = 0xFFFF
"""The number of the section with the names, where it is too large for the header."""
_NEEDED = 1
EXECUTABLE = 0x4
"""The flag of a section whose bytes may be executed."""


class ElfError(ValueError):
    """It is no ELF file, or a damaged one."""


@dataclass(frozen=True)
class Section:
    """A section; `link` is the number of the one that has its names, for those with names."""

    name: str
    kind: int
    flags: int
    link: int
    content: memoryview
    """The file's own bytes, as no section is copied before somebody needs it."""


class ElfFile:
    """An ELF file in memory; raises ElfError for what is none."""

    def __init__(self, data: bytes) -> None:
        try:
            self._dynamic_entry, self.sections = _sections(data)
        except (struct.error, KeyError, IndexError) as error:
            raise ElfError(f"it is no ELF file, or a damaged one: {error}") from error

    def symbol_names(self) -> frozenset[str]:
        """The names of everything that the file defines or asks for."""
        tables = {section.link for section in self.sections if section.kind in {_SYMBOLS, _DYNAMIC_SYMBOLS}}
        names = {name for table in tables for name in self._strings(table).split(b"\0")}
        return frozenset(name.decode(errors="replace") for name in names if name)

    def needed_libraries(self) -> tuple[str, ...]:
        """The shared libraries that the file is loaded with, in its order."""
        found: list[str] = []
        for section in self.sections:
            if section.kind == _DYNAMIC:
                whole = len(section.content) - len(section.content) % self._dynamic_entry.size
                entries = self._dynamic_entry.iter_unpack(section.content[:whole])
                strings = self._strings(section.link)
                found += [_string(strings, place) for tag, place in entries if tag == _NEEDED]
        return tuple(found)

    def _strings(self, number: int) -> bytes:
        return bytes(self.sections[number].content) if number < len(self.sections) else b""


def _sections(data: bytes) -> tuple[struct.Struct, tuple[Section, ...]]:
    if data[:4] != _MAGIC:
        raise KeyError("it does not begin as one")
    order = _BYTE_ORDERS[data[5]]
    header, section_header, dynamic_entry = (struct.Struct(order + layout) for layout in _CLASSES[data[4]])
    fields = header.unpack_from(data, _IDENTITY_BYTES)
    start, size, count, names_at = int(fields[5]), int(fields[10]), int(fields[11]), int(fields[12])
    if start == 0:
        return dynamic_entry, ()
    if size != section_header.size:
        raise KeyError(f"its section headers have {size} bytes")
    first = section_header.unpack_from(data, start)
    count = count or first[5]
    names_at = first[6] if names_at == _IN_FIRST_SECTION else names_at
    rows: list[tuple[int, ...]] = [section_header.unpack_from(data, start + at * size) for at in range(count)]
    view = memoryview(data)
    names = bytes(_content(view, rows[names_at])) if names_at else b""
    return dynamic_entry, tuple(
        Section(_string(names, row[0]), row[1], row[2], row[6], _content(view, row)) for row in rows
    )


def _content(data: memoryview, row: tuple[int, ...]) -> memoryview:
    kind, start, size = row[1], row[4], row[5]
    return data[:0] if kind == _NO_BITS else data[start : start + size]


def _string(strings: bytes, place: int) -> str:
    end = strings.find(b"\0", place)
    return strings[place : end if end >= 0 else len(strings)].decode(errors="replace")
