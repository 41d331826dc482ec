"""Authentication of callers: holders of this machine's lease token, and the administrator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from services.executor.leases.errors import MissingTokenError, WrongTokenError
from vocabulary.bearer import Metadata, bearer_token, same_token


class Caller(Enum):
    """The role of a caller, as protos/wavepool/access/v1/access.proto names it."""

    LEASE_HOLDER = "lease_holder"
    ADMINISTRATOR = "machine_admin"


@dataclass(frozen=True)
class Tokens:
    """The accepted tokens; an empty one is never accepted."""

    lease: str
    admin: str

    def caller(self, metadata: Metadata) -> Caller:
        """Return the role of the caller that sent this metadata; raises MissingTokenError, WrongTokenError."""
        token = bearer_token(metadata)
        if not token:
            raise MissingTokenError
        if same_token(token, self.admin):
            return Caller.ADMINISTRATOR
        if same_token(token, self.lease):
            return Caller.LEASE_HOLDER
        raise WrongTokenError
