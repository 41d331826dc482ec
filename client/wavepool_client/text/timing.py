"""The word that tells if a time ranks, shown beside the verdict on the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNSTABLE = "UNSTABLE"
_COLOURS = {"VALID": "green", "INVALID": "red", UNSTABLE: "red"}


def timing_text(fields: Mapping[str, Any]) -> str:
    """The timing of a case or of a run in a word; empty if nothing was timed.

    An UNSTABLE time of a device that never ranks has its interval beside the word. Older gateways call it VALID.
    """
    timing, half_width = str(fields.get("timing") or ""), fields.get("shown_interval")
    if timing in {"VALID", UNSTABLE} and isinstance(half_width, int | float) and half_width > 0:
        return f"{UNSTABLE} {plus_minus(half_width)}"
    return "" if timing == "UNSPECIFIED" else timing


def is_measured(fields: Mapping[str, Any]) -> bool:
    """True if a time may be shown as one: an UNPROVEN or INVALID time is only what a program claims.

    An UNSTABLE run may have cases that are not proven.
    """
    return not fields.get("unproven_because") and timing_text(fields).partition(" ")[0] in {"", "VALID", UNSTABLE}


def plus_minus(half_width: float) -> str:
    """Half an interval's width over its time, as a percentage of two digits; above 100 % without a figure."""
    if half_width > 1:
        return "over ± 100 %"
    percent = 100 * half_width
    return f"± {percent:.2g} %" if percent < 99.5 else "± 100 %"  # noqa: PLR2004 - which rounds to 1e+02


def timing_colour(fields: Mapping[str, Any]) -> str:
    """Colour of the timing's word; unknown words of newer gateways get no trust."""
    return _COLOURS.get(timing_text(fields), "yellow")
