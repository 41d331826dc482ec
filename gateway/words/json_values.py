"""Values that every JSON reader can hold: no NaN, no infinities, no integers that a double would round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

MAX_EXACT_INTEGER = 2**53
"""Largest integer up to which a double, JavaScript's only number, is exact."""


def json_safe(value: object) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """The value with NaN and infinities as null, and integers beyond 2^53 as strings, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
        return str(value)
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(item) for item in cast("Sequence[object]", value)]
    return value


def worded(value: float) -> float | str:
    """The value, or "NaN", "Infinity" or "-Infinity" in its place, where null would say that there is no value."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def to_json(value: object) -> bytes:
    """The value as one line of JSON."""
    return orjson.dumps(json_safe(value))


def from_json(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """The parsed text, or the text itself if it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
