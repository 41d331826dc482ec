"""Sizes of types in bytes, as x86-64 and AMD's GPUs lay them out in memory."""

from __future__ import annotations

from collections.abc import Mapping

from hipcpu.ir.text import split_list

_SCALAR_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}
# Shared and private memory of AMD's GPUs has short addresses.
_SHORT_POINTERS = ("ptr addrspace(3)", "ptr addrspace(5)")
_NONE: Mapping[str, str] = {}


def is_scalar(kind: str) -> bool:
    """Return True if a type is one number or one plain pointer."""
    return kind.isidentifier()


def address_space_of(kind: str) -> int:
    """Return the number of a pointer's address space."""
    _, _, number = kind.partition("addrspace(")
    return int(number.removesuffix(")") or 0)


def array_of(kind: str) -> tuple[int, str] | None:
    """Return an array's number of elements and their type; None for other types."""
    if kind[:1] != "[":
        return None
    count, _, element = kind[1:-1].partition(" x ")
    return int(count), element


def size_of(kind: str, named: Mapping[str, str] = _NONE) -> int | None:
    """Return the bytes per element of an array of this type; None if the layout is unknown.

    `named` has the definitions of named types.
    """
    kind = named.get(kind, kind)
    if kind[:1] == "i" and kind[1:].isdigit():
        bits = int(kind[1:])
        return max(1, bits // 8) if bits & (bits - 1) == 0 else None
    if kind.startswith("ptr "):
        return 4 if kind in _SHORT_POINTERS else 8
    if found := array_of(kind):
        element = size_of(found[1], named)
        return None if element is None else found[0] * element
    if (members := _members_of(kind)) is not None:
        return _struct_bytes(members, named, packed=kind[0] == "<")
    if kind[:1] == "<":
        count, _, element = kind[1:-1].partition(" x ")
        bytes_ = size_of(element, named)
        return None if bytes_ is None else 1 << (int(count) * bytes_ - 1).bit_length()
    return _SCALAR_BYTES.get(kind)


def alignment_of(kind: str, named: Mapping[str, str] = _NONE) -> int:
    """Return the alignment in bytes; in AMD's data layout it equals the size for all but structs and arrays."""
    kind = named.get(kind, kind)
    if found := array_of(kind):
        return alignment_of(found[1], named)
    if (members := _members_of(kind)) is not None:
        return 1 if kind[0] == "<" else max((alignment_of(each, named) for each in members), default=1)
    return size_of(kind, named) or 1


def _members_of(kind: str) -> list[str] | None:
    """Return the members of a struct; None for other types."""
    inner = kind[1:-1] if kind[:2] == "<{" else kind
    return split_list(inner[1:-1]) if inner[:1] == "{" else None


def _struct_bytes(members: list[str], named: Mapping[str, str], *, packed: bool) -> int | None:
    end, widest = 0, 1
    for member in members:
        size, alignment = size_of(member, named), 1 if packed else alignment_of(member, named)
        if size is None:
            return None
        end = -(-end // alignment) * alignment + size
        widest = max(widest, alignment)
    return -(-end // widest) * widest
