"""The token by which the services of one installation know each other.

It lies in a file that all of them read, by default `service-token` in the data folder; there the first service that
starts makes it, with mode 0600. Each line of the file is a token: the first one is sent, and all are accepted. To
change the token, put a new line first, and take the old one out a minute later. No service has to start again for it.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from servicekit.reread import Reread
from vocabulary.bearer import Metadata, bearer_token, same_token

# The standard library's own: the kit that certifies a machine has these settings and not our log format.
log = logging.getLogger(__name__)

FILE_NAME = "service-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
_FOR_OTHERS = 0o077


class NoServiceTokenError(ValueError):
    """The token's file cannot be read or made, or is not a list of tokens."""


class ServiceToken:
    """The tokens of a file, which is read again after each change of it.

    Raises NoServiceTokenError if that is not possible at first. Later it keeps the tokens that it has, and logs why.
    """

    def __init__(
        self, file: Path, setting: str = "WAVEPOOL_SERVICE_TOKEN_FILE", title: str = "the services' token"
    ) -> None:
        self.file = file
        self._tokens = Reread((file,), lambda: _tokens_in(file, setting, title), title)

    def current(self) -> str:
        """The token to send."""
        return self._tokens.value()[0]

    def is_in(self, metadata: Metadata) -> bool:
        """True if a call with this metadata comes from a service of ours."""
        given = bearer_token(metadata)
        return any(same_token(given, token) for token in self._tokens.value())


def service_token_of(data_dir: Path) -> ServiceToken:
    """The token of services that have this data folder and no WAVEPOOL_SERVICE_TOKEN_FILE; it is made if it is missing.

    Raises NoServiceTokenError.
    """
    file = data_dir / FILE_NAME
    if not file.exists():
        try:
            _make(file)
        except OSError as error:
            raise NoServiceTokenError(f"{file}, the token of the services, cannot be made: {error}") from error
    return ServiceToken(file)


def _tokens_in(file: Path, setting: str, title: str) -> tuple[str, ...]:
    where = f"{setting}: {file}"
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        mode = file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise NoServiceTokenError(f"{where} cannot be read ({error}); give a file that the service can read") from error
    for number, line in enumerate(lines, 1):
        if line and not _TOKEN.fullmatch(line):
            raise NoServiceTokenError(f"{where}, line {number}: a token is 20 to 200 letters, digits, `_` and `-`")
    tokens = tuple(filter(None, lines))
    if not tokens:
        raise NoServiceTokenError(f"{where} holds no token; write one into it, for example of `openssl rand -hex 32`")
    if mode & _FOR_OTHERS:
        log.warning("other users can read %s", title, extra={"file": str(file), "mode": f"{mode & 0o777:o}"})
    return tokens


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
