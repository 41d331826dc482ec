"""`wavepool metrics`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from wavepool_client.commands.options import Client, Group, Shown, SinceOption, UntilOption, answered, instant_option
from wavepool_client.terminal.result_printing import table_of

app = Group(
    "Metrics of jobs that are over, and of what waits now.",
    "wavepool metrics",
    "wavepool metrics --by user --since 7d",
    "wavepool metrics --by problem --since 2026-11-01 --until 2026-12-01 --json | jq '.groups[].efficiency'",
    "wavepool metrics queues",
)


class Grouping(StrEnum):
    """The ways to group jobs."""

    ALL = "all"
    USER = "user"
    QUEUE = "queue"
    MACHINE = "machine"
    PROBLEM = "problem"
    GPU_TYPE = "gpu_type"


@app.by_itself
@answered
def metrics(
    gateway: Client,
    *,
    by: Annotated[Grouping, typer.Option("--by", help="How to group the jobs.")] = Grouping.ALL,
    since: SinceOption = "",
    until: UntilOption = "",
    account: Annotated[str, typer.Option("--account", metavar="ID", help="Default: your own; for operators all.")] = "",
) -> Shown:
    """Show how the jobs of a period ended, waited and ran, and how their GPU time was used."""
    given = {"group_by": by.value, "since": instant_option("--since", since), "until": instant_option("--until", until)}
    found = gateway.job_metrics({**given, "account_id": account})
    yield found
    if not found["groups"]:
        yield "no job ended in this time"
        return
    columns = (
        by.value.replace("_", " "),
        *("jobs", "verdicts", "accepted", "failed", "lost", "wait p50", "p90", "run p50", "p90"),
        *("useful GPU s", "paid", "efficiency", "GFLOP/s"),
    )
    yield table_of(columns, map(_row, found["groups"]))


@app.answers("queues")
def queues(gateway: Client) -> Shown:
    """Show what waits and runs now, by queue and GPU type."""
    found = gateway.queue_metrics()
    yield found
    if not found["queues"]:
        yield "nothing waits and nothing runs"
        return
    minutes = float(found.get("window_seconds") or 0) / 60
    columns = (
        *("queue", "gpu", "waiting", "running", "stuck", "longest wait", "p90"),
        *(f"ended in {minutes:g} min", "failed", "lost"),
    )
    yield table_of(columns, map(_queue_row, found["queues"]))


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    efficiency = one.get("efficiency")
    gflops = one.get("gflops")
    return (
        one.get("name") or one.get("group"),
        *(one.get(name) for name in ("jobs", "succeeded", "accepted", "failed", "lost_attempts")),
        *_spread(one.get("wait")),
        *_spread(one.get("run")),
        *(f"{one.get(f'{kind}_gpu_seconds', 0):,.1f}" for kind in ("useful", "paid")),
        None if efficiency is None else f"{efficiency:.0%}",
        None if gflops is None else f"{gflops:,.1f}",
    )


def _queue_row(one: dict[str, Any]) -> tuple[object, ...]:
    return (
        *(one.get(name) for name in ("queue", "gpu_type", "waiting_jobs", "running_jobs", "stuck_jobs")),
        *(_seconds(one.get(f"{name}_wait_seconds")) for name in ("oldest", "p90")),
        *(one.get(name) for name in ("ended_jobs", "failed_jobs", "lost_attempts")),
    )


def _spread(spread: dict[str, Any] | None) -> tuple[str | None, str | None]:
    found = spread or {}
    return _seconds(found.get("p50_seconds")), _seconds(found.get("p90_seconds"))


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:,.1f} s"
