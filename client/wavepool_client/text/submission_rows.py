"""A submission and its progress, as rows of a table; pure, and tolerant of missing fields."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.machines import cost_text
from wavepool_client.text.narration import format_milliseconds
from wavepool_client.text.reservations import usd_text, wait_text
from wavepool_client.text.start_times import time_text

AS_THEY_ARE = (
    "id",
    "name",
    "visibility",
    "problem",
    "mode",
    "timing",
    "gpu_type",
    "fallback_gpu_types",
    "dtype",
    "language",
    "queue",
    "time_limit_seconds",
    "class",
    "placement",
    "deadline",
    "priority",
)
AFTERWARDS = (
    "state",
    "status",
    "timing_status",
    "attempt",
    "machine_id",
    "hardware",
    "machine_gpu_type",
    "create_time",
    "start_time",
    "end_time",
)

TIMES = ("deadline", "create_time", "start_time", "end_time")


def submission_rows(job: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the known fields; code and result are too long for a table."""
    facts = {name: job.get(name) for name in (*AS_THEY_ARE, *AFTERWARDS)}
    facts |= {name: time_text(job.get(name)) for name in TIMES}
    facts["machine"] = machine_text(job.get("machine"))
    facts["resources"] = resources_text(job.get("resources"))
    got = job.get("got_gpus")
    facts["got"] = counted(got, "GPU") if got and _is_range(job) else None
    facts["waited"] = _between(job.get("create_time"), job.get("start_time"))
    facts["took"] = _between(job.get("start_time"), job.get("end_time"))
    facts["cost"] = cost_text(job.get("cost_usd"), job.get("billable_seconds"))
    facts["extras"] = [name for name in ("launch_plan", "problem_def", "profile") if job.get(name)]
    facts["message"] = None if job.get("result") else job.get("message")
    return [(name, _text(value)) for name, value in facts.items() if value not in (None, "", [])]


def quote_rows(quote: dict[str, Any]) -> list[tuple[str, str]]:
    """What would become of a submission: names and values of what is known."""
    basis, wait = quote.get("estimate_basis"), wait_text(quote)
    facts = {
        "gpu_type": quote.get("gpu_type"),
        "fallback_gpu_types": quote.get("fallback_gpu_types"),
        "resources": resources_text(quote.get("resources")) or "1 GPU",
        "queue": f"{quote.get('queue')}, position {quote.get('position')}",
        "starts": f"{wait} (estimate: {basis})" if wait and basis else wait or basis,
        "time limit": _seconds(quote.get("time_limit_seconds")),
        "on hold": f"{usd_text(quote.get('hold_usd'))}, the most that it can cost",
        "submissions left": quote.get("remaining_submissions"),
    }
    return [(name, _text(value)) for name, value in facts.items() if value not in (None, "", [])]


def submission_text(job: dict[str, Any]) -> str:
    """A submission among several, in a few words: what it is and how it goes."""
    return f"{job.get('problem') or ''} {job.get('mode')}, {job.get('status') or job.get('state')}".strip()


def machine_text(use: object) -> str | None:
    """How a submission uses its machine, such as `create, idle 60 s`; None if it asked for nothing special."""
    if not isinstance(use, dict):
        return None
    known = cast("dict[str, Any]", use)
    reuse, idle = known.get("reuse"), known.get("idle_seconds")
    said = [] if reuse == "reuse-or-create" else [str(reuse)]
    said += [] if idle is None else [f"idle {idle} s"]
    said += ["waits for an operator"] if known.get("wait_for_operator") else []
    return ", ".join(said) or None


def resources_text(resources: object) -> str | None:
    """What a submission takes, such as `2 GPUs` or `0.5 GPU (partition)`; None for one whole GPU."""
    if not isinstance(resources, dict):
        return None
    known = cast("dict[str, Any]", resources)
    gpus, fraction, devices = known.get("gpus"), known.get("fraction"), known.get("devices")
    if known.get("min_gpus"):
        return f"{known['min_gpus']} to {gpus} GPUs"
    size = f"{fraction} GPU ({known.get('isolation')})" if fraction else counted(gpus, "GPU")
    if devices:
        return f"{size} as {counted(devices, 'device')}"
    return None if gpus == 1 else size


def _seconds(seconds: object) -> str | None:
    return None if seconds is None else f"{seconds} s"


def _is_range(job: dict[str, Any]) -> bool:
    resources = cast("dict[str, Any]", job.get("resources") or {})
    return bool(resources.get("min_gpus"))


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - JSON


def _between(begin: object, end: object) -> str | None:
    try:
        passed = datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(begin))
    except (ValueError, TypeError):
        return None
    return format_milliseconds(passed.total_seconds() * 1000)
