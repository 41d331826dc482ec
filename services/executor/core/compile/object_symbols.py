"""Lists the functions and variables that an object file defines or asks for, even if its source hid their names.

An object file of the host holds the device's object files in a section, whole ELF files one after another; a bundle of
code objects has the same form. So the symbols of every ELF file in the data are returned. Compressed device code is not
read: it is not linked, and calls nothing that its compiler did not know.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Literal, cast

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_ELF = re.compile(rb"\x7fELF")
_TABLES = (".symtab", ".dynsym")
_UNREADABLE = (ELFError, AttributeError, ValueError, OSError)
"""Errors that the library raises for bytes that only begin like an ELF file."""


def object_symbols(data: bytes) -> tuple[str, ...]:
    """Returns the sorted names; none if there is no ELF file. A version in a name (`dlopen@V`) is left out."""
    names = {name.partition("@")[0] for found in _ELF.finditer(data) for name in _symbols_at(data, found.start())}
    return tuple(sorted(names - {""}))


def _symbols_at(data: bytes, start: int) -> list[str]:
    try:
        file = cast("Any", ELFFile(io.BytesIO(memoryview(data)[start:])))
        tables = [table for name in _TABLES if (table := file.get_section_by_name(name))]
        order = "little" if file.little_endian else "big"
        return [
            name
            for table in tables
            for name in _names(table.data(), table["sh_entsize"], file.get_section(table["sh_link"]).data(), order)
        ]
    except _UNREADABLE:
        return []


def _names(entries: bytes, entry_bytes: int, strings: bytes, order: Literal["little", "big"]) -> Iterator[str]:
    """Yields the names of a table's symbols. The library would read all fields, which takes seven times as long.

    Each entry begins with the place of its name, in four bytes, in both classes of files (System V gABI, chapter 4).
    """
    for at in range(0, len(entries), entry_bytes):
        place = int.from_bytes(entries[at : at + 4], order)
        yield strings[place : strings.find(b"\0", place)].decode(errors="replace")
