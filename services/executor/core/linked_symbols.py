"""Which functions a finished build links to, however its source hid their names."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

from services.executor.core.elf import ElfError, ElfFile

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANY = "*"


def linked_symbols(executable: bytes, patterns: Iterable[str]) -> tuple[str, ...]:
    """The symbols that an ELF file defines or asks for and that a pattern is for; none for what is no ELF file."""
    # Most builds have none of them anywhere.
    possible = [pattern for pattern in patterns if _may_hold(executable, pattern)]
    if not possible:
        return ()
    wanted = re.compile("|".join(map(translate, possible)))
    try:
        names = ElfFile(executable).symbol_names()
    except ElfError:
        return ()
    return tuple(sorted(name for name in names if wanted.fullmatch(name)))


def _may_hold(data: bytes, pattern: str) -> bool:
    """Whether `data` has such a text between two zeros, or the beginning of it where it is a pattern.

    Executables are full of zeros, so that a search for those takes long.
    """
    beginning, some, _ = pattern.encode().partition(_ANY.encode())
    if some:
        return beginning in data and b"\0%b" % beginning in data
    return beginning in data and b"\0%b\0" % beginning in data
