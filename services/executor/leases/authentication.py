"""Authentication of callers: holders of this machine's lease token, and the administrator."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from services.executor.leases.errors import MissingTokenError, WrongTokenError

if TYPE_CHECKING:
    from collections.abc import Iterable

METADATA_KEY = "authorization"
_SCHEME = "bearer "


class Caller(Enum):
    """The role of a caller."""

    LEASE_HOLDER = 1
    ADMINISTRATOR = 2


@dataclass(frozen=True)
class Tokens:
    """The accepted tokens; an empty one is never accepted."""

    lease: str
    admin: str

    def caller(self, metadata: Iterable[tuple[str, str | bytes]]) -> Caller:
        """Return the role of the caller that sent this metadata; raises MissingTokenError, WrongTokenError."""
        headers = [value for key, value in metadata if key == METADATA_KEY and isinstance(value, str)]
        if not headers or not headers[0].lower().startswith(_SCHEME):
            raise MissingTokenError
        token = headers[0][len(_SCHEME) :].strip()
        if _same(token, self.admin):
            return Caller.ADMINISTRATOR
        if _same(token, self.lease):
            return Caller.LEASE_HOLDER
        raise WrongTokenError


def _same(given: str, expected: str) -> bool:
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())
