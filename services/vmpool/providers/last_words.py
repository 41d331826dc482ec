"""The end of an executor's output, which says why it ended."""

from __future__ import annotations

import json
from typing import Any, cast

LAST_LOG_LINES = 2


def last_words(printed: bytes) -> str:
    """The last lines that are not empty, joined into one; empty if there are none. Log records give their message."""
    lines = [line.strip() for line in printed.decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(map(_said, lines[-LAST_LOG_LINES:]))


def _said(line: str) -> str:
    """The message of a `servicekit.logging` record, with its error; any other line as it is."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict) or "message" not in record:
        return line
    fields = cast("dict[str, Any]", record)
    causes = (str(fields.get(name) or "").strip().rpartition("\n")[2] for name in ("error", "traceback"))
    return ": ".join([str(fields["message"]), *filter(None, causes)])
