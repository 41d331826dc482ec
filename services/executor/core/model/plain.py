"""Records as JSON. Floats that JSON lacks become the strings NaN, Infinity and -Infinity."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, cast


def plain(value: Any) -> Any:  # noqa: ANN401  JSON is what it is
    """Turns dataclasses and mappings into objects, tuples into lists, and floats that JSON lacks into strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
