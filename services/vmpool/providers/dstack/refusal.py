"""Explains why dstack's server refuses a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault

NOT_FOUND_CODE = "resource_not_exists"

# The server is working on a machine or fleet right now; the same request will succeed later.
_BUSY_PHRASES = ("in use", "active run", "being processed", "is provisioning", "resource has been changed")

_FAULTS_BY_CODE: Mapping[str, Fault] = {
    NOT_FOUND_CODE: Fault.MISCONFIGURED,
    "invalid_credentials": Fault.MISCONFIGURED,
    "backend_not_available": Fault.NO_CAPACITY,
}

_ADVICE: Mapping[int, str] = {
    401: "set VMPOOL_DSTACK_TOKEN to a token of the server",
    403: "set VMPOOL_DSTACK_TOKEN to a token of the server, of a user who is a member of VMPOOL_DSTACK_PROJECT",
    404: "set VMPOOL_DSTACK_PROJECT to a project of the server, and VMPOOL_DSTACK_SERVER_URL to dstack's own address",
    405: "set VMPOOL_DSTACK_SERVER_URL to dstack's own address",
    422: "run a server of the same major and minor version as the dstack package here",
}

_BAD_REQUEST = 400


class RefusedError(ProviderError):
    """The server refused the request; `code` is its own word, `status` is the HTTP status."""

    def __init__(self, path: str, status: int, code: str, message: str) -> None:
        self.status = status
        self.code = code
        advice = f"; {_ADVICE[status]}" if status in _ADVICE else ""
        super().__init__(
            f"dstack refuses {path} ({status}): {message}{advice}", fault_of_refusal(status, code, message)
        )

    @property
    def is_not_found(self) -> bool:
        """True if dstack says that the named thing does not exist."""
        return self.code == NOT_FOUND_CODE

    @property
    def is_busy(self) -> bool:
        """True if the same request may succeed later."""
        return self.status == _BAD_REQUEST and any(phrase in str(self).casefold() for phrase in _BUSY_PHRASES)


def refusal(path: str, status: int, body: object) -> RefusedError:
    """The error for an answer with that status and JSON body; `body` None: it was not JSON."""
    code, message = _detail(body)
    return RefusedError(path, status, code, message)


def fault_of_refusal(status: int, code: str, message: str) -> Fault:
    """The fault that decides how the pool reacts to a refusal."""
    if status in _ADVICE or "incompatible with the server version" in message:
        return Fault.MISCONFIGURED
    return _FAULTS_BY_CODE.get(code, Fault.PROVIDER)


def _detail(body: object) -> tuple[str, str]:
    """The code and message in an answer's `detail`: a list of `{code, msg}`, one `{code, msg}`, or a sentence."""
    detail: Any = cast("dict[str, Any]", body).get("detail") if isinstance(body, dict) else None
    details = cast("list[Any]", detail if isinstance(detail, list) else [detail])
    first = details[0] if details else None
    if isinstance(first, dict):
        reported = cast("dict[str, Any]", first)
        return str(reported.get("code") or ""), str(reported.get("msg") or reported)
    return "", str(first or "it says no more")
