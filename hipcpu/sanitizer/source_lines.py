"""Which line of the submission an instruction is from, by the debug locations that clang wrote.

Code of headers that was inlined (shuffles, vector types) counts as the line of the submission that it was called from.
"""

from __future__ import annotations

import re

_USE = re.compile(r", !dbg (!\d+)")
_NODE = re.compile(r"^(!\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_LINE = re.compile(r"\bline: (\d+)")
_SCOPE = re.compile(r"\bscope: (!\d+)")
_FILE = re.compile(r"\bfile: (!\d+)")
_CALLER = re.compile(r"\binlinedAt: (!\d+)")
_NAME = re.compile(r'\bfilename: "([^"]*)"')


class SourceLines:
    """The debug locations of one module's text; `source` is the name that the submission was compiled under."""

    def __init__(self, text: str, source: str) -> None:
        nodes = {match[1]: (match[2], match[3]) for match in _NODE.finditer(text)}
        self._fields = {node: fields for node, (_, fields) in nodes.items()}
        self._source_files = {
            node
            for node, (kind, fields) in nodes.items()
            if kind == "DIFile" and (name := _NAME.search(fields)) and name[1] == source
        }
        self._lines: dict[str, int] = {}

    def of(self, instruction: str) -> int:
        """The line, 1-based; 0 where none of the submission's is known."""
        use = _USE.search(instruction)
        if not use:
            return 0
        if use[1] not in self._lines:
            self._lines[use[1]] = self._resolved(use[1])
        return self._lines[use[1]]

    def _resolved(self, location: str) -> int:
        while fields := self._fields.get(location):
            scope, line = _SCOPE.search(fields), _LINE.search(fields)
            if scope and line and self._is_of_source(scope[1]):
                return int(line[1])
            caller = _CALLER.search(fields)
            if not caller:
                return 0
            location = caller[1]
        return 0

    def _is_of_source(self, scope: str) -> bool:
        file = _FILE.search(self._fields.get(scope, ""))
        return file is not None and file[1] in self._source_files
