"""Structured logs: one JSON object a line; up to WARNING on stdout, ERROR and above on stderr."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson

from servicekit.request_id import current_request_id

BUILT_IN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Writes a record, its `extra` fields, the request id and the traceback as one line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Formats the record as one line of JSON."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "service": self._service,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := current_request_id():
            line["request_id"] = request_id
        line.update({key: value for key, value in vars(record).items() if key not in BUILT_IN_FIELDS})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


class _BelowError(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno < logging.ERROR


def configure(service: str, level: str) -> None:
    """Sends all logs of this process through the JSON formatter; `level` is a name such as `INFO`."""
    formatter = JsonFormatter(service)
    to_stdout = logging.StreamHandler(sys.stdout)
    to_stdout.addFilter(_BelowError())
    to_stderr = logging.StreamHandler(sys.stderr)
    to_stderr.setLevel(logging.ERROR)
    for handler in (to_stdout, to_stderr):
        handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[to_stdout, to_stderr], force=True)
    # At DEBUG it writes every statement with its values, among them people's keys.
    logging.getLogger("aiosqlite").setLevel(max(logging.INFO, logging.getLogger().level))


def get_logger(name: str) -> logging.Logger:
    """The logger of a module: `get_logger(__name__)`; fields go into `extra`."""
    return logging.getLogger(name)
