"""Structured logs: one JSON object a line; up to WARNING on stdout, ERROR and above on stderr."""

from __future__ import annotations

import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any

import orjson

from servicekit.request_id import current_request_id

BUILT_IN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_SECRETS = (
    re.compile(r"(wp[a-z]_)[A-Za-z0-9_-]{7,}"),
    re.compile(r"(\b(?:bearer|basic)\s+)[^\s\"'\\,]+", re.IGNORECASE),
    re.compile(
        r"(\b(?:proxy-)?authorization\b[\"'\\]*\s*[:=,]\s*(?:b?[\"'\\]+)?)(?!bearer\b|basic\b)[^\s\"'\\]+",
        re.IGNORECASE,
    ),
    re.compile(r"((?:ticket|token|secret|password)(?:=|%3D))[^\s\"'\\&#,;]+", re.IGNORECASE),
)
"""Secrets in a line, each after the part of it that may stay: tokens and tickets, headers, parameters of addresses."""
_TALKATIVE = ("aiosqlite", "httpcore", "uvicorn", "websockets")
"""Libraries that write at DEBUG what they carry: headers, frames, the values of statements such as people's keys."""


class JsonFormatter(logging.Formatter):
    """Writes a record, its `extra` fields, the request id and the traceback as one line, without the secrets in it."""

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
        return _without_secrets(orjson.dumps(line, default=str).decode())


def _without_secrets(line: str) -> str:
    # No secret has a quotation mark or a backslash, so the line stays JSON.
    for secret in _SECRETS:
        line = secret.sub(r"\1***", line)
    return line


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
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.INFO, logging.getLogger().level))


def get_logger(name: str) -> logging.Logger:
    """The logger of a module: `get_logger(__name__)`; fields go into `extra`."""
    return logging.getLogger(name)
