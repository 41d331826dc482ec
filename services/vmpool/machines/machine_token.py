"""The tokens of machines, all made from one secret of the pool.

A machine's executor asks callers for its token. The token follows from the machine's id and the pool's secret, so a
pool that lost its record still recognises its own machines and can use them. Nobody else can make a token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECRET_FILE = "pool_secret"  # noqa: S105 - where it is kept
SECRET_BYTES = 32


class MachineTokens:
    """Makes tokens: HMAC-SHA256 of the machine's id under the pool's secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, machine_id: str) -> str:
        """The machine's token, in characters that fit into a header."""
        digest = hmac.digest(self._secret, machine_id.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def are_ours(self, machine_id: str, token: str) -> bool:
        """True if the token is the one that we give that machine."""
        return hmac.compare_digest(self.of(machine_id).encode(), token.encode())


def kept_secret(folder: Path) -> bytes:
    """The pool's secret, made at first use and kept in `folder`, readable by its owner alone.

    Raises ValueError if the file does not have SECRET_BYTES bytes.
    """
    path = folder / SECRET_FILE
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        pass
    secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise ValueError(
            f"{path} is {len(secret)} bytes long, not {SECRET_BYTES}: it was cut off. Remove it; machines that run "
            "with tokens made from it will be reported as orphans, and have to be released by hand."
        )
    return secret
