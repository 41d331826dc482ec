"""Rows that say what other schedulers do: facts from the test suites of NVIDIA/KAI-Scheduler and kubernetes-sigs/kueue.

NOTICE: both projects are under the Apache License, Version 2.0. Each row names its source. No code was taken.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One row, as its file has it."""

Replays: TypeAlias = Mapping[str, Callable[[Row], Iterable[str]]]
"""By kind of row: what differs between the row and the engine, in words."""

CASES = Path(__file__).with_name("cases")
RESULTS = ("passed", "failed", "not applicable", "of an unknown kind")


def rows(peer: str) -> list[Row]:
    """The rows of all files of one scheduler."""
    lines = [line for file in sorted(CASES.glob(f"{peer}_*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def report(peer: str, replays: Replays, not_applicable: Callable[[Row], str | None] = lambda _: None) -> str:
    """How many rows of each kind and of all have which result, then each row that did not pass, with the reason."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    notes: list[str] = []
    for row in rows(peer):
        result, why = _result(row, replays, not_applicable)
        counts[str(row.get("kind"))][result] += 1
        if why:
            notes.append(f"{result}: {row.get('id')} ({row.get('name')}): {why}")
    counts["all"] = sum(counts.values(), Counter[str]())
    lines = [f"{kind}: " + ", ".join(f"{of[one]} {one}" for one in RESULTS) for kind, of in counts.items()]
    return "\n".join([*lines, *notes])


def _result(row: Row, replays: Replays, not_applicable: Callable[[Row], str | None]) -> tuple[str, str]:
    replay = replays.get(str(row.get("kind")))
    if replay is None:
        return "of an unknown kind", "there is no replay of its kind"
    try:
        if reason := not_applicable(row):
            return "not applicable", reason
        why = "; ".join(replay(row))
    except (LookupError, TypeError, ValueError) as error:
        why = f"the replay cannot read it: {error!r}"
    return "failed" if why else "passed", why
