"""Splits loop variables that grow from thread to thread by a constant into a uniform and a thread's own part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.ir.index_values import parameter
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.thread_strides import is_sum, stride_of

if TYPE_CHECKING:
    from hipcpu.ir.function import Blocks
    from hipcpu.ir.thread_strides import Strides

_WRAPS_NOT = {"sext": "nsw", "zext": "nuw"}
_INTEGERS = frozenset(("i32", "i64"))
_BY_CONSTANT = frozenset(("mul", "shl"))
_THREAD = parameter("thread_x")
_START = "start"


def with_uniform_parts(blocks: Blocks, strides: Strides, heads: set[str]) -> tuple[Blocks, frozenset[str]]:
    """Split such variables of the loops in `heads`; returns the blocks and the names of the split variables."""
    splitter = _Splitter(blocks, strides)
    for label, block in blocks.items():
        for one in block.phis if label in heads else ():
            stride = strides.get(one.result)
            if one.type in _INTEGERS and stride and stride.step and stride.pure:
                splitter.split(one.result)
    return splitter.blocks(blocks), frozenset(splitter.phis)


class _UnsplittableError(Exception):
    """The value is not a sum of a uniform part and a thread's own part."""


class _Splitter:
    def __init__(self, blocks: Blocks, strides: Strides) -> None:
        self._definitions = {one.result: one for block in blocks.values() for one in block.instructions if one.result}
        self._strides = strides
        self.phis: dict[str, str] = {}
        """IR of the uniform part of each split variable."""
        self._added: dict[str, list[str]] = {}
        self._parts: dict[tuple[str, str], str] = {}

    def split(self, name: str) -> None:
        """Split a variable and all values that it is made of; changes nothing if this is not possible."""
        before = dict(self.phis), {key: list(lines) for key, lines in self._added.items()}, dict(self._parts)
        try:
            self._part(name)
        except _UnsplittableError:
            self.phis, self._added, self._parts = before

    def _part(self, operand: str, widening: str = "") -> str:
        """Return the operand for the uniform part of another, widened to 64 bits by `widening`, if given."""
        stride = stride_of(operand, self._strides)
        if stride is None or not stride.pure:
            raise _UnsplittableError
        if operand == _THREAD:
            return "0"
        if (operand, widening) not in self._parts:
            if stride.step == 0:
                return self._widened(operand, widening)
            self._parts[operand, widening] = f"%wp.part.{len(self._parts)}"
            self._define(operand, widening)
        return self._parts[operand, widening]

    def _widened(self, operand: str, widening: str) -> str:
        if not widening or not operand.startswith("%"):
            if widening == "zext" and operand.startswith("-"):
                raise _UnsplittableError
            return operand
        result = self._parts[operand, widening] = f"%wp.part.{len(self._parts)}"
        place = operand if operand in self._definitions else _START
        self._added.setdefault(place, []).append(f"  {result} = {widening} i32 {operand} to i64")
        return result

    def _define(self, name: str, widening: str) -> None:
        one, result = self._definitions.get(name), self._parts[name, widening]
        if one is None or one.type not in _INTEGERS:
            raise _UnsplittableError
        if one.opcode == "phi" and not widening:
            incoming = [f"[ {self._part(value)}, {source} ]" for value, source in one.incoming]
            self.phis[name] = f"  {result} = phi {one.type} {', '.join(incoming)}"
        elif is_sum(one):
            line = self._sum(one, widening)
            self._added.setdefault(name, []).append(f"  {result} = {line}")
        elif one.opcode in _WRAPS_NOT and one.type == "i64" and one.operands[0].type == "i32" and not widening:
            part = self._part(one.operands[0].value, one.opcode)
            self._added.setdefault(name, []).append(f"  {result} = add i64 {part}, 0")
        else:
            raise _UnsplittableError

    def _sum(self, one: Instruction, widening: str) -> str:
        (type_, left, *_), (_, right, *_) = one.operands
        if widening and (type_ != "i32" or (_WRAPS_NOT[widening] not in one.flags and one.opcode != "or")):
            raise _UnsplittableError
        if one.opcode in _BY_CONSTANT and not right.isdigit():
            raise _UnsplittableError
        kind = "add" if one.opcode == "or" else one.opcode
        other = right if one.opcode in _BY_CONSTANT else self._part(right, widening)
        return f"{kind} {'i64' if widening else type_} {self._part(left, widening)}, {other}"

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return the blocks with all splits applied."""
        # The first block has no predecessors, and so no phi.
        after: list[str] = list(self._added.get(_START, ()))
        changed: Blocks = {}
        for label, block in blocks.items():
            instructions: list[Instruction] = []
            for one in block.instructions:
                is_phi = one.opcode == "phi"
                if after and not is_phi:
                    instructions += map(Instruction, after)
                    after = []
                if one.result in self.phis:
                    instructions.append(Instruction(self.phis[one.result]))
                    after += self._sum_of_parts(one)
                else:
                    instructions.append(one)
                if is_phi:
                    after += self._added.get(one.result, ())
                elif one.result:
                    instructions += map(Instruction, self._added.get(one.result, ()))
            changed[label] = block.with_instructions(instructions)
        return changed

    def _sum_of_parts(self, phi: Instruction) -> list[str]:
        name, stride = phi.result, self._strides[phi.result]
        if not stride:
            raise ValueError(name)
        own = f"%wp.own.{self._parts[name, ''].removeprefix('%wp.part.')}"
        widened = _THREAD if phi.type == "i32" else f"{own}.wide"
        lines = [] if phi.type == "i32" else [f"  {widened} = zext i32 {_THREAD} to i64"]
        lines.append(f"  {own} = mul {phi.type} {widened}, {stride.step}")
        return [*lines, f"  {name} = add {phi.type} {own}, {self._parts[name, '']}"]
