from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.elf import ElfError, ElfFile

NULL, PROGBITS, SYMTAB, STRTAB, DYNAMIC, NOBITS = 0, 1, 2, 3, 6, 8
LAYOUTS = {1: ("HHIIIIIHHHHHH", "IIIIIIIIII", "II"), 2: ("HHIQQQIHHHHHH", "IIQQQQIIQQ", "QQ")}
STRINGS = b"\0libfirst.so\0libsecond.so\0qsort\0"
OWN = Path(sys.executable).resolve().read_bytes()


def elf(bits: int, order: str) -> bytes:
    """A file with a symbol table, a dynamic section and a section without content, of either class and byte order."""
    header, section, entry = (order + layout for layout in LAYOUTS[bits])
    dynamic = struct.pack(entry, 1, 1) + struct.pack(entry, 5, 0) + struct.pack(entry, 1, 13) + struct.pack(entry, 0, 0)
    names = b"\0.dynamic\0.strings\0.symbols\0.zeros\0.names\0"
    rows = [
        (".dynamic", DYNAMIC, dynamic, 2),
        (".strings", STRTAB, STRINGS, 0),
        (".symbols", SYMTAB, b"whatever", 2),
        (".zeros", NOBITS, b"", 0),
        (".names", STRTAB, names, 0),
    ]
    start = 16 + struct.calcsize(header)
    content, headers = b"", [bytes(struct.calcsize(section))]
    for name, kind, data, link in rows:
        size = 1 << 20 if kind == NOBITS else len(data)
        place = names.index(name.encode())
        headers.append(struct.pack(section, place, kind, 0, 0, start + len(content), size, link, 0, 1, 0))
        content += data
    fields = (2, 62, 1, 0, 0, start + len(content), 0, start, 0, 0, struct.calcsize(section), len(headers), 5)
    identity = b"\x7fELF" + bytes([bits, 1 if order == "<" else 2, 1]) + bytes(9)
    return identity + struct.pack(header, *fields) + content + b"".join(headers)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("bits", [1, 2])
def test_either_class_and_byte_order_is_read(bits: int, order: str) -> None:
    file = ElfFile(elf(bits, order))

    assert file.needed_libraries() == ("libfirst.so", "libsecond.so")
    assert file.symbol_names() == {"libfirst.so", "libsecond.so", "qsort"}
    contents = {section.name: section.content for section in file.sections}
    assert (contents[".strings"], contents[".symbols"], contents[".zeros"]) == (STRINGS, b"whatever", b"")


def test_our_own_interpreter_has_code_and_the_c_library_is_needed() -> None:
    file = ElfFile(OWN)

    assert ".text" in {section.name for section in file.sections}
    assert any(name.startswith("libc.") for name in file.needed_libraries())
    assert {"malloc", "Py_BytesMain"} & {name.partition("@")[0] for name in file.symbol_names()}


def test_a_program_without_symbols_names_what_it_is_loaded_with_all_the_same() -> None:
    program = shutil.which("env")
    assert program is not None

    assert any(name.startswith("libc.") for name in ElfFile(Path(program).read_bytes()).needed_libraries())


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01", b"\x7fELF\x07\x01" + bytes(99)]
)
def test_what_is_none_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ElfError):
        ElfFile(data)


@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    whole = bytearray(elf(2, "<"))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        file = ElfFile(damaged)
        file.needed_libraries()
        file.symbol_names()
    except ElfError:
        return
