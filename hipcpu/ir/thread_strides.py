"""Strides: by how much each value of a kernel grows from one thread to its neighbour in x, if known.

An access whose address grows by the size of an element becomes one vector access if threads are the vector's elements.
The answer decides what is worth doing, never what is correct: it assumes that values do not wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.value_types import array_of, is_scalar, size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hipcpu.ir.instruction import Instruction

SUMS = frozenset(("add", "sub", "mul", "shl"))
_WIDENINGS = frozenset(("sext", "zext", "trunc"))
_OPAQUE = frozenset(("load", "atomicrmw", "cmpxchg", "alloca"))


@dataclass(frozen=True)
class Stride:
    """Growth of a value from thread to thread in x; `pure` if the rest is the same in the whole block."""

    step: int
    pure: bool = True


Strides = dict[str, "Stride | None"]
"""Strides by name; None, or a missing name, means no known stride."""


def element_bytes(kind: str) -> int | None:
    """Return the size in bytes of a scalar or an array of scalars; None for other types."""
    inner = kind
    while found := array_of(inner):
        inner = found[1]
    return size_of(kind) if is_scalar(inner) else None


def stride_of(operand: str, strides: Mapping[str, Stride | None]) -> Stride | None:
    """Return the stride of an operand; constants and symbols do not grow."""
    return strides.get(operand) if operand.startswith("%") else Stride(0)


def strides_of(body: Iterable[Instruction], given: Mapping[str, Stride | None]) -> Strides:
    """Analyse a kernel's body in SSA form; `given` holds the strides of parameters and of other known values.

    A value that depends on itself is first assumed to have the stride that the rest gives it.
    """
    definitions = [(one, _sources(one)) for one in body if one.result and one.result not in given]
    strides: Strides = dict(given)
    changed = True
    while changed:
        changed = False
        for one, sources in definitions:
            seen = [source for source in sources if source[0] != "%" or source in strides]
            if len(seen) < len(sources) and (one.opcode != "phi" or not seen):
                continue
            now = _stride(one, seen, strides)
            if one.result not in strides:
                strides[one.result] = now
                changed = True
            elif strides[one.result] not in (now, None):
                strides[one.result] = None
                changed = True
    return strides


def _sources(one: Instruction) -> list[str]:
    return [operand.value for operand in one.operands] if one.opcode == "phi" else one.names


def is_sum(one: Instruction) -> bool:
    """Return True if the instruction adds, subtracts or multiplies integers."""
    return is_scalar(one.type) and (one.opcode in SUMS or (one.opcode == "or" and "disjoint" in one.flags))


def _stride(one: Instruction, sources: list[str], strides: Strides) -> Stride | None:
    if one.opcode in _OPAQUE or (one.opcode == "call" and not one.calls("@llvm.")):
        return None
    found = [stride_of(source, strides) for source in sources]
    if one.opcode == "phi":
        return found[0] if len(set(found)) == 1 else None
    if one.opcode == "getelementptr":
        return _of_address(one, strides)
    if is_sum(one):
        left, right = one.operands
        return _of_sum(one.opcode, stride_of(left.value, strides), stride_of(right.value, strides), right.value)
    if one.opcode in _WIDENINGS and is_scalar(one.type):
        return stride_of(one.operands[0].value, strides)
    return _unless_growing(found)


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


def _of_address(one: Instruction, strides: Strides) -> Stride | None:
    kind = one.element_type
    base, *indices = one.operands
    total = stride_of(base.value, strides)
    for number, operand in enumerate(indices):
        if number and (found := array_of(kind)):
            kind = found[1]
        index, size = stride_of(operand.value, strides), element_bytes(kind)
        if total is None or index is None or (index.step and size is None):
            return None
        total = Stride(total.step + index.step * (size or 0), total.pure and index.pure)
    return total
