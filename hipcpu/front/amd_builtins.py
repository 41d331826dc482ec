"""The builtins that clang has for gfx942: which of them the cpu device has, and why it lacks the others."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("gfx942_builtins.tsv")
"""Each builtin's name, type, and why the cpu device lacks it, if it does; `tests/hipcpu/amd_builtins.py` writes it."""


@cache
def reasons() -> dict[str, str]:
    """Return why the cpu device lacks a builtin of gfx942, by its name; empty for those that it has."""
    rows = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {name: reason for name, _, reason in rows}


def has_builtin(name: str) -> bool:
    """Return True if the cpu device has this builtin, as gfx942 does."""
    return reasons().get(name) == ""


def why_not(name: str) -> str:
    """Return why there is no such builtin; empty if there is one."""
    return reasons().get(name, "clang has no such builtin for gfx942, the MI300X's architecture")
