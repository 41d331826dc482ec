"""An alert channel that appends each notice to a file, as a line of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from pydantic import BaseModel

from services.billing.alerts.channels.channel import Notice


class Options(BaseModel):
    """Where the file is."""

    path: Path


class Journal:
    """Keeps the file open from `start` to `close`, so that a folder that is not there is noticed at once."""

    Settings = Options

    def __init__(self, options: Options) -> None:
        self._path = options.path
        self._file: TextIO | None = None

    async def start(self) -> None:
        """Opens the file."""
        self._file = self._path.open("a", encoding="utf-8")

    async def send(self, notice: Notice) -> None:
        """Appends a line."""
        assert self._file is not None
        self._file.write(json.dumps({"id": notice.notice_id, "event": notice.event, "rule": notice.rule}) + "\n")
        self._file.flush()

    async def close(self) -> None:
        """Appends a last line, and closes the file."""
        assert self._file is not None
        self._file.write(json.dumps({"event": "closed"}) + "\n")
        self._file.close()
