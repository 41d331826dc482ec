"""A program that `up` runs, and the rules for its restarts."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from vocabulary.backoff import Backoff

RESTARTS = Backoff(first=timedelta(seconds=0.2), longest=timedelta(seconds=10))
STABLE_SECONDS = 30.0
"""A program that ran this long starts again as quickly as one that never died."""
STARTS_BEFORE_READY = 3
"""A program that dies this often without having been ready once is broken, and a restart will not help."""
WRONG_SETTINGS = os.EX_CONFIG
"""The exit status of a service that refuses its settings; a restart will not help either."""
TAIL_LINES = 15
TAIL_BYTES = 16_384


class StartError(Exception):
    """A program does not start; the message has the end of its log."""


@dataclass(frozen=True)
class Program:
    """A program to run. `is_ready` asks the running program itself; `address` is for people."""

    name: str
    arguments: Sequence[str]
    address: str
    log: Path
    is_ready: Callable[[], Awaitable[bool]]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def restart_delay(crashes: int) -> float:
    """Seconds to wait before the start that follows this number of crashes in a row (from 1)."""
    return RESTARTS.pause(crashes).total_seconds()


def crashes_in_a_row(before: int, ran_seconds: float) -> int:
    """The number of crashes in a row, including one just now of a program that ran for `ran_seconds`."""
    return 1 if ran_seconds >= STABLE_SECONDS else before + 1


def how_it_ended(return_code: int) -> str:
    """The end of a process in words; negative codes are signals, as in subprocess."""
    if return_code >= 0:
        return f"exit status {return_code}"
    try:
        return signal.Signals(-return_code).name
    except ValueError:
        return f"signal {-return_code}"


def tail(log: Path, begin_bytes: int = 0) -> str:
    """The last lines of a log after its first `begin_bytes`; empty if the file does not exist."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(begin_bytes, file.tell() - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-TAIL_LINES:])
