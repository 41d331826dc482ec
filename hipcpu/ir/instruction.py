"""One instruction: its text as LLVM writes it, and what that says, which is read when it is asked for.

The text is never changed but by those who make another instruction of it, so that all that nobody here understands is
printed as it was read. New instructions are made from their text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.ir.lazy import lazy
from hipcpu.ir.text import (
    Operand,
    after_attributes,
    bracketed,
    leading_type,
    locals_in,
    operand_from_text,
    operands_from_text,
    split_list,
    symbols_in,
    with_locals_renamed,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = re.compile(r'\s*(?:(%(?:"[^"]*"|[-\w$.]+)) = )?(?:(?:tail|musttail|notail) )?([a-z_]+)(?: |$|(?=,))')
_ATTACHED = re.compile(r", !([\w.]+) (![\w.]+)")
_TARGET = re.compile(r'label (%(?:"[^"]*"|[-\w$.]+))')
_CALLEE = re.compile(r'([@%](?:"[^"]*"|[-\w$.]+))\(|asm (?:\w+ )*"([^"]*)", "[^"]*"\(')
_INCOMING = re.compile(r'\[ (.+?), (%(?:"[^"]*"|[-\w$.]+)) \]')
_FLAGS = frozenset(
    words(
        "nuw nsw exact disjoint nneg inbounds nusw samesign volatile atomic weak inalloca "
        "fast nnan ninf nsz arcp contract afn reassoc"
    )
)
_ORDERINGS = frozenset(("unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"))
_CALLS = frozenset(("call", "invoke", "callbr"))
_COMPARISONS = frozenset(("icmp", "fcmp"))
_INTEGER_CASTS = words("trunc zext sext bitcast inttoptr ptrtoint ptrtoaddr addrspacecast")
_FLOAT_CASTS = words("fptrunc fpext fptoui fptosi uitofp sitofp")
SAME_VALUE = frozenset((*_INTEGER_CASTS, "freeze"))
"""The opcodes whose result is the same number as their operand, if it fits."""
_CASTS = frozenset((*_INTEGER_CASTS, *_FLOAT_CASTS))
_BINARY = _COMPARISONS.union(words("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem"))
_TERMINATORS = frozenset(words("br switch invoke callbr indirectbr cleanupret catchret catchswitch"))
_MEMORY = frozenset(("load", "store", "atomicrmw", "cmpxchg", "fence"))


class Instruction:
    """One instruction; `result` is the local name of its value, empty if it has none."""

    def __init__(self, text: str) -> None:
        self.text = text
        head = _HEAD.match(text)
        self.result, self.opcode = (head[1] or "", head[2]) if head else ("", "")
        self._start = head.end() if head else len(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instruction) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Instruction({self.text!r})"

    @lazy
    def metadata(self) -> dict[str, str]:
        """The nodes that are attached to it by kind, e.g. `dbg`: `!12`."""
        return dict(_ATTACHED.findall(self.text)) if ", !" in self.text else {}

    @lazy
    def _body(self) -> str:
        """What follows the opcode, without metadata."""
        rest = self.text[self._start :]
        return _ATTACHED.sub("", rest) if ", !" in rest else rest

    @lazy
    def _flags_and_rest(self) -> tuple[frozenset[str], str]:
        flags: list[str] = []
        rest = self._body
        while (word := rest.partition(" ")[0]) in _FLAGS:
            flags.append(word)
            rest = rest[len(word) + 1 :]
        return frozenset(flags), rest

    @property
    def flags(self) -> frozenset[str]:
        """The words that say how it works, e.g. `nsw` or `volatile`."""
        return self._flags_and_rest[0]

    @lazy
    def predicate(self) -> str:
        """How two values are compared, or what an atomicrmw does."""
        return self._flags_and_rest[1].partition(" ")[0] if self.opcode in (*_COMPARISONS, "atomicrmw") else ""

    @lazy
    def _parts(self) -> list[str]:
        """What stands between the commas."""
        rest = self._flags_and_rest[1]
        return split_list(rest[len(self.predicate) :].lstrip() if self.predicate else rest)

    @lazy
    def names(self) -> list[str]:
        """Every local name that it uses: values, labels and named types."""
        return locals_in(self._body)

    @property
    def symbols(self) -> list[str]:
        """Every global name that it uses."""
        return symbols_in(self._body)

    @lazy
    def operands(self) -> tuple[Operand, ...]:
        """The values that it uses, in order; of a call its arguments."""
        if self.opcode in _CALLS:
            return self._call[2]
        if self.opcode in ("fence", "landingpad"):
            return ()
        if self.opcode == "phi":
            kind = self.type
            return tuple(Operand(kind, value) for value, _ in self.incoming)
        parts = self._parts
        if self.opcode in _BINARY:
            left = operand_from_text(parts[0])
            return (left, Operand(left.type, parts[1]))
        if self.opcode in _CASTS:
            return (self._cast[0],)
        if self.opcode in ("load", "alloca", "getelementptr"):
            parts = parts[1:]
        found = (operand_from_text(part) for part in parts if not part.startswith(("align ", "label ")))
        return tuple(operand for operand in found if operand.value)

    @lazy
    def _cast(self) -> tuple[Operand, str]:
        source, _, kind = self._flags_and_rest[1].rpartition(" to ")
        return operand_from_text(source), kind

    @lazy
    def type(self) -> str:
        """The type of its value; of what has none, that of its first operand."""
        if self.opcode in _CALLS:
            return self._call[1]
        if self.opcode in ("load", "phi"):
            return leading_type(self._flags_and_rest[1])
        if self.opcode in _CASTS:
            return self._cast[1]
        if self.opcode == "alloca" or self.opcode in _COMPARISONS:
            return "ptr" if self.opcode == "alloca" else "i1"
        operands = self.operands
        typed = {"select": operands[1:], "atomicrmw": operands[1:]}.get(self.opcode, operands)
        return typed[0].type if typed else ""

    @lazy
    def element_type(self) -> str:
        """The type of what an alloca makes room for, or of what a getelementptr counts."""
        return self._parts[0]

    @lazy
    def incoming(self) -> list[tuple[str, str]]:
        """The values of a phi, each with the label that it comes from."""
        return _INCOMING.findall(self._body)

    @lazy
    def targets(self) -> tuple[str, ...]:
        """The labels to which it may go on."""
        return tuple(_TARGET.findall(self._body)) if self.opcode in _TERMINATORS else ()

    @lazy
    def alignment(self) -> int:
        """The alignment in bytes that an access to memory says; 1 if it says none."""
        found = [part for part in self._parts if part.startswith("align ")] if self.touches_memory else []
        return int(found[0].removeprefix("align ")) if found else 1

    @property
    def orderings(self) -> frozenset[str]:
        """The orderings of an atomic access."""
        return _ORDERINGS.intersection(self._body.replace(",", "").split())

    # Calls.

    @property
    def is_call(self) -> bool:
        """Whether it calls something: a function, or inline assembly."""
        return self.opcode in _CALLS

    @lazy
    def _call(self) -> tuple[str, str, tuple[Operand, ...], str]:
        """Callee, type of the result, arguments, and the code of inline assembly."""
        rest = self._flags_and_rest[1]
        match = _CALLEE.search(rest)
        if match is None:
            return "", "", (), ""
        kind = leading_type(after_attributes(rest[: match.start()]))
        arguments = operands_from_text(bracketed(rest, match.end() - 1))
        return match[1] or "", kind, arguments, match[2] or ""

    @lazy
    def callee(self) -> str:
        """What it calls: a symbol, or the name of a value; empty if it calls nothing."""
        return self._call[0] if self.opcode in _CALLS else ""

    @property
    def assembly(self) -> str:
        """The code of inline assembly; empty if it has none."""
        return self._call[3] if self.opcode in _CALLS else ""

    def calls(self, *beginnings: str) -> bool:
        """Whether it calls a symbol that begins so."""
        return self.callee.startswith(beginnings)

    # Memory.

    @property
    def touches_memory(self) -> bool:
        """Whether it is an access to memory or a fence; a call is neither."""
        return self.opcode in _MEMORY

    @property
    def is_plain(self) -> bool:
        """Whether it is neither volatile nor atomic."""
        return self.flags.isdisjoint(("volatile", "atomic"))

    @lazy
    def pointer(self) -> str:
        """The address that a load or a store uses; empty for any other instruction."""
        if self.opcode not in ("load", "store"):
            return ""
        return self.operands[self.opcode == "store"].value

    @lazy
    def loaded(self) -> str:
        """The address that it loads from, if it is a plain load; else empty."""
        return self.pointer if self.opcode == "load" and self.is_plain else ""

    @lazy
    def stored(self) -> str:
        """The address that it stores to, if it is a plain store; else empty."""
        return self.pointer if self.opcode == "store" and self.is_plain else ""

    @property
    def accessed_type(self) -> str:
        """The type that a load gives or a store takes."""
        return self.operands[0].type if self.opcode == "store" else self.type

    # Others made from it.

    def renamed(self, names: Mapping[str, str]) -> Instruction:
        """The same with other local names."""
        return self if names.keys().isdisjoint(self.names) else Instruction(with_locals_renamed(self.text, names))
