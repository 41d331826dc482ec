"""The canonical form of a report: the same content gives the same bytes, so that it can be digested and signed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast


def canonical_json(value: object) -> str:
    """JSON with sorted keys, no spaces, and no escapes beyond JSON's own; floats that JSON lacks become null."""
    return json.dumps(_finite(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def signed_statement(run_id: str, finish_time: datetime, report: Mapping[str, object]) -> bytes:
    """The bytes that a machine signs for a finished run: the run's identity and its report."""
    statement = {"run_id": run_id, "finish_time": finish_time.isoformat(), "report": report}
    return canonical_json(statement).encode(errors="replace")


def _finite(value: Any) -> Any:  # noqa: ANN401  JSON is what it is
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value
