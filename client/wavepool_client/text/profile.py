"""The profile of a submission, as rows of a table; pure, and tolerant of missing fields."""

from __future__ import annotations

from typing import Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.narration import format_milliseconds

COLUMNS = ("kernel", "calls", "mean", "min", "max", "share", "grid", "block", "VGPR", "AGPR", "SGPR", "LDS", "scratch")
NS_PER_MS = 1e6
SHOWN_CHARACTERS = 60


def profile_title(profile: dict[str, Any]) -> str:
    """One line on the origin of a profile, or why there is none."""
    note = str(profile.get("note") or "")
    if not profile.get("kernels"):
        return f"profile: {note or profile.get('outcome')}"
    tool = " ".join(filter(None, (profile.get("tool"), profile.get("tool_version"))))
    clock = " (the host's clock, not GPU times)" if profile.get("clock") == "HOST" else ""
    return f"profile of {counted(profile.get('solution_calls'), 'call')} of {profile.get('name')}, by {tool}{clock}"


def profile_rows(profile: dict[str, Any]) -> list[tuple[object, ...]]:
    """A row for each kernel, in the order of COLUMNS."""
    return [_row(kernel) for kernel in cast("list[dict[str, Any]]", profile.get("kernels") or [])]


def _row(kernel: dict[str, Any]) -> tuple[object, ...]:
    share = kernel.get("share")
    return (
        _cut(str(kernel.get("name") or "")),
        kernel.get("calls"),
        *(_time(kernel.get(name)) for name in ("mean_ns", "min_ns", "max_ns")),
        f"{share:.1%}" if isinstance(share, int | float) else None,
        _extent(kernel.get("grid")),
        _extent(kernel.get("block")),
        kernel.get("vgpr"),
        kernel.get("agpr"),
        kernel.get("sgpr"),
        _bytes(kernel.get("lds_bytes")),
        _bytes(kernel.get("scratch_bytes")),
    )


def _cut(name: str) -> str:
    """A name that leaves room for the figures; the JSON has all of it."""
    return name if len(name) <= SHOWN_CHARACTERS else f"{name[: SHOWN_CHARACTERS - 1]}…"


def _time(ns: object) -> str | None:
    return format_milliseconds(ns / NS_PER_MS) if isinstance(ns, int | float) else None


def _extent(extent: object) -> str | None:
    """Three numbers without the ones at their end: `16 x 1024`."""
    if not isinstance(extent, list):
        return None
    numbers = list(map(str, cast("list[object]", extent)))
    while len(numbers) > 1 and numbers[-1] == "1":
        numbers.pop()
    return " x ".join(numbers)


def _bytes(number: object) -> str | None:
    return f"{number} B" if isinstance(number, int) else None
