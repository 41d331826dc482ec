"""Reads the text of optimised LLVM IR as far as hints need it: blocks, instructions, operands, and source lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = r'[%@](?:"[^"]*"|[-\w$.]+)'
_VALUE = re.compile(NAME)
_KERNEL = re.compile(
    rf"^define [^\n]*\bamdgpu_kernel void (?P<name>{NAME})\((?P<arguments>.*)\)[^\n(]*\{{\n", re.MULTILINE
)
_RESULT = re.compile(rf"^  (?:(?P<result>{NAME}) = )?(?P<opcode>[a-z]+)\b(?P<rest>.*)$")
_TAIL_CALL = frozenset({"tail", "musttail", "notail"})
_BLOCK = re.compile(r'^(?P<name>"[^"]*"|[-\w$.]+):')
_STRUCT = re.compile(rf"^({NAME}) = type (<?\{{.*\}}>?)$", re.MULTILINE)
_DYNAMIC_LDS = re.compile(rf"^({NAME}) = external [^\n]*addrspace\(3\) global \[0 x ", re.MULTILINE)
_MOST_NESTED = 8
_DEBUG = re.compile(r", !dbg !(\d+)")
_SUBPROGRAM_OF = re.compile(r"!dbg !(\d+) \{$")
_ATTACHMENT = re.compile(r", ![\w.]+ ![\w.]+")


@dataclass(frozen=True)
class Operation:
    """One instruction: `text` is what follows its opcode, without metadata."""

    result: str
    opcode: str
    text: str
    block: str
    location: int

    @cached_property
    def operands(self) -> list[str]:
        """The values that it names, in order."""
        return _VALUE.findall(self.text)


@dataclass(frozen=True)
class Kernel:
    """A kernel's body; `arguments` are its parameters' names with their types in front."""

    symbol: str
    arguments: str
    subprogram: int
    operations: tuple[Operation, ...]
    dynamic_lds: bool = False
    """Whether it uses an `extern __shared__` array."""

    @cached_property
    def definitions(self) -> Mapping[str, Operation]:
        """By the value that they define."""
        return {operation.result: operation for operation in self.operations if operation.result}

    @cached_property
    def successors(self) -> Mapping[str, tuple[str, ...]]:
        """Each block's, in the text's order of blocks."""
        found: dict[str, tuple[str, ...]] = {operation.block: () for operation in self.operations}
        for operation in self.operations:
            if operation.opcode in {"br", "switch"}:
                found[operation.block] = tuple(re.findall(rf"label ({NAME})", operation.text))
        return found


def kernels_from_ir(text: str) -> list[Kernel]:
    """The kernels that are defined in the text."""
    dynamic = frozenset(_DYNAMIC_LDS.findall(text))
    structs = dict(_STRUCT.findall(text))
    found: list[Kernel] = []
    for match in _KERNEL.finditer(text):
        end = text.find("\n}\n", match.end())
        body = text[match.end() : end + 1]
        subprogram = _SUBPROGRAM_OF.search(match[0].rstrip("\n"))
        operations = tuple(_operations(_written_out(body, structs)))
        node = int(subprogram[1]) if subprogram else -1
        uses_dynamic = any(not dynamic.isdisjoint(operation.operands) for operation in operations)
        found.append(Kernel(_plain(match["name"]), match["arguments"], node, operations, uses_dynamic))
    return found


def _written_out(body: str, structs: Mapping[str, str]) -> str:
    """The text with what named types consist of in place of their names."""
    for _ in range(_MOST_NESTED):
        expanded = _VALUE.sub(lambda found: structs.get(found[0], found[0]), body) if structs else body
        if expanded == body:
            break
        body = expanded
    return body


def _operations(body: str) -> Iterator[Operation]:
    block = "%entry"
    for row in _joined(body):
        if label := _BLOCK.match(row):
            block = f"%{label['name']}"
            continue
        found = _RESULT.match(row)
        if found is None:
            continue
        opcode, rest = found["opcode"], found["rest"]
        if opcode in _TAIL_CALL:
            opcode, rest = "call", rest.strip().removeprefix("call")
        location = _DEBUG.search(rest)
        text = _ATTACHMENT.sub("", rest).strip()
        yield Operation(found["result"] or "", opcode, text, block, int(location[1]) if location else -1)


def _joined(body: str) -> Iterator[str]:
    """Rows, with those of a switch in one."""
    pending = ""
    for row in body.splitlines():
        if pending:
            pending += row
            if row.lstrip().startswith("]"):
                yield pending
                pending = ""
        elif row.startswith("  switch ") and row.endswith("["):
            pending = row
        else:
            yield row


def _plain(name: str) -> str:
    return name[1:].strip('"')
