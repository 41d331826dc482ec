"""Errors of the client.

WavepoolError
├── InputError            the request is at fault; `fields` names the faults and their fixes
│   └── NotFoundError     no such problem, submission or file
├── AuthenticationError   the token is missing, wrong or revoked
├── RateLimitedError      too much at once; `retry_after_seconds` says when to come back
├── UnreachableError      no answer came, or a broken stream could not be resumed; trying again may help
│   └── NotListeningError nothing listens at the endpoint
└── ServerError           the gateway answered that it failed, or something that is not Wavepool answered
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from wavepool_client.exit_codes import ExitCode


class WavepoolError(Exception):
    """Base of all errors that the client raises; the message says how to proceed."""

    exit_code: ClassVar[ExitCode] = ExitCode.UNAVAILABLE


class InputError(WavepoolError):
    """The request is at fault."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, fields: Mapping[str, str] | None = None) -> None:
        self.fields = dict(fields or {})
        said = ((name, fix) for name, fix in self.fields.items() if f"{name}: {fix}" not in message)
        lines = [f"  {name}: {fix}" for name, fix in said]
        super().__init__("\n".join([message, *lines]))


class NotFoundError(InputError):
    """The requested thing does not exist."""


class AuthenticationError(WavepoolError):
    """The token is missing, wrong or revoked."""

    exit_code = ExitCode.AUTHENTICATION


class RateLimitedError(WavepoolError):
    """Too much at once: a limit is reached."""

    exit_code = ExitCode.LIMIT_REACHED

    def __init__(self, message: str, retry_after_seconds: float | None) -> None:
        self.retry_after_seconds = retry_after_seconds
        hint = "" if retry_after_seconds is None else f" (try again in {retry_after_seconds:g} s)"
        super().__init__(f"{message}{hint}")


class UnreachableError(WavepoolError):
    """No answer came."""


class NotListeningError(UnreachableError):
    """Nothing listens at the endpoint: no gateway runs there."""


class ServerError(WavepoolError):
    """The gateway failed, or its answer is not Wavepool's."""
