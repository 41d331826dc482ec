"""What a session's first program reports, which its users can forge: nothing may do more than harm themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit import logging
from services.executor.sessions.access.logins import Logins
from services.executor.sessions.access.orders import Orders
from services.executor.sessions.access.session_files import COMMAND_OUTPUT
from services.executor.sessions.session_sandbox import Report

log = logging.get_logger(__name__)

MOST_FAULTS = 20
"""Faults that are logged: a session's users can make its first program report any number."""
_MOST_STATUS = 255


class Reports:
    """Acts on the reports of one session; `started` is set once sshd takes connections."""

    def __init__(
        self, orders: Orders, logins: Logins, record: Callable[[SessionEvent], None], *, runs_command: bool
    ) -> None:
        self.started = asyncio.Event()
        self._life = orders.life
        self._orders = orders
        self._logins = logins
        self._record = record
        self._awaits_command = runs_command
        self._fault_count = 0

    def take(self, report: Report) -> None:
        """Act on a report, if it is one."""
        match report:
            case {"report": "ready"}:
                self.started.set()
            case {"report": "failed", "text": str(text)}:
                self._take_failure(text)
            case {"report": "log" | "closed" | "gone" as kind, "connection": int(connection)}:
                self._logins.take_step(connection, str(kind), str(report.get("line")))
            case {"report": "done", "number": int(number), "count": int(count)}:
                self._orders.take_answer(number, count)
            case {"report": "command_ended", "status": int(status)} if self._life.is_open and self._awaits_command:
                self._take_command_end(status)
            case {"report": "fault", "text": str(text)} if self._fault_count < MOST_FAULTS:
                self._fault_count += 1
                extra = {"session_id": self._life.session_id, "text": text}
                log.warning("a session's first program failed", extra=extra)
            case {"report": "empty"} if self._life.kill_time is not None:
                self._life.killed.set()
            case _:
                pass

    def _take_failure(self, text: str) -> None:
        """End the session; once people can be in, this is an end from inside, and they pay for the time until then."""
        ended, failed = session_pb2.SESSION_END_REASON_SANDBOX_ENDED, session_pb2.SESSION_END_REASON_FAILED
        self._life.kill(ended if self.started.is_set() else failed, text)

    def _take_command_end(self, status: int) -> None:
        """Tell the end of the image's own command, once."""
        self._awaits_command = False
        status = min(max(status, 0), _MOST_STATUS)
        self._record(SessionEvent(command_ended=session_pb2.SessionCommandEnded(exit_status=status)))
        if not self._life.is_ending:
            text = f"The image's own command has ended with status {status}. Its output is in {COMMAND_OUTPUT}."
            self._orders.notify(text)
