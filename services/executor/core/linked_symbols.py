"""Which functions a finished build links to, however its source hid their names."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterable

_TABLES = (".symtab", ".dynsym")
# The CUDA runtime is linked statically, and loads the driver itself.
_LOADS_ITS_DRIVER = b"\0cudaGetDeviceCount\0"


def linked_symbols(executable: bytes, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that an ELF file defines or asks for; none for what is no ELF file."""
    # Reading a symbol table takes long: first see whether the name is anywhere.
    possible = {name for name in names if f"\0{name}\0".encode() in executable}
    if not possible or _LOADS_ITS_DRIVER in executable:
        return ()
    try:
        file = cast("Any", ELFFile(io.BytesIO(executable)))
        tables = [table for name in _TABLES if (table := file.get_section_by_name(name))]
        return tuple(sorted(possible & {symbol.name for table in tables for symbol in table.iter_symbols()}))
    except (ELFError, AttributeError):
        return ()
