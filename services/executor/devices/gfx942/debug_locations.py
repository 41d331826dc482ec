"""From debug metadata to the submission's lines and the names that people gave their kernels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NODE = re.compile(
    r"^!(\d+) = (?:distinct )?!(DILocation|DISubprogram|DILexicalBlock|DILexicalBlockFile|DIFile)\((.*)\)$",
    re.MULTILINE,
)
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!(\d+)|([^,]+))')


class DebugLocations:
    """The locations of one module's text; `source` is the name of the submission's file."""

    def __init__(self, text: str, source: str) -> None:
        self._nodes = {int(match[1]): _fields(match[3]) for match in _NODE.finditer(text)}
        self._source = source

    def line(self, location: int) -> int:
        """The innermost line of the submission that the code of a location is from; 0 where there is none."""
        for node in self._chain(location):
            if self._file(node.get("scope", "")) == self._source:
                return int(node.get("line", "0"))
        return 0

    def subprogram(self, node: int) -> tuple[str, int]:
        """A function's name, with template arguments, and its line."""
        fields = self._nodes.get(node, {})
        return fields.get("name", ""), int(fields.get("line", "0"))

    def _chain(self, location: int) -> Iterator[Mapping[str, str]]:
        seen: set[int] = set()
        while location in self._nodes and location not in seen:
            seen.add(location)
            yield self._nodes[location]
            location = int(self._nodes[location].get("inlinedAt", "-1"))

    def _file(self, scope: str) -> str:
        node = self._nodes.get(int(scope or -1), {})
        name = self._nodes.get(int(node.get("file") or -1), {}).get("filename", "")
        return name.rpartition("/")[2]


def _fields(text: str) -> dict[str, str]:
    return {match[1]: match[2] or match[3] or (match[4] or "").strip() for match in _FIELD.finditer(text)}
