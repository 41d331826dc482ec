"""A session's states, and the moves between them.

docs/states.md says who makes each move, and who holds what in each state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from wavepool.executor.v1 import session_pb2

from services.executor.sessions.errors import SessionNotReadyError, UnknownSessionError

Reason = session_pb2.SessionEndReason.ValueType


class SessionState(StrEnum):
    """Where a session is in its life."""

    RESTORING = "restoring"
    """Its home is made, and filled from the disk's snapshot."""
    FETCHING = "fetching"
    """Its image is fetched or built; entered by one with an image."""
    OPENING = "opening"
    """Its sandbox is made, and sshd starts in it."""
    READY = "ready"
    """People can be in."""
    ENDING = "ending"
    """Its programs were asked to end, or it is to be killed. Entered by who wants its end, or by what broke down."""
    SAVING = "saving"
    """Nobody is in any more: what is left is killed, its disk is saved, and all that it holds is given back."""
    OVER = "over"
    """Nothing of it is left. Its last event is recorded."""


_S = SessionState

LEGAL_MOVES: Mapping[SessionState, frozenset[SessionState]] = {
    _S.RESTORING: frozenset({_S.FETCHING, _S.OPENING, _S.ENDING}),
    _S.FETCHING: frozenset({_S.OPENING, _S.ENDING}),
    _S.OPENING: frozenset({_S.READY, _S.ENDING}),
    _S.READY: frozenset({_S.ENDING}),
    _S.ENDING: frozenset({_S.SAVING}),
    _S.SAVING: frozenset({_S.OVER}),
    _S.OVER: frozenset(),
}


class IllegalMoveError(RuntimeError):
    """A session cannot make this move: it is a bug."""

    def __init__(self, session_id: str, before: str, after: str) -> None:
        super().__init__(f"Session {session_id!r} cannot go from {before} to {after}.")


class SessionLife:
    """The state of one session, and why it ends; the first reason counts."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.state = SessionState.RESTORING
        self.was_ready = False
        self.kill_time: datetime | None = None
        """When what was asked to end is killed; None if nothing was asked."""
        self.reason: Reason | None = None
        self.details = ""
        self.killed = asyncio.Event()
        """Set once nobody waits for anything in the session any more."""

    @property
    def is_open(self) -> bool:
        """True while people can be in: also while its programs were asked to end."""
        return self.was_ready and self.state in {SessionState.READY, SessionState.ENDING}

    @property
    def is_ending(self) -> bool:
        """True once its end has begun."""
        return self.state in {SessionState.ENDING, SessionState.SAVING, SessionState.OVER}

    def check_open(self) -> None:
        """Raise UnknownSessionError if it is over, and SessionNotReadyError if nobody can be in for another reason."""
        if self.state is SessionState.OVER:
            raise UnknownSessionError(self.session_id)
        if not self.is_open:
            raise SessionNotReadyError(self.session_id)

    def fetch(self) -> None:
        """Begin to get the image."""
        self._move(SessionState.FETCHING)

    def open(self) -> None:
        """Begin to make the sandbox."""
        self._move(SessionState.OPENING)

    def be_ready(self) -> None:
        """Let people in."""
        self._move(SessionState.READY)
        self.was_ready = True

    def ask(self, reason: Reason, kill_time: datetime) -> tuple[bool, datetime]:
        """Begin the end of one that is open, with a kill at that time.

        Returns whether that is the first call, and when the kill comes: a repeated call never puts it off.
        """
        self._end(reason)
        is_first = self.kill_time is None
        self.kill_time = min(kill_time, self.kill_time or kill_time)
        return is_first, self.kill_time

    def kill(self, reason: Reason, details: str = "") -> None:
        """End it at once, because somebody wants that or because it cannot go on: then `details` say why."""
        self._end(reason)
        self.details = details or self.details
        self.killed.set()

    def shut(self) -> None:
        """Let nobody in any more. If nobody had asked for its end, it came from inside."""
        self._end(session_pb2.SESSION_END_REASON_SANDBOX_ENDED)
        self._move(SessionState.SAVING)

    def finish(self) -> Reason:
        """End its life, as nothing of it is left; returns why."""
        self._move(SessionState.OVER)
        return self.reason or session_pb2.SESSION_END_REASON_SANDBOX_ENDED

    def _end(self, reason: Reason) -> None:
        if not self.is_ending:
            self._move(SessionState.ENDING)
        self.reason = self.reason or reason

    def _move(self, state: SessionState) -> None:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(self.session_id, self.state, state)
        self.state = state
