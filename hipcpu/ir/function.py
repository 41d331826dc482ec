"""A function and its basic blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hipcpu.ir.instruction import Instruction
from hipcpu.ir.lazy import lazy
from hipcpu.ir.text import Operand, bracketed, operands_from_text, plain, symbols_in, without_attached, words

_SYMBOL = re.compile(r'(@"[^"]*"|@[-\w$.]+)\(')
_LABEL = re.compile(r'("[^"]*"|[-\w$.]+):')
_SUBPROGRAM = re.compile(r" !dbg (!\d+)")


@dataclass(frozen=True)
class Block:
    """A basic block; `label` begins with a `%`, and the last instruction is its terminator."""

    label: str
    instructions: tuple[Instruction, ...]
    heading: str = ""
    """LLVM's text before the first instruction; empty if there is none, not even a label."""

    @property
    def targets(self) -> tuple[str, ...]:
        """Labels to which the block can go."""
        return self.instructions[-1].targets if self.instructions else ()

    @property
    def lines(self) -> list[str]:
        """Lines of the block's text."""
        return [*([self.heading] if self.heading else []), *(one.text for one in self.instructions)]

    @property
    def phis(self) -> list[Instruction]:
        """The phis at the start of the block."""
        return [one for one in self.instructions if one.opcode == "phi"]

    def with_instructions(self, instructions: Iterable[Instruction]) -> Block:
        """Return the same block with these instructions."""
        return Block(self.label, tuple(instructions), self.heading)


def block(label: str, body: Iterable[Instruction | str], separator: str = "\n") -> Block:
    """Return a new block from instructions or their text; the separator stands before its label."""
    instructions = tuple(Instruction(one) if isinstance(one, str) else one for one in body)
    return Block(label, instructions, f"{separator}{label[1:]}:")


Blocks = dict[str, Block]
"""Blocks by label, in order."""


class Function:
    """A function's definition: its header line and its body."""

    def __init__(self, header: str, body: Sequence[str], blocks: Blocks | None = None) -> None:
        self.header = header
        self._body = body
        self._blocks = blocks
        match = _SYMBOL.search(header)
        if match is None:
            raise ValueError(f"no symbol in {header!r}")
        self.symbol = match[1]
        self._arguments = match.end() - 1

    @classmethod
    def of_blocks(cls, header: str, blocks: Iterable[Block]) -> Function:
        """Return a function made of blocks."""
        known = {each.label: each for each in blocks}
        return cls(header, [line for each in known.values() for line in each.lines], known)

    @property
    def name(self) -> str:
        """Symbol in its plain spelling."""
        return plain(self.symbol)

    @property
    def text(self) -> str:
        """Text of the whole definition."""
        return "\n".join([self.header, *self._body, "}"])

    @lazy
    def parameters(self) -> tuple[Operand, ...]:
        """IR parameters of the function, in order."""
        return operands_from_text(bracketed(self.header, self._arguments))

    @property
    def subprogram(self) -> str:
        """Node of debug information that describes the function; empty if there is none."""
        match = _SUBPROGRAM.search(self.header)
        return match[1] if match else ""

    @lazy
    def symbols(self) -> frozenset[str]:
        """The global names in the body, in their plain spelling."""
        return frozenset(map(plain, symbols_in("\n".join(self._body))))

    @property
    def has_assembly(self) -> bool:
        """True if the function may contain inline assembly."""
        return any(" asm " in line for line in self._body)

    @lazy
    def blocks(self) -> Blocks:
        """Basic blocks of the function by label, in order."""
        return self._blocks or {each.label: each for each in blocks_of(self._body, self._first_label)}

    @property
    def _first_label(self) -> str:
        """Label of a first block without a written one: unnamed values are numbered, parameters first."""
        return f"%{sum(one.value[1:].isdigit() for one in self.parameters)}"

    @property
    def instructions(self) -> Iterator[Instruction]:
        """All instructions of the function, in order."""
        return (one for each in self.blocks.values() for one in each.instructions)

    def without_metadata(self, kind: str) -> Function:
        """Return the function without metadata of `kind` on it and on its instructions."""
        body = without_attached("\n".join(self._body), kind)
        return Function(without_attached(self.header, kind), body.split("\n"))

    def without_comdat(self) -> Function:
        """Return the function without its comdat, for a module in which nothing else has its name."""
        kept = [word for word in words(self.header) if word != "comdat" and not word.startswith("comdat(")]
        return Function(" ".join(kept), self._body)

    def with_instructions(self, change: Callable[[Instruction], Iterable[Instruction]]) -> Function:
        """Return the function with each instruction replaced by those that `change` makes of it."""
        blocks = (
            each.with_instructions(new for old in each.instructions for new in change(old))
            for each in self.blocks.values()
        )
        return Function.of_blocks(self.header, blocks)


def blocks_of(lines: Iterable[str], first_label: str = "%0") -> Iterator[Block]:
    """Yield the basic blocks of a body."""
    label, heading, texts = first_label, "", list[str]()
    before: list[str] = []
    for line in lines:
        if line[:1] == " ":
            if _continues(line):
                texts[-1] += f"\n{line}"
            else:
                texts.append(line)
            continue
        match = _LABEL.match(line)
        if match is None:
            before.append(line)
            continue
        if texts:
            yield Block(label, tuple(map(Instruction, texts)), heading)
        label, heading, texts, before = f"%{match[1]}", "\n".join([*before, line]), [], []
    yield Block(label, tuple(map(Instruction, texts)), heading)


def _continues(line: str) -> bool:
    """Return True if a line continues the instruction before it: a case of a switch, the targets of an invoke."""
    return (line[:3] == "   " and line[4:8] != "#dbg") or line == "  ]"


def successors_of(blocks: Blocks) -> dict[str, tuple[str, ...]]:
    """Return the labels to which each block can go."""
    return {label: each.targets for label, each in blocks.items()}


def reachable(blocks: Mapping[str, Block], starts: Iterable[str], stops: set[str]) -> list[str]:
    """Return the labels reachable from `starts` without going beyond `stops`, in the function's order."""
    waiting = list(starts)
    seen = set(waiting)
    while waiting:
        label = waiting.pop()
        if label in stops:
            continue
        for target in blocks[label].targets:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return [label for label in blocks if label in seen]
