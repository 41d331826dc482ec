"""The token by which the services of one installation know each other.

It lies in a file that all of them read, by default `service-token` in the data folder; the first service that needs it
makes the file, with mode 0600. Each line of the file is a token: the first one is sent, and all are accepted. To change
the token, put a new line first, and take the old one out a minute later. No service has to start again for it.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vocabulary.bearer import bearer_token, same_token

if TYPE_CHECKING:
    from vocabulary.bearer import Metadata


FILE_NAME = "service-token"


class NoServiceTokenError(ValueError):
    """The token's file cannot be read or made, or holds no token."""


class ServiceToken:
    """Reads the file again after each change of it; makes it if there is none."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._version: tuple[int, int, int] | None = None
        self._tokens: tuple[str, ...] = ()

    def current(self) -> str:
        """The token to send; raises NoServiceTokenError."""
        return self._read()[0]

    def is_in(self, metadata: Metadata) -> bool:
        """True if a call with this metadata comes from a service of ours; raises NoServiceTokenError."""
        given = bearer_token(metadata)
        return any(same_token(given, token) for token in self._read())

    def _read(self) -> tuple[str, ...]:
        try:
            if not self.file.exists():
                _make(self.file)
            # Once for each call: a microsecond, for a change that needs no restart.
            found = self.file.stat()
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if version != self._version:
                self._tokens = tuple(self.file.read_text(encoding="utf-8").split())
                self._version = version
        except (OSError, UnicodeDecodeError) as error:
            raise NoServiceTokenError(
                f"WAVEPOOL_SERVICE_TOKEN_FILE: {self.file} can neither be read nor made ({error}); give a file that "
                "all services can read"
            ) from error
        if not self._tokens:
            raise NoServiceTokenError(
                f"WAVEPOOL_SERVICE_TOKEN_FILE: {self.file} holds no token; delete it, and the next service makes one"
            )
        return self._tokens


def service_token_of(data_dir: Path) -> ServiceToken:
    """The token of services that have this data folder and no WAVEPOOL_SERVICE_TOKEN_FILE."""
    return ServiceToken(data_dir / FILE_NAME)


def _make(file: Path) -> None:
    """Make the file with a new token, or leave that of another service that was faster."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes it with mode 0600, so that no other user can read it at any moment.
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".service-token-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as made:
            made.write(f"wps_{secrets.token_urlsafe(32)}\n")
            made.flush()
            os.fsync(made.fileno())
        with suppress(FileExistsError):
            file.hardlink_to(name)
    finally:
        Path(name).unlink()
