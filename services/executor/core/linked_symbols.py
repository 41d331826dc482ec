"""Which functions a finished build links to, however its source hid their names."""

from __future__ import annotations

import io
import re
from fnmatch import translate
from typing import TYPE_CHECKING, Any, Literal, cast

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TABLES = (".symtab", ".dynsym")
_ANY = "*"


def linked_symbols(executable: bytes, patterns: Iterable[str]) -> tuple[str, ...]:
    """The symbols that an ELF file defines or asks for and that a pattern is for; none for what is no ELF file."""
    # Reading a symbol table takes long: first see whether such a name is anywhere.
    possible = [pattern for pattern in patterns if _may_hold(executable, pattern)]
    if not possible:
        return ()
    wanted = re.compile("|".join(map(translate, possible)))
    try:
        file = cast("Any", ELFFile(io.BytesIO(executable)))
        tables = [table for name in _TABLES if (table := file.get_section_by_name(name))]
        order = "little" if file.little_endian else "big"
        names = {
            name
            for table in tables
            for name in _names(table.data(), table["sh_entsize"], file.get_section(table["sh_link"]).data(), order)
        }
    except (ELFError, AttributeError, ValueError):
        return ()
    return tuple(sorted(name for name in names if wanted.fullmatch(name)))


def _names(entries: bytes, entry_bytes: int, strings: bytes, order: Literal["little", "big"]) -> Iterator[str]:
    """Of a table's symbols; the library would read all else that is in them, which takes seven times as long.

    Each begins with the place of its name, in four bytes, in files of either class (System V gABI, chapter 4).
    """
    for at in range(0, len(entries), entry_bytes):
        place = int.from_bytes(entries[at : at + 4], order)
        yield strings[place : strings.find(b"\0", place)].decode(errors="replace")


def _may_hold(data: bytes, pattern: str) -> bool:
    """Whether `data` has such a text between two zeros, or the beginning of it where it is a pattern.

    Executables are full of zeros, so that a search for those takes long.
    """
    beginning, some, _ = pattern.encode().partition(_ANY.encode())
    if some:
        return beginning in data and b"\0%b" % beginning in data
    return beginning in data and b"\0%b\0" % beginning in data
