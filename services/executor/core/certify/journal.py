"""The results of `certify` so far, as lines of JSON that survive a crash of the machine.

The first line names the subject. A step has a line when it begins and one with its result. A step without a result was
running when the machine, or `certify`, went down. It is not tried again by itself, because it may be the step that took
the machine down.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, cast

from services.executor.core.certify.results import Figure, Outcome, StepResult
from services.executor.core.model.plain import plain

NAME = "journal.jsonl"
_KINDS: dict[str, type] = {"subject": dict, "begin": str, "again": str, "result": dict}
_CUT_OFF = (
    "certify ended while this step was running, and so perhaps did the machine: read its log, and try it again with "
    "--again"
)


class JournalError(ValueError):
    """A folder or its journal cannot be used as asked; the message says why, with advice."""


class Journal:
    """The journal of one folder; open it once.

    Raises JournalError if it is of another subject, damaged or in use, and OSError.
    """

    def __init__(self, folder: Path, subject: Mapping[str, str]) -> None:
        self.results: dict[str, StepResult] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / NAME
        self._sure_bytes = 0
        self._file = self._path.open("a+b", buffering=0)
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
            self._file.seek(0)
            self._read(self._file.read(), folder, subject)
        except BlockingIOError as error:
            self.close()
            raise JournalError(f"--out: another certify works in {folder}; wait for it, or name another") from error
        except BaseException:
            self.close()
            raise

    def _read(self, data: bytes, folder: Path, subject: Mapping[str, str]) -> None:
        # A last line without its end was being written when the machine went down.
        whole = data[: data.rfind(b"\n") + 1]
        lines = [_entry(line, at, self._path) for at, line in enumerate(whole.split(b"\n")[:-1], start=1)]
        if not lines:
            self._cut(0)
            self._write({"subject": dict(subject)})
            return
        for name, value in subject.items():
            before = lines[0]["subject"].get(name)
            if before != value:
                raise JournalError(
                    f"--out: {folder} was begun with {name} {before}, and this is {value}; name another folder"
                )
        self.results = results_of(lines)
        self._cut(len(whole))

    def forget(self, steps: Iterable[str]) -> None:
        """Drops the results of these steps, so that they run again."""
        for step in steps:
            if step in self.results:
                self._write({"again": step})
                del self.results[step]

    def begin(self, step: str) -> None:
        """Notes that a step begins. If its result cannot be written, this line is removed again."""
        self._append({"begin": step})

    def end(self, result: StepResult) -> None:
        """Notes the result of a step."""
        self._write({"result": plain(result)})
        self.results[result.step] = result

    def stop(self, step: str) -> None:
        """Notes that the user stopped a step, so that it has no result."""
        self._write({"again": step})

    def close(self) -> None:
        """Closes the file, so that another certify can have the folder."""
        self._file.close()

    def _write(self, line: Mapping[str, object]) -> None:
        self._append(line)
        self._sure_bytes = self._file.tell()

    def _append(self, line: Mapping[str, object]) -> None:
        """Appends a line. Raises OSError; a step that had begun then counts as not begun."""
        data = json.dumps(line).encode() + b"\n"
        try:
            # If there is no room, only a part of a line is written.
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError:
            self._cut(self._sure_bytes)
            raise

    def _cut(self, size_bytes: int) -> None:
        self._file.truncate(size_bytes)
        self._sure_bytes = size_bytes


def _entry(line: bytes, at: int, path: Path) -> dict[str, Any]:
    """Returns one line in the form that `results_of` takes; raises JournalError."""
    try:
        entry = cast("dict[str, Any]", json.loads(line))
        _require_entry(entry, at)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalError(
            f"--out: line {at} of {path} is damaged ({type(error).__name__}: {error}); name another folder, or remove "
            "this one"
        ) from error
    return entry


def _require_entry(entry: Mapping[str, Any], at: int) -> None:
    [(kind, value)] = entry.items()
    if (kind == "subject") != (at == 1) or not isinstance(value, _KINDS[kind]):
        raise ValueError("not an entry of this place")
    if kind == "result":
        result_from(value)


def results_of(lines: Iterable[Mapping[str, Any]]) -> dict[str, StepResult]:
    """Returns the results by step; a step that was cut off is a failure."""
    results: dict[str, StepResult] = {}
    for line in lines:
        if "begin" in line:
            results[line["begin"]] = StepResult(line["begin"], Outcome.FAILED, _CUT_OFF)
        elif "again" in line:
            results.pop(line["again"], None)
        elif "result" in line:
            result = result_from(line["result"])
            results[result.step] = result
    return results


def result_from(fields: Mapping[str, Any]) -> StepResult:
    """Builds a result from the `fields` that `plain` gave; raises KeyError, TypeError, ValueError."""
    result = StepResult(**fields)
    figures = tuple(Figure(one["name"], float(one["value"]), one["unit"], one["aim"]) for one in fields["figures"])
    return replace(result, outcome=Outcome(fields["outcome"]), figures=figures)
