"""Sizes of LLVM types, and how far `getelementptr` goes; both from the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.executor.devices.gfx942.polynomial import Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALAR_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_INTEGER = re.compile(r"^i(\d+)$")
_POINTER_BYTES = {"3": 4, "5": 4}
_POINTER = re.compile(r"^ptr(?: addrspace\((\d+)\))?$")
_ARRAY = re.compile(r"^\[(\d+) x (.*)\]$")
_VECTOR = re.compile(r"^<(\d+) x (.*)>$")
_STRUCT = re.compile(r"^(<?)\{(.*)\}>?$")
_FLAGS = re.compile(r"^(?:inbounds|nuw|nusw|inrange\([^)]*\)) ")


def size_of(type_text: str) -> int | None:
    """Bytes of one element of an array of this type; None for types whose layout the text does not say."""
    text = type_text.strip()
    return _scalar_bytes(text) or _aggregate_bytes(text)


def _scalar_bytes(text: str) -> int | None:
    if found := _INTEGER.match(text):
        bits = int(found[1])
        return max(1, bits // 8) if bits & (bits - 1) == 0 else None
    if found := _POINTER.match(text):
        return _POINTER_BYTES.get(found[1] or "", 8)
    return _SCALAR_BYTES.get(text)


def _aggregate_bytes(text: str) -> int | None:
    if found := _ARRAY.match(text):
        element = size_of(found[2])
        return None if element is None else int(found[1]) * element
    if found := _STRUCT.match(text):
        return _struct_bytes(split(found[2]), packed=bool(found[1]))
    if found := _VECTOR.match(text):
        element = size_of(found[2])
        return None if element is None else _vector_bytes(int(found[1]) * element)
    return None


def alignment_of(type_text: str) -> int:
    """Bytes; as AMD's data layout has it, where every type but a struct or an array is as aligned as it is large."""
    text = type_text.strip()
    if found := _ARRAY.match(text):
        return alignment_of(found[2])
    if found := _STRUCT.match(text):
        return 1 if found[1] else max(map(alignment_of, split(found[2])), default=1)
    return size_of(text) or 1


def _struct_bytes(members: list[str], *, packed: bool) -> int | None:
    end, widest = 0, 1
    for member in filter(None, members):
        size, alignment = size_of(member), 1 if packed else alignment_of(member)
        if size is None:
            return None
        end = -(-end // alignment) * alignment + size
        widest = max(widest, alignment)
    return -(-end // widest) * widest


def _vector_bytes(content: int) -> int:
    return 1 << (content - 1).bit_length()


def offset_of(text: str, value_of: Callable[[str], Polynomial]) -> Polynomial | None:
    """What a `getelementptr` adds to its pointer, in bytes; None where it steps into a type that is not an array."""
    while found := _FLAGS.match(text):
        text = text[found.end() :]
    kind, *rest = split(text)
    indices = rest[1:]
    total: Polynomial | None = Polynomial.constant(0)
    for position, index in enumerate(indices):
        if position:
            array = _ARRAY.match(kind.strip())
            if array is None:
                return None
            kind = array[2]
        size = size_of(kind)
        if size is None or total is None:
            return None
        total = total.plus(value_of(index.split()[-1]).scaled(size))
    return total


def split(text: str) -> list[str]:
    """The parts between commas that are in no bracket."""
    parts, depth, start = list[str](), 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "[<({") - (letter in "]>)}")
        if letter == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]
