"""Maps debug information to lines of a submission and to its functions' names.

Inlined code from headers (shuffles, vector types) counts as the line of the submission that called it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module


class DebugLocations:
    """The debug locations of one module; `source` is the name of the submission's file."""

    def __init__(self, module: Module, source: str) -> None:
        self._nodes = module.nodes
        self._source = source
        self._lines: dict[str, int] = {}

    def line(self, instruction: Instruction) -> int:
        """Return the innermost line of the submission behind an instruction, from 1; 0 if there is none."""
        location = instruction.metadata.get("dbg", "")
        if location not in self._lines:
            self._lines[location] = self._line(location)
        return self._lines[location]

    def _line(self, location: str) -> int:
        for fields in self._chain(location):
            if self._file(fields.get("scope", "")) == self._source:
                return int(fields.get("line", "0"))
        return 0

    def subprogram(self, node: str) -> tuple[str, int]:
        """Return a function's name, with template arguments, and its line."""
        fields = self._fields(node)
        return fields.get("name", ""), int(fields.get("line", "0"))

    def _fields(self, node: str) -> Mapping[str, str]:
        return self._nodes.get(node, {})

    def _chain(self, location: str) -> Iterator[Mapping[str, str]]:
        while fields := self._fields(location):
            yield fields
            location = fields.get("inlinedAt", "")

    def _file(self, scope: str) -> str:
        file = self._fields(scope).get("file", "")
        return self._fields(file).get("filename", "").rpartition("/")[2]
