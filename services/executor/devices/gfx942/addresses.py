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

import re
from typing import TYPE_CHECKING

from services.executor.devices.gfx942.polynomial import Polynomial
from services.executor.devices.gfx942.value_types import offset_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.executor.devices.gfx942.ir import Kernel, Operation

_WORKITEM = re.compile(r"@llvm\.amdgcn\.workitem\.id\.([xyz])\(")
_UNIFORM_CALL = re.compile(
    r"@llvm\.amdgcn\.(?:workgroup\.id\.[xyz]|dispatch\.ptr|implicitarg\.ptr|kernarg\.segment\.ptr|readfirstlane[.\w]*|"
    r"s\.\w+|workgroup\.size\.\w)\("
)
_LANE_BITS = 6
_EXTENSIONS = frozenset({"zext", "sext", "trunc", "bitcast", "addrspacecast", "freeze", "inttoptr", "ptrtoint"})
_OPERAND = r'(?:[%@](?:"[^"]*"|[-\w$.]+)|-?\d+|true|false|null|poison|undef)'
_BINARY = re.compile(rf"^(?:(?:nuw|nsw|exact|disjoint) )*\w+ (?P<left>{_OPERAND}), (?P<right>{_OPERAND})")
_CAST = re.compile(rf"^(?:(?:nneg|nuw|nsw) )*[^%@]*?(?P<value>{_OPERAND})(?: to |$)")
_INCOMING = re.compile(rf"\[ (?P<value>{_OPERAND}), (?P<block>%(?:\"[^\"]*\"|[-\w$.]+)) \]")


class Addresses:
    """Polynomials of one kernel's values; each is worked out once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[str, Polynomial] = {}
        self._open: set[str] = set()

    def of(self, name: str) -> Polynomial:
        """The polynomial of a value or a number as they stand in the text."""
        if name in {"true", "false", "null", "poison", "undef"}:
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
        operation = self._kernel.definitions.get(name)
        if operation is None:
            return Polynomial.unknown(f"u:{name}")
        rule = _RULES.get(operation.opcode)
        found = rule(self, operation) if rule else None
        return found if found is not None else self._opaque(operation)

    def _opaque(self, operation: Operation) -> Polynomial:
        """A value of its own: uniform where all that it is made of is, and it is no merge of paths or memory."""
        inherits = operation.opcode not in {"phi", "load", "atomicrmw", "cmpxchg", "call", "alloca"}
        uniform = inherits and not any(self.varies(operand) for operand in operation.operands if operand[0] == "%")
        if operation.opcode == "load" and "addrspace(4)" in operation.text:
            uniform = not any(self.varies(operand) for operand in operation.operands)
        return Polynomial.unknown(f"{'u' if uniform else 'v'}:{operation.result}")

    def binary(self, operation: Operation) -> tuple[Polynomial, Polynomial] | None:
        """Both operands of an arithmetic operation."""
        found = _BINARY.match(operation.text)
        return (self.of(found["left"]), self.of(found["right"])) if found else None

    def induction(self, operation: Operation) -> tuple[Polynomial, Polynomial] | None:
        """Start and step of a loop's variable; None for a phi that is none."""
        incoming = _INCOMING.findall(operation.text)
        if len(incoming) != 2:  # noqa: PLR2004  a start and a next value
            return None
        for index in (0, 1):
            step = self._step(operation.result, incoming[index][0])
            if step is not None:
                return self.of(incoming[1 - index][0]), step
        return None

    def _step(self, phi: str, following: str) -> Polynomial | None:
        next_value = self._kernel.definitions.get(following)
        if next_value is None or next_value.opcode not in {"add", "sub", "getelementptr"}:
            return None
        if next_value.opcode == "getelementptr":
            if not next_value.operands or next_value.operands[0] != phi:
                return None
            return offset_of(next_value.text, self.of)
        found = _BINARY.match(next_value.text)
        if found is None or phi not in {found["left"], found["right"]}:
            return None
        other = found["right"] if found["left"] == phi else found["left"]
        return self.of(other).scaled(-1 if next_value.opcode == "sub" else 1)


_MAX_DEPTH = 200


def _add(addresses: Addresses, operation: Operation) -> Polynomial | None:
    both = addresses.binary(operation)
    return both[0].plus(both[1]) if both else None


def _subtract(addresses: Addresses, operation: Operation) -> Polynomial | None:
    both = addresses.binary(operation)
    return both[0].plus(both[1].scaled(-1)) if both else None


def _multiply(addresses: Addresses, operation: Operation) -> Polynomial | None:
    both = addresses.binary(operation)
    return both[0].times(both[1]) if both else None


def _or(addresses: Addresses, operation: Operation) -> Polynomial | None:
    return _add(addresses, operation) if operation.text.startswith("disjoint ") else None


def _shift(addresses: Addresses, operation: Operation) -> Polynomial | None:
    both = addresses.binary(operation)
    count = both[1].value if both else None
    return both[0].scaled(1 << count) if both and count is not None and 0 <= count < 64 else None  # noqa: PLR2004  bits of an address


def _mask(addresses: Addresses, operation: Operation) -> Polynomial | None:
    """`x & 63`, and wider, is the lane: x but for what is the same in the whole wavefront."""
    both = addresses.binary(operation)
    mask = both[1].value if both else None
    if both is None or mask is None or both[0] != Polynomial.unknown("x"):
        return None
    is_lane = mask >= (1 << _LANE_BITS) - 1 and mask & (mask + 1) == 0
    return Polynomial.unknown("x").plus(Polynomial.unknown(f"u:{operation.result}")) if is_lane else None


def _shift_right(addresses: Addresses, operation: Operation) -> Polynomial | None:
    both = addresses.binary(operation)
    count = both[1].value if both else None
    if both is None or count is None or count < _LANE_BITS or both[0] != Polynomial.unknown("x"):
        return None
    return Polynomial.unknown(f"u:{operation.result}")


def _cast(addresses: Addresses, operation: Operation) -> Polynomial | None:
    found = _CAST.match(operation.text)
    return addresses.of(found["value"]) if found else None


def _pointer(addresses: Addresses, operation: Operation) -> Polynomial | None:
    offset = offset_of(operation.text, addresses.of)
    if offset is None or not operation.operands:
        return None
    return addresses.of(operation.operands[0]).plus(offset)


def _phi(addresses: Addresses, operation: Operation) -> Polynomial | None:
    found = addresses.induction(operation)
    if found is None:
        return None
    turns = found[1].times(Polynomial.unknown(f"loop:{operation.result}"))
    return found[0].plus(turns) if turns is not None else None


def _call(_addresses: Addresses, operation: Operation) -> Polynomial | None:
    if found := _WORKITEM.search(operation.text):
        return Polynomial.unknown(found[1])
    return Polynomial.unknown(f"u:{operation.result}") if _UNIFORM_CALL.search(operation.text) else None


_RULES: dict[str, Callable[[Addresses, Operation], Polynomial | None]] = {
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
    **dict.fromkeys(_EXTENSIONS, _cast),
}
