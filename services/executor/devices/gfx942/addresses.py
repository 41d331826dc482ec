"""What the addresses and indices of a kernel are made of, as polynomials over the place of a thread in its block.

The unknowns are `x`, `y` and `z` (the thread's place in its block), values that are the same for all threads of a
wavefront (`u:NAME`; kernel arguments, block indices), how often a loop has run (`loop:NAME`) and anything else
(`v:NAME`), which may differ from thread to thread in a way that nobody here can tell. A claim may only be made of an
expression without `v:`.

Theory of operation: threads of a wavefront that are in a loop together are in the same iteration, so `start + n * step`
of an induction variable has the same n for all of them. A 64-thread wavefront is a row of a block in x as long as
blocks are at least that wide; `x & 63` then names the same lane as `x`, and `x >> 6` is the same for all lanes.
Arithmetic is taken as exact: a kernel whose indices overflow has other worries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.ir.instruction import SAME_VALUE
from hipcpu.ir.text import words
from hipcpu.ir.value_types import array_of, is_scalar, size_of
from services.executor.devices.gfx942.polynomial import Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hipcpu.ir.instruction import Instruction
    from services.executor.devices.gfx942.kernel import Kernel

_WORKITEM = "@llvm.amdgcn.workitem.id."
_UNIFORM = "workgroup.id. workgroup.size. dispatch.ptr implicitarg.ptr kernarg.segment.ptr readfirstlane s."
_UNIFORM_CALLS = tuple(f"@llvm.amdgcn.{name}" for name in words(_UNIFORM))
_LANE_BITS = 6
_CONSTANTS = frozenset(("true", "false", "null", "poison", "undef"))


class Addresses:
    """Polynomials of one kernel's values; each is worked out once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[str, Polynomial] = {}
        self._open: set[str] = set()

    def of(self, name: str) -> Polynomial:
        """The polynomial of a value or a number as they stand in the text."""
        if name in _CONSTANTS:
            return Polynomial.constant(int(name == "true"))
        if name.lstrip("-").isdigit():
            return Polynomial.constant(int(name))
        if name not in self._known:
            if name in self._open or len(self._open) > _MAX_DEPTH:
                return Polynomial.unknown(f"v:{name}")
            self._open.add(name)
            self._known[name] = self._work_out(name)
            self._open.discard(name)
        return self._known[name]

    def varies(self, name: str) -> bool:
        """Whether the value may differ among the threads of a wavefront, as far as can be told."""
        return any(part in {"x", "y", "z"} or part.startswith("v:") for part in self.of(name).unknowns)

    def _work_out(self, name: str) -> Polynomial:
        one = self._kernel.definitions.get(name)
        if one is None:
            return Polynomial.unknown(f"u:{name}")
        rule = _RULES.get(one.opcode)
        found = rule(self, one) if rule else None
        return found if found is not None else self._opaque(one)

    def _opaque(self, one: Instruction) -> Polynomial:
        """A value of its own: uniform if all that it is made of is, and it is no merge of paths or memory."""
        inherits = one.opcode not in {"phi", "load", "atomicrmw", "cmpxchg", "call", "alloca"}
        # That memory does not change while a kernel runs.
        inherits |= one.opcode == "load" and one.operands[0].type == "ptr addrspace(4)"
        uniform = inherits and not any(self.varies(operand.value) for operand in one.operands)
        return Polynomial.unknown(f"{'u' if uniform else 'v'}:{one.result}")

    def binary(self, one: Instruction) -> tuple[Polynomial, Polynomial] | None:
        """Both operands of an arithmetic operation."""
        if not is_scalar(one.type):
            return None
        left, right = one.operands
        return self.of(left.value), self.of(right.value)

    def offset(self, one: Instruction) -> Polynomial | None:
        """What a `getelementptr` adds to its pointer, in bytes."""
        return offset_of(one, self.of, self._kernel.types)

    def induction(self, phi: Instruction) -> tuple[Polynomial, Polynomial] | None:
        """Start and step of a loop's variable; None for a phi that is none."""
        if len(phi.operands) != 2:  # noqa: PLR2004  a start and a next value
            return None
        for index in (0, 1):
            step = self._step(phi.result, phi.operands[index].value)
            if step is not None:
                return self.of(phi.operands[1 - index].value), step
        return None

    def _step(self, phi: str, following: str) -> Polynomial | None:
        one = self._kernel.definitions.get(following)
        if one is None or one.opcode not in {"add", "sub", "getelementptr"} or not is_scalar(one.type):
            return None
        first, second = one.operands[0].value, one.operands[1].value
        if one.opcode == "getelementptr":
            return self.offset(one) if first == phi else None
        if phi not in {first, second}:
            return None
        return self.of(second if first == phi else first).scaled(-1 if one.opcode == "sub" else 1)


