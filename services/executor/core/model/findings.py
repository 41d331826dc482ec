"""Findings of sanitizers, read from a file that the checked program leaves: claims, as it could write any."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from services.executor.sandboxes.sandbox_files import LeftFileError, read_left_head

MOST_FILE_BYTES = 1 << 20
_MOST_TEXT = 256


class Check(StrEnum):
    """The sanitizer that a kind of finding belongs to."""

    MEMCHECK = "memcheck"
    RACECHECK = "racecheck"


_CHECKS = {
    "out-of-bounds": Check.MEMCHECK,
    "null-pointer": Check.MEMCHECK,
    "no-device-memory": Check.MEMCHECK,
    "use-after-free": Check.MEMCHECK,
    "misaligned": Check.MEMCHECK,
    "uninitialised": Check.MEMCHECK,
    "race": Check.RACECHECK,
    "race-between-blocks": Check.RACECHECK,
    "lockstep": Check.RACECHECK,
    "divergence": Check.RACECHECK,
}
_ADVICE_KINDS = frozenset({"lockstep"})
"""Kinds of findings that are advice: they are no errors on the MI300X."""


@dataclass(frozen=True)
class Access:
    """An access: the thread, the kind of access and the source line, which is 0 if it is unknown."""

    access: str
    line: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int]


@dataclass(frozen=True)
class Finding:
    """One kind of error at one line (a race: at two), as first seen, and how often it was seen in all.

    `offset` counts from the start of `memory`, which is empty if the address belongs to nothing. If something ended the
    whole program (a crash, a limit), `message` says what, and there is no access.
    """

    kind: str
    case: str = ""
    kernel: str = ""
    where: Access | None = None
    bytes: int = 0
    memory: str = ""
    memory_kind: str = ""
    memory_bytes: int = 0
    offset: int = 0
    other: Access | None = None
    count: int = 1
    message: str = ""

    @property
    def check(self) -> Check | None:
        """The sanitizer that found it; None if it ended the program."""
        return _CHECKS.get(self.kind)

    @property
    def is_error(self) -> bool:
        """False if the finding is only advice."""
        return self.kind not in _ADVICE_KINDS

    @property
    def lines(self) -> tuple[int, int]:
        """The source lines of the finding, the larger first, so that a race's threads can come in either order."""
        first = self.where.line if self.where else 0
        second = self.other.line if self.other else 0
        return max(first, second), min(first, second)


def read_findings(file: Path, case: str) -> list[Finding]:
    """The findings in `file`, in order. Malformed lines are left out, and a missing file has no findings."""
    found: list[Finding] = []
    counts: list[int] = []
    for line in _lines(file):
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            fields = cast("Mapping[str, Any]", json.loads(line))
            if "counts" in fields:
                counts = [_number(count) for count in fields["counts"]]
            else:
                found.append(_finding(fields, case))
    return [replace(one, count=counts[at] if at < len(counts) else one.count) for at, one in enumerate(found)]


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The findings of several cases without repeats, their counts added up; advice on lines with a race is left out."""
    found: dict[tuple[str, tuple[int, int], str, str], Finding] = {}
    for one in findings:
        access = one.where.access if one.where and not one.other else ""
        key = (one.kind, one.lines, access, one.message)
        found[key] = replace(found[key], count=found[key].count + one.count) if key in found else one
    races = {one.lines for one in found.values() if one.kind == "race"}
    return [one for one in found.values() if one.is_error or one.lines not in races]


def _lines(file: Path) -> list[str]:
    try:
        return read_left_head(file, MOST_FILE_BYTES).decode(errors="replace").splitlines()
    except LeftFileError:
        return []


def _finding(fields: Mapping[str, Any], case: str) -> Finding:
    kind = _text(fields["kind"])
    if kind not in _CHECKS:
        raise ValueError(f"unknown kind {kind}")
    return Finding(
        kind=kind,
        case=case,
        kernel=_text(fields["kernel"]),
        where=_access(fields),
        bytes=_number(fields["bytes"]),
        memory=_text(fields.get("memory", "")),
        memory_kind=_text(fields.get("memory_kind", "")),
        memory_bytes=_number(fields.get("memory_bytes", 0)),
        offset=_number(fields.get("offset", 0)),
        other=_access(fields["other"]) if "other" in fields else None,
    )


def _access(fields: Mapping[str, Any]) -> Access:
    return Access(_text(fields["access"]), _number(fields["line"]), _triple(fields["block"]), _triple(fields["thread"]))


def _triple(value: object) -> tuple[int, int, int]:
    x, y, z = cast("list[object]", value)
    return _number(x), _number(y), _number(z)


def _number(value: object) -> int:
    if not isinstance(value, int) or abs(value) >> 64:
        raise ValueError(f"no number: {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {value!r}")
    return "".join(character if character.isprintable() else "?" for character in value[:_MOST_TEXT])
