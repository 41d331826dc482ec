"""Reasons for which the executor refuses a call about a session.

ExecutorError
├── NoSessionsError
├── NoGangsError
├── NoDisksError
├── UnknownSessionError
├── SessionConflictError
├── HomeInUseError
├── SessionNotReadyError
├── NoDiskError
├── TooManyConnectionsError
└── SilentSessionError
"""

from __future__ import annotations

from datetime import timedelta

from services.executor.leases.errors import ExecutorError

_READY_RETRY = timedelta(seconds=1)
"""Most sandboxes are ready within a second."""


class NoSessionsError(ExecutorError):
    """The machine cannot hold sessions."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"This machine cannot run sessions: {reason}. Or use another machine.")


class NoGangsError(ExecutorError):
    """The machine can hold no node of this gang."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"gang: this machine can hold no node of it: {reason}. Or use another machine.")


class NoDisksError(ExecutorError):
    """The machine does not have the disk's snapshots, or keeps no disks."""

    def __init__(self, name: str, store_id: str, has: str) -> None:
        """`has` completes 'this machine, which'."""
        wanted = f", which is in {store_id}" if store_id else ""
        super().__init__(f"disk: {name!r}{wanted} is not available on this machine, which {has}. Use another machine.")


class UnknownSessionError(ExecutorError):
    """No such session is known here, or it is over."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id!r} here (any more). Open another under a new id.")


class SessionConflictError(ExecutorError):
    """The session id is taken by another request."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"Session {session_id!r} was opened with other slots, environment, home, disk, image or gang. "
            "Use a new id for each session."
        )


class HomeInUseError(ExecutorError):
    """Another session uses the home."""

    def __init__(self, home: str, session_id: str) -> None:
        super().__init__(f"home: {home!r} is in use by session {session_id!r}; close that one, or name another home")


class SessionNotReadyError(ExecutorError):
    """The session is still being opened, or is ending."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id!r} is not ready, or is ending: wait for its `ready` or `ended` event.")
        self.retry_after = _READY_RETRY


class NoDiskError(ExecutorError):
    """The session has no disk."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id!r} has no disk, so no snapshot can be taken of it.")


class TooManyConnectionsError(ExecutorError):
    """The session has as many connections as it may have."""

    def __init__(self, session_id: str, most: int) -> None:
        super().__init__(f"Session {session_id!r} has {most} connections, which is the limit. Close one.")


class SilentSessionError(ExecutorError):
    """A session's first program takes no orders: it has ended, or one of its users has stopped it."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id!r} does not answer. Try again, or close it.")
