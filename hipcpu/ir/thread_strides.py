"""By how much each value of a kernel grows from one thread to its neighbour in x, where that is known.

An access whose address grows by the size of an element is one access of a vector when threads are its elements. The
answer decides what is worth doing, never what is right: that values do not wrap around is taken for granted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.ir_text import leading_type, split_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_DEFINITION = re.compile(rf"^\s*({_NAME}) = (.*)$")
_LOCAL = re.compile(_NAME)
_SUM = re.compile(r"^(add|sub|mul|shl|or disjoint) (?:(?:nuw|nsw) )*\w+ ([^\s,]+), ([^\s,]+)$")
_CONVERSION = re.compile(r"^(?:sext|zext|trunc) (?:(?:nneg|nuw|nsw) )*\w+ (\S+) to \w+$")
_INCOMING = re.compile(rf"\[ (\S+), {_NAME} \]")
_ADDRESS = re.compile(r"^getelementptr (?:(?:inbounds|nuw|nusw) )*(.*)$")
_OPAQUE = re.compile(r"^(?:(?:tail |notail )?call (?!.*@llvm\.)|load |atomicrmw |cmpxchg |alloca )")
_ARRAY = re.compile(r"^\[(\d+) x (.*)\]$")
_SIZES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}


@dataclass(frozen=True)
class Stride:
    """What a value grows by from thread to thread in x; `pure` where what remains is the same in the whole block."""

    step: int
    pure: bool = True


Strides = dict[str, "Stride | None"]
"""By name; None is no stride, and a name that is not there has none either."""


def size_of(kind: str) -> int | None:
    """The size in bytes of a scalar or of an array of scalars; None of anything else."""
    if match := _ARRAY.match(kind):
        inner = size_of(match[2])
        return None if inner is None else int(match[1]) * inner
    return _SIZES.get(kind)


def stride_of(operand: str, strides: Mapping[str, Stride | None]) -> Stride | None:
    """The stride of an operand; constants and symbols do not grow."""
    return strides.get(operand) if operand.startswith("%") else Stride(0)


def strides_of(body: Iterable[str], given: Mapping[str, Stride | None]) -> Strides:
    """Analyse a kernel's body in SSA form; `given` are the strides of parameters, and of what is to be taken as given.

    A value that depends on itself is first believed to have the stride that the rest gives it.
    """
    definitions = [(match[1], match[2]) for line in body if (match := _DEFINITION.match(line))]
    definitions = [(name, operation) for name, operation in definitions if name not in given]
    strides: Strides = dict(given)
    changed = True
    while changed:
        changed = False
        for name, operation in definitions:
            sources = _INCOMING.findall(operation) if operation.startswith("phi ") else _LOCAL.findall(operation)
            unseen = [source for source in sources if source.startswith("%") and source not in strides]
            if unseen and (not operation.startswith("phi ") or len(unseen) == len(sources)):
                continue
            now = _stride(operation, [source for source in sources if source not in unseen], strides)
            if name not in strides:
                strides[name] = now
                changed = True
            elif strides[name] not in (now, None):
                strides[name] = None
                changed = True
    return strides


def _stride(operation: str, sources: list[str], strides: Strides) -> Stride | None:
    if _OPAQUE.match(operation):
        return None
    if operation.startswith("phi "):
        found = {stride_of(source, strides) for source in sources}
        return found.pop() if len(found) == 1 else None
    if match := _SUM.match(operation):
        return _of_sum(match[1], stride_of(match[2], strides), stride_of(match[3], strides), match[3])
    if match := _CONVERSION.match(operation):
        return stride_of(match[1], strides)
    if match := _ADDRESS.match(operation):
        return _of_address(split_list(match[1]), strides)
    return _unless_growing([stride_of(source, strides) for source in sources])


def _unless_growing(found: list[Stride | None]) -> Stride | None:
    if any(stride is None or stride.step for stride in found):
        return None
    return Stride(0, all(stride.pure for stride in found if stride))


def _of_sum(kind: str, left: Stride | None, right: Stride | None, factor: str) -> Stride | None:
    if left is None or right is None:
        return None
    pure = left.pure and right.pure
    if kind in ("mul", "shl"):
        if not left.step and not right.step:
            return Stride(0, pure)
        if not factor.isdigit():
            return None
        return Stride(left.step * int(factor) if kind == "mul" else left.step << int(factor), pure)
    return Stride(left.step - right.step if kind == "sub" else left.step + right.step, pure)


def _of_address(parts: list[str], strides: Strides) -> Stride | None:
    """Of `element type, ptr base, index, index...`."""
    kind = leading_type(parts[0])
    total = stride_of(parts[1].rpartition(" ")[2], strides)
    for number, part in enumerate(parts[2:]):
        if number and (match := _ARRAY.match(kind)):
            kind = match[2]
        index, size = stride_of(part.rpartition(" ")[2], strides), size_of(kind)
        if total is None or index is None or (index.step and size is None):
            return None
        total = Stride(total.step + index.step * (size or 0), total.pure and index.pure)
    return total