def offset_of(one: Instruction, value_of: Callable[[str], Polynomial], types: Mapping[str, str]) -> Polynomial | None:
    """What a `getelementptr` adds to its pointer, in bytes; None if it steps into a type that is not an array."""
    kind = one.element_type
    total: Polynomial | None = Polynomial.constant(0)
    for position, index in enumerate(one.operands[1:]):
        if position:
            array = array_of(types.get(kind, kind))
            if array is None:
                return None
            kind = array[1]
        size = size_of(kind, types)
        if size is None or total is None:
            return None
        total = total.plus(value_of(index.value).scaled(size))
    return total


_MAX_DEPTH = 200


def _add(addresses: Addresses, one: Instruction) -> Polynomial | None:
    both = addresses.binary(one)
    return both[0].plus(both[1]) if both else None


def _subtract(addresses: Addresses, one: Instruction) -> Polynomial | None:
    both = addresses.binary(one)
    return both[0].plus(both[1].scaled(-1)) if both else None


def _multiply(addresses: Addresses, one: Instruction) -> Polynomial | None:
    both = addresses.binary(one)
    return both[0].times(both[1]) if both else None


def _or(addresses: Addresses, one: Instruction) -> Polynomial | None:
    return _add(addresses, one) if "disjoint" in one.flags else None


def _shift(addresses: Addresses, one: Instruction) -> Polynomial | None:
    both = addresses.binary(one)
    count = both[1].value if both else None
    return both[0].scaled(1 << count) if both and count is not None and 0 <= count < 64 else None  # noqa: PLR2004  bits of an address


def _mask(addresses: Addresses, one: Instruction) -> Polynomial | None:
    """`x & 63`, and wider, is the lane: x but for what is the same in the whole wavefront."""
    both = addresses.binary(one)
    mask = both[1].value if both else None
    if both is None or mask is None or both[0] != Polynomial.unknown("x"):
        return None
    is_lane = mask >= (1 << _LANE_BITS) - 1 and mask & (mask + 1) == 0
    return Polynomial.unknown("x").plus(Polynomial.unknown(f"u:{one.result}")) if is_lane else None


def _shift_right(addresses: Addresses, one: Instruction) -> Polynomial | None:
    both = addresses.binary(one)
    count = both[1].value if both else None
    if both is None or count is None or count < _LANE_BITS or both[0] != Polynomial.unknown("x"):
        return None
    return Polynomial.unknown(f"u:{one.result}")


def _cast(addresses: Addresses, one: Instruction) -> Polynomial | None:
    return addresses.of(one.operands[0].value)


def _pointer(addresses: Addresses, one: Instruction) -> Polynomial | None:
    offset = addresses.offset(one)
    return addresses.of(one.operands[0].value).plus(offset) if offset is not None else None


def _phi(addresses: Addresses, one: Instruction) -> Polynomial | None:
    found = addresses.induction(one)
    if found is None:
        return None
    turns = found[1].times(Polynomial.unknown(f"loop:{one.result}"))
    return found[0].plus(turns) if turns is not None else None


def _call(_addresses: Addresses, one: Instruction) -> Polynomial | None:
    if one.calls(_WORKITEM):
        return Polynomial.unknown(one.callee.removeprefix(_WORKITEM))
    return Polynomial.unknown(f"u:{one.result}") if one.calls(*_UNIFORM_CALLS) else None


_RULES: dict[str, Callable[[Addresses, Instruction], Polynomial | None]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "or": _or,
    "shl": _shift,
    "and": _mask,
    "lshr": _shift_right,
    "getelementptr": _pointer,
    "phi": _phi,
    "call": _call,
    **dict.fromkeys(SAME_VALUE, _cast),
}
