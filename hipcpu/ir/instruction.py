"""One instruction: its text as LLVM writes it, and its parts, which are parsed on demand.

The text is never changed in place: a changed instruction is a new one, so that parts that nobody here understands are
printed as they were read. New instructions are made from their text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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
"""Opcodes whose result is the same number as the operand, if it fits."""
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
        """Attached metadata nodes by kind, e.g. `dbg`: `!12`."""
        return dict(_ATTACHED.findall(self.text)) if ", !" in self.text else {}

    @lazy
    def _body(self) -> str:
        """Text after the opcode, without metadata."""
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
        """Modifiers of the instruction, e.g. `nsw` or `volatile`."""
        return self._flags_and_rest[0]

    @lazy
    def predicate(self) -> str:
        """Predicate of a comparison, or operation of an atomicrmw; empty for others."""
        return self._flags_and_rest[1].partition(" ")[0] if self.opcode in (*_COMPARISONS, "atomicrmw") else ""

    @lazy
    def _parts(self) -> list[str]:
        """Parts of the text between commas."""
        rest = self._flags_and_rest[1]
        return split_list(rest[len(self.predicate) :].lstrip() if self.predicate else rest)

    @lazy
    def names(self) -> list[str]:
        """Every local name that the instruction uses: values, labels and named types."""
        return locals_in(self._body)

    @property
    def symbols(self) -> list[str]:
        """Every global name that the instruction uses."""
        return symbols_in(self._body)

    @lazy
    def operands(self) -> tuple[Operand, ...]:
        """Values that the instruction uses, in order; for a call, its arguments."""
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
        """Type of the result; for an instruction without one, that of its first operand."""
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
        """Type that an alloca allocates, or that a getelementptr counts."""
        return self._parts[0]

    @lazy
    def incoming(self) -> list[tuple[str, str]]:
        """Values of a phi, each with the label that it comes from."""
        return _INCOMING.findall(self._body)

    @lazy
    def targets(self) -> tuple[str, ...]:
        """Labels to which a terminator may go; empty for other instructions."""
        return tuple(_TARGET.findall(self._body)) if self.opcode in _TERMINATORS else ()

    @lazy
    def alignment(self) -> int:
        """Alignment of a memory access in bytes; 1 if none is given."""
        found = [part for part in self._parts if part.startswith("align ")] if self.touches_memory else []
        return int(found[0].removeprefix("align ")) if found else 1

    @property
    def orderings(self) -> frozenset[str]:
        """Orderings of an atomic access."""
        return _ORDERINGS.intersection(self._body.replace(",", "").split())

    # Calls.

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
        """Callee of a call: a symbol, or the name of a value; empty if there is none."""
        return self._call[0] if self.opcode in _CALLS else ""

    @property
    def assembly(self) -> str:
        """Code of inline assembly; empty if there is none."""
        return self._call[3] if self.opcode in _CALLS else ""

    def calls(self, *beginnings: str) -> bool:
        """Return True for a call of a symbol with one of these prefixes."""
        return self.callee.startswith(beginnings)

    # Memory.

    @property
    def touches_memory(self) -> bool:
        """True for a memory access or a fence; a call is neither."""
        return self.opcode in _MEMORY

    @property
    def is_plain(self) -> bool:
        """True if the instruction is neither volatile nor atomic."""
        return self.flags.isdisjoint(("volatile", "atomic"))

    @lazy
    def pointer(self) -> str:
        """Address of a load or a store; empty for other instructions."""
        if self.opcode not in ("load", "store"):
            return ""
        return self.operands[self.opcode == "store"].value

    @lazy
    def loaded(self) -> str:
        """Address of a plain load; empty for other instructions."""
        return self.pointer if self.opcode == "load" and self.is_plain else ""

    @lazy
    def stored(self) -> str:
        """Address of a plain store; empty for other instructions."""
        return self.pointer if self.opcode == "store" and self.is_plain else ""

    @property
    def accessed_type(self) -> str:
        """Type that a load gives or a store takes."""
        return self.operands[0].type if self.opcode == "store" else self.type

    # Instructions made from this one.

    def renamed(self, names: Mapping[str, str]) -> Instruction:
        """Return the same instruction with other local names."""
        return self if names.keys().isdisjoint(self.names) else Instruction(with_locals_renamed(self.text, names))
