"""The end of what an executor printed, which says why it ended."""

from __future__ import annotations

import json
from typing import Any, cast

LAST_LOG_LINES = 2


def last_words(printed: bytes) -> str:
    """The last lines that are not empty, on one; empty where there are none. Of log records, what they say."""
    lines = [line.strip() for line in printed.decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(map(_said, lines[-LAST_LOG_LINES:]))


def _said(line: str) -> str:
    """The message of a record of `servicekit.logging`, with its error; another line as it is."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict) or "message" not in record:
        return line
    fields = cast("dict[str, Any]", record)
    causes = (str(fields.get(name) or "").strip().rpartition("\n")[2] for name in ("error", "traceback"))
    return ": ".join([str(fields["message"]), *filter(None, causes)])
