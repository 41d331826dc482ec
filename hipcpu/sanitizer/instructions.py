"""The accesses to memory in LLVM's textual IR, one instruction at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from hipcpu.ir.ir_text import bracketed, leading_type, split_list

_RESULT = re.compile(r"^\s*(?:(%\S+) = )?(?:tail |musttail |notail )?(\w+) (.*)$")
_ALIGNMENT = re.compile(r", align (\d+)")
_ATTRIBUTE = r"(?:align \d+|\w+\([^)]*\)|no\w+|readonly|writeonly|readnone)"
_POINTER = re.compile(rf"^ptr (?:{_ATTRIBUTE} )*(.+)$")
_ORDERED = re.compile(r"\b(?:acquire|release|acq_rel|seq_cst)\b")
_INTRINSIC = re.compile(r"@llvm\.(memcpy|memmove|memset)\.[\w.]*\(")


class How(IntEnum):
    """How an access is made, as `runtime/sanitizer/sanitizer.cpp` reads it."""

    PLAIN = 0
    VOLATILE = 1
    ATOMIC = 2


class Operation(StrEnum):
    """What an instruction does to memory."""

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
    """An update that orders other accesses too."""


def accesses_of(instruction: str) -> list[MemoryAccess]:
    """What `instruction` does, in order; empty where it touches no memory, or by a call of a function only."""
    match = _RESULT.match(instruction)
    if not match:
        return []
    opcode, rest = match[2], match[3]
    if opcode == "fence":
        return [MemoryAccess(Operation.FENCE)]
    if opcode == "call":
        return _intrinsic(rest)
    reader = {"load": _load, "store": _store, "atomicrmw": _update, "cmpxchg": _update}.get(opcode)
    return [reader(rest)] if reader else []


def size_of(type_text: str) -> str:
    """The size of a type as a constant expression."""
    return f"ptrtoint (ptr getelementptr ({type_text}, ptr null, i32 1) to i64)"


def _load(rest: str) -> MemoryAccess:
    how, rest = _how(rest)
    operands = split_list(rest)
    return MemoryAccess(Operation.READ, _pointer(operands[1]), size_of(operands[0]), _alignment(rest), how)


def _store(rest: str) -> MemoryAccess:
    how, rest = _how(rest)
    operands = split_list(rest)
    size = size_of(leading_type(operands[0]))
    return MemoryAccess(Operation.WRITE, _pointer(operands[1]), size, _alignment(rest), how)


def _update(rest: str) -> MemoryAccess:
    operands = split_list(rest[rest.index("ptr ") :])
    size = size_of(leading_type(operands[1]))
    fences = _ORDERED.search(rest) is not None
    return MemoryAccess(Operation.UPDATE, _pointer(operands[0]), size, _alignment(rest), How.ATOMIC, fences)


def _how(rest: str) -> tuple[How, str]:
    how = How.PLAIN
    for word, meaning in (("atomic ", How.ATOMIC), ("volatile ", How.VOLATILE)):
        if rest.startswith(word):
            rest = rest.removeprefix(word)
            how = max(how, meaning)
    return how, rest


def _intrinsic(rest: str) -> list[MemoryAccess]:
    match = _INTRINSIC.search(rest)
    if not match:
        return []
    target, source, size, *_ = split_list(bracketed(rest, match.end() - 1))
    bytes_text = size.removeprefix("i64 ")
    write = MemoryAccess(Operation.WRITE, _pointer(target), bytes_text)
    if match[1] == "memset":
        return [write]
    return [MemoryAccess(Operation.READ, _pointer(source), bytes_text), write]


def _pointer(operand: str) -> str:
    match = _POINTER.match(operand)
    if not match:
        raise ValueError(f"no pointer in {operand!r}")
    # An ordering may follow: `ptr %p seq_cst`.
    return match[1].split(" ")[0] if match[1][0] in "%@" else match[1]


def _alignment(rest: str) -> int:
    match = _ALIGNMENT.search(rest)
    return int(match[1]) if match else 1
