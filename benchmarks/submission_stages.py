"""Finds the time of each stage of submissions in the services' logs, by request ids.

A log line has the end of a call, to a millisecond, and its duration, so the length of a stage is about as precise.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

CALLS = {
    "POST": "the gateway's answer",
    "SubmitJob": "the scheduler's answer to the gateway",
    "ReserveCredit": "billing puts the worst case on hold",
    "AcquireLease": "vmpool leases the machine",
    "Run": "the executor's stream",
    "SettleCharge": "billing settles",
}
RUN_BEGINS = "run begins"


@dataclass(frozen=True)
class Measured:
    """One submission by the clocks of its client and its kernel, in Unix milliseconds."""

    request_id: str
    begin_ms: float
    first_instruction_ms: float
    end_ms: float


@dataclass(frozen=True)
class Span:
    """Begin and end of a call, in Unix milliseconds."""

    begin_ms: float
    end_ms: float


Spans = dict[str, Span]


def spans_by_request(lines: Iterable[str]) -> Mapping[str, Spans]:
    """The calls in the log lines, by request id and by name: a key of CALLS, or RUN_BEGINS."""
    found: defaultdict[str, Spans] = defaultdict(dict)
    for line in lines:
        entry: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        method = str(entry.get("method", "")).rpartition("/")[2]
        name = entry.get("message") if entry.get("message") == RUN_BEGINS else method
        if name in {*CALLS, RUN_BEGINS} and "request_id" in entry:
            end_ms = datetime.fromisoformat(entry["time"]).timestamp() * 1e3
            found[entry["request_id"]][name] = Span(end_ms - entry.get("duration_ms", 0.0), end_ms)
    return found


def stages_of(measured: Measured, spans: Spans) -> dict[str, float]:
    """Milliseconds of each stage in order, which add up to the whole; raises KeyError if a call was not logged."""
    marks = [
        ("to the gateway", spans["POST"].begin_ms),
        ("gateway reads the request", spans["SubmitJob"].begin_ms),
        ("scheduler stores the job", spans["ReserveCredit"].begin_ms),
        ("billing holds", spans["ReserveCredit"].end_ms),
        ("scheduler queues the job", spans["SubmitJob"].end_ms),
        ("dispatcher wakes up", spans["AcquireLease"].begin_ms),
        ("vmpool leases", spans["AcquireLease"].end_ms),
        ("scheduler stores the lease", spans["Run"].begin_ms),
        ("executor begins the run", spans[RUN_BEGINS].end_ms),
        ("judge, to the first instruction", measured.first_instruction_ms),
        ("all cases, with their kernels", spans["Run"].end_ms),
        ("scheduler stores the outcome", spans["SettleCharge"].begin_ms),
        ("billing settles", spans["SettleCharge"].end_ms),
        ("last event, to the client", measured.end_ms),
    ]
    begins = [measured.begin_ms, *(mark for _, mark in marks)]
    return {name: mark - begin for (name, mark), begin in zip(marks, begins, strict=False)}


def table(rows: Sequence[Mapping[str, float]]) -> str:
    """A table of each stage's p50 and p99 over several submissions, in milliseconds."""
    lines = [f"{'stage, ms':<34} {'p50':>9} {'p99':>9}"]
    for name in rows[0]:
        cuts = statistics.quantiles([row[name] for row in rows], n=100, method="inclusive")
        lines.append(f"{name:<34} {cuts[49]:9.1f} {cuts[98]:9.1f}")
    return "\n".join(lines)
