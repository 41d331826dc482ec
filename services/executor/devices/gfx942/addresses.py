"""Addresses and indices of a kernel as polynomials over a thread's place in its block.

The unknowns are `x`, `y` and `z` (the thread's place in its block), values that are the same for all threads of a
wavefront (`u:NAME`; kernel arguments, block indices), the number of past iterations of a loop (`loop:NAME`) and
anything else (`v:NAME`), which may differ from thread to thread in an unknown way. A claim may only be made about an
expression without `v:`.

Theory of operation: threads of a wavefront that are in a loop together are in the same iteration, so `start + n * step`
of an induction variable has the same n for all of them. A 64-thread wavefront is a row of a block in x as long as
blocks are at least that wide; `x & 63` then names the same lane as `x`, and `x >> 6` is the same for all lanes.
Arithmetic is taken as exact: a kernel whose indices overflow has other problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hipcpu.ir.instruction import SAME_VALUE, Instruction
from hipcpu.ir.text import words
from hipcpu.ir.value_types import array_of, is_scalar, size_of
from services.executor.devices.gfx942.kernel import Kernel
from services.executor.devices.gfx942.polynomial import Polynomial

_WORKITEM = "@llvm.amdgcn.workitem.id."
_UNIFORM = "workgroup.id. workgroup.size. dispatch.ptr implicitarg.ptr kernarg.segment.ptr readfirstlane s."
_UNIFORM_CALLS = tuple(f"@llvm.amdgcn.{name}" for name in words(_UNIFORM))
_ARITHMETIC = frozenset(words("add sub mul or shl and lshr"))
_LANE_BITS = 6
_MAX_DEPTH = 200
_CONSTANTS = frozenset(("true", "false", "null", "poison", "undef"))


class Addresses:
    """Polynomials of one kernel's values; each is computed once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[str, Polynomial] = {}
        self._open: set[str] = set()

    def of(self, name: str) -> Polynomial:
        """Return the polynomial of a value or number, given as it is written in the text."""
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
        """Return True if the value may differ among the threads of a wavefront."""
        return any(part in {"x", "y", "z"} or part.startswith("v:") for part in self.of(name).unknowns)

    def _work_out(self, name: str) -> Polynomial:
        one = self._kernel.definitions.get(name)
        if one is None:
            return Polynomial.unknown(f"u:{name}")
        found = self._sum_of(one)
        return found if found is not None else self._opaque(one)

    def _sum_of(self, one: Instruction) -> Polynomial | None:
        """Return an instruction's polynomial from its operands; None if there is no rule for it."""
        if one.opcode in _ARITHMETIC:
            return self._arithmetic(one) if is_scalar(one.type) else None
        if one.opcode in SAME_VALUE:
            return self.of(one.operands[0].value)
        if one.opcode == "getelementptr":
            offset = offset_of(one, self.of, self._kernel.types)
            return self.of(one.operands[0].value).plus(offset) if offset is not None else None
        if one.opcode == "phi":
            return self._repeated(one)
        if one.calls(_WORKITEM):
            return Polynomial.unknown(one.callee.removeprefix(_WORKITEM))
        return Polynomial.unknown(f"u:{one.result}") if one.calls(*_UNIFORM_CALLS) else None

    def _opaque(self, one: Instruction) -> Polynomial:
        """Return a new unknown: uniform if all operands are, unless the instruction merges paths or reads memory."""
        inherits = one.opcode not in {"phi", "load", "atomicrmw", "cmpxchg", "call", "alloca"}
        # This memory does not change while a kernel runs.
        inherits |= one.opcode == "load" and one.operands[0].type == "ptr addrspace(4)"
        uniform = inherits and not any(self.varies(operand.value) for operand in one.operands)
        return Polynomial.unknown(f"{'u' if uniform else 'v'}:{one.result}")

    def _arithmetic(self, one: Instruction) -> Polynomial | None:
        left, right = (self.of(operand.value) for operand in one.operands)
        if one.opcode == "add" or (one.opcode == "or" and "disjoint" in one.flags):
            return left.plus(right)
        if one.opcode == "sub":
            return left.plus(right.scaled(-1))
        if one.opcode == "mul":
            return left.times(right)
        return None if right.value is None else self._with_constant(one, left, right.value)

    def _with_constant(self, one: Instruction, left: Polynomial, number: int) -> Polynomial | None:
        if one.opcode == "shl" and 0 <= number < 64:  # noqa: PLR2004  bits of an address
            return left.scaled(1 << number)
        if left != Polynomial.unknown("x"):
            return None
        uniform = Polynomial.unknown(f"u:{one.result}")
        if one.opcode == "lshr" and number >= _LANE_BITS:
            return uniform
        # `x & 63`, or a wider mask, is the lane: x plus a value that is the same in the whole wavefront.
        is_lane = number >= (1 << _LANE_BITS) - 1 and number & (number + 1) == 0
        return left.plus(uniform) if one.opcode == "and" and is_lane else None

    def _repeated(self, phi: Instruction) -> Polynomial | None:
        found = self._induction(phi)
        if found is None:
            return None
        turns = found[1].times(Polynomial.unknown(f"loop:{phi.result}"))
        return found[0].plus(turns) if turns is not None else None

    def _induction(self, phi: Instruction) -> tuple[Polynomial, Polynomial] | None:
        """Return the start and step of a loop's variable; None if the phi is not an induction variable."""
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
            return offset_of(one, self.of, self._kernel.types) if first == phi else None
        if phi not in {first, second}:
            return None
        return self.of(second if first == phi else first).scaled(-1 if one.opcode == "sub" else 1)


def offset_of(one: Instruction, value_of: Callable[[str], Polynomial], types: Mapping[str, str]) -> Polynomial | None:
    """Return the bytes that a `getelementptr` adds to its pointer; None if it steps into a type other than an array."""
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


def row_lengths(kernel: Kernel, addresses: Addresses) -> Iterator[Polynomial]:
    """Yield the bounds that loop variables are compared with, for unrolled loops before they were rounded down."""
    for one in kernel.instructions:
        if one.opcode != "icmp":
            continue
        left, right = (operand.value for operand in one.operands)
        for variable, bound in ((left, right), (right, left)):
            if any(part.startswith("loop:") for part in addresses.of(variable).unknowns):
                yield addresses.of(_unrounded(bound, kernel))


def _unrounded(bound: str, kernel: Kernel) -> str:
    """Return `n` for `n & -4`, the bound of a loop that was unrolled by four."""
    one = kernel.definitions.get(bound)
    if one is None or one.opcode != "and":
        return bound
    value, mask = (operand.value for operand in one.operands)
    return value if mask.lstrip("-").isdigit() and int(mask) & 1 == 0 else bound
