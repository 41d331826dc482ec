"""Split loop variables that grow from thread to thread by a constant into a uniform part and the thread's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.ir.index_values import parameter
from hipcpu.ir.thread_strides import stride_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hipcpu.ir.thread_strides import Strides

_NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_DEFINITION = re.compile(rf"^\s*({_NAME}) = (.*)$")
_LABEL = re.compile(r'^("[^"]*"|[-\w$.]+):')
_PHI = re.compile(r"^phi (i32|i64) (.*)$")
_INCOMING = re.compile(rf"\[ (\S+), ({_NAME}) \]")
_SUM = re.compile(r"^(add|sub|mul|shl|or disjoint) ((?:(?:nuw|nsw) )*)(\w+) ([^\s,]+), ([^\s,]+)$")
_WIDENED = re.compile(r"^(sext|zext) (?:nneg )?i32 (\S+) to i64$")
_WRAPS_NOT = {"sext": "nsw", "zext": "nuw"}
_THREAD = parameter("thread_x")
_START = "start"


def with_uniform_parts(
    body: Sequence[str], strides: Strides, heads: set[str]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The body with such variables of the blocks in `heads` split, and the names of those that were."""
    splitter = _Splitter(body, strides)
    label = ""
    for line in body:
        if match := _LABEL.match(line):
            label = "%" + match[1]
        match = _DEFINITION.match(line)
        if match and label in heads and _PHI.match(match[2]):
            stride = strides.get(match[1])
            if stride and stride.step and stride.pure:
                splitter.split(match[1])
    return splitter.lines(body), frozenset(splitter.phis)


class _UnsplittableError(Exception):
    """A value that is no sum of a uniform part and a thread's own."""


class _Splitter:
    def __init__(self, body: Sequence[str], strides: Strides) -> None:
        self._definitions = {match[1]: match[2] for line in body if (match := _DEFINITION.match(line))}
        self._strides = strides
        self.phis: dict[str, str] = {}
        """The line of the uniform part of each variable that is split."""
        self._added: dict[str, list[str]] = {}
        self._parts: dict[tuple[str, str], str] = {}

    def split(self, name: str) -> None:
        """Split a variable, and all that it is made of; leaves everything as it was where that cannot be done."""
        before = dict(self.phis), {key: list(lines) for key, lines in self._added.items()}, dict(self._parts)
        try:
            self._part(name)
        except _UnsplittableError:
            self.phis, self._added, self._parts = before

    def _part(self, operand: str, widening: str = "") -> str:
        """The operand that is the uniform part of another, widened to 64 bits where `widening` says how."""
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
        operation, result = self._definitions.get(name, ""), self._parts[name, widening]
        if match := _PHI.match(operation):
            if widening:
                raise _UnsplittableError
            incoming = [f"[ {self._part(value)}, {source} ]" for value, source in _INCOMING.findall(match[2])]
            self.phis[name] = f"  {result} = phi {match[1]} {', '.join(incoming)}"
        elif match := _SUM.match(operation):
            line = self._sum(match, widening)
            self._added.setdefault(name, []).append(f"  {result} = {line}")
        elif (match := _WIDENED.match(operation)) and not widening:
            self._added.setdefault(name, []).append(f"  {result} = add i64 {self._part(match[2], match[1])}, 0")
        else:
            raise _UnsplittableError

    def _sum(self, match: re.Match[str], widening: str) -> str:
        kind, flags, type_, left, right = match.groups()
        if widening and (type_ != "i32" or (_WRAPS_NOT[widening] not in flags and kind != "or disjoint")):
            raise _UnsplittableError
        if type_ not in ("i32", "i64") or (kind in ("mul", "shl") and not right.isdigit()):
            raise _UnsplittableError
        kind = "add" if kind == "or disjoint" else kind
        other = right if kind in ("mul", "shl") else self._part(right, widening)
        return f"{kind} {'i64' if widening else type_} {self._part(left, widening)}, {other}"

    def lines(self, body: Sequence[str]) -> tuple[str, ...]:
        """The body with all that was split."""
        lines: list[str] = []
        # The first block has no sources, and so no phi.
        after: list[str] = list(self._added.get(_START, ()))
        for line in body:
            if _LABEL.match(line):
                lines.append(line)
                continue
            match = _DEFINITION.match(line)
            if after and line.strip() and " = phi " not in line:
                lines += after
                after = []
            if match and match[1] in self.phis:
                lines.append(self.phis[match[1]])
                after += self._sum_of_parts(match[1])
            else:
                lines.append(line)
            if match and match[1] in self._added:
                target = after if " = phi " in line else lines
                target += self._added[match[1]]
        return tuple(lines)

    def _sum_of_parts(self, name: str) -> list[str]:
        match = _PHI.match(self._definitions[name])
        stride = self._strides[name]
        if not match or not stride:
            raise ValueError(name)
        own = f"%wp.own.{self._parts[name, ''].removeprefix('%wp.part.')}"
        widened = _THREAD if match[1] == "i32" else f"{own}.wide"
        lines = [] if match[1] == "i32" else [f"  {widened} = zext i32 {_THREAD} to i64"]
        lines.append(f"  {own} = mul {match[1]} {widened}, {stride.step}")
        return [*lines, f"  {name} = add {match[1]} {own}, {self._parts[name, '']}"]
