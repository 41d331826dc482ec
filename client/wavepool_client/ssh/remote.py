"""Commands in a reservation and copies of files, over the real ssh and rsync."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavepool_client.errors import InputError
from wavepool_client.ssh.config_files import write_config
from wavepool_client.text.reservations import host_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from wavepool_client.http.connection import Connection

CONNECTION_FAILED = 255
"""ssh's exit status if there was no connection, or if it broke; a command may have it, too."""
# Owners and devices of one side mean nothing on the other; what is newer where it goes is kept.
_COPY = ("rsync", "-rlptz", "--partial", "--update")


@dataclass(frozen=True)
class Remote:
    """The session of an active reservation: its file for ssh, its host there, and the environment of ssh."""

    config: Path
    host: str
    environment: dict[str, str] | None = None

    def command(self, line: str, options: Sequence[str] = ()) -> list[str]:
        """The words that run a shell's line there, without a terminal; `options` are ssh's."""
        return [_program("ssh"), "-F", str(self.config), "-T", *options, self.host, *([line] if line else [])]

    def output(self, line: str) -> subprocess.CompletedProcess[str]:
        """Runs a shell's line there, and waits for its end."""
        return subprocess.run(  # noqa: S603 - OpenSSH's own
            self.command(line),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            env=self.environment,
        )

    def upload(self, sources: Sequence[Path | str], target: str) -> int:
        """Copies files there with rsync, and returns its exit status; `folder/` is what is in a folder."""
        return self._copy([*map(str, sources), f"{self.host}:{target}"])

    def download(self, source: str, target: Path | str) -> int:
        """Copies files from there with rsync, and returns its exit status; `folder/` is what is in a folder."""
        return self._copy([f"{self.host}:{source}", str(target)])

    def _copy(self, words: Sequence[str]) -> int:
        shell = shlex.join([_program("ssh"), "-F", str(self.config)])
        _program("rsync")
        command = [*_COPY, "-e", shell, "--", *words]
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, env=self.environment)  # noqa: S603 - a fixed program
        return done.returncode


def remote_of(reservation: dict[str, Any], connection: Connection) -> Remote:
    """The session of an active reservation. Raises InputError."""
    # The proxy finds the token there if no profile has it; a file or a command would show it to others.
    token = {"WAVEPOOL_TOKEN": connection.token} if connection.token else {}
    return Remote(write_config(reservation, connection), host_name(str(reservation["id"])), {**os.environ, **token})


def line_of(words: Sequence[str]) -> str:
    """The shell's line for a command: one word is such a line already, several are a program with its arguments."""
    return words[0] if len(words) == 1 else shlex.join(words)


def copied(status: int) -> bool:
    """True if rsync copied all; raises InputError if the session has no rsync."""
    missing = 127
    if status == missing:
        raise InputError("the session has no rsync, so files cannot be copied; use `scp` or `sftp`")
    return status == 0


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise InputError(f"there is no {name} on this machine; install it")
    return found
