"""An instruction's memory accesses, as the sanitizer checks them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from hipcpu.ir.instruction import Instruction

_ORDERED = frozenset(("acquire", "release", "acq_rel", "seq_cst"))
_COPIES = ("@llvm.memcpy.", "@llvm.memmove.")
_FILL = "@llvm.memset."


class How(IntEnum):
    """The kind of an access, numbered as in `runtime/sanitizer/sanitizer.cpp`."""

    PLAIN = 0
    VOLATILE = 1
    ATOMIC = 2


class Operation(StrEnum):
    """The effect of an instruction on memory."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    FENCE = "fence"


@dataclass(frozen=True)
class MemoryAccess:
    """One access: the IR of its pointer and of its size in bytes (an `i64` operand), and its known alignment."""

    operation: Operation
    pointer: str = ""
    size: str = "0"
    alignment: int = 1
    how: How = How.PLAIN
    fences: bool = False
    """True for an update that orders other accesses too."""


def accesses_of(one: Instruction) -> list[MemoryAccess]:
    """Return the instruction's accesses in order; empty if it has none, or only by calling a function."""
    if one.opcode == "fence":
        return [MemoryAccess(Operation.FENCE)]
    if one.calls(*_COPIES, _FILL):
        return _of_intrinsic(one)
    if one.opcode == "load" and "addrspace(" in one.operands[0].type:
        return []  # a segment of the processor, by which our own headers find the thread
    if one.opcode in ("load", "store"):
        operation = Operation.READ if one.opcode == "load" else Operation.WRITE
        return [MemoryAccess(operation, one.pointer, size_of(one.accessed_type), one.alignment, _how(one))]
    if one.opcode in ("atomicrmw", "cmpxchg"):
        pointer, new, *_ = one.operands
        fences = not _ORDERED.isdisjoint(one.orderings)
        return [
            MemoryAccess(Operation.UPDATE, pointer.value, size_of(new.type), one.alignment, How.ATOMIC, fences),
        ]
    return []


def size_of(type_text: str) -> str:
    """Return the size of a type as a constant expression."""
    return f"ptrtoint (ptr getelementptr ({type_text}, ptr null, i32 1) to i64)"


def _how(one: Instruction) -> How:
    if "atomic" in one.flags:
        return How.ATOMIC
    return How.VOLATILE if "volatile" in one.flags else How.PLAIN


def _of_intrinsic(one: Instruction) -> list[MemoryAccess]:
    target, source, size, *_ = one.operands
    write = MemoryAccess(Operation.WRITE, target.value, size.value)
    return [write] if one.calls(_FILL) else [MemoryAccess(Operation.READ, source.value, size.value), write]
