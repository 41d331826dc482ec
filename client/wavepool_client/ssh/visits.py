"""Runs ssh on a reservation, and again if the connection is lost and a shell is kept there."""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wavepool_client.errors import UnreachableError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.retries import Retries
from wavepool_client.ssh.remote import CONNECTION_FAILED
from wavepool_client.ssh.tunnel_note import NOTE, TunnelNote, note_in
from wavepool_client.terminal.output import say

GIVE_UP_SECONDS = 600.0
_STABLE_SECONDS = 10.0
"""A connection that was there for so long is one that was back."""
_KEEP = "/session/keep"
"""What keeps a shell in a session. One that began before there was such a thing has a plain shell."""
_LOST = "Connection lost; reconnecting… Ctrl-C ends this."
_ONCE = "Connection lost. The command is not started again: it may have ended, or still be running there."
_PLAIN = "Connection lost, and with it the shell: it was not to be kept."
# What drew on the terminal cannot tidy up: usual modes, no paste or mouse reports, all lines scroll, the last line.
_TIDY = "\x1b[!p\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[r\x1b[999;1H\r\n"


@dataclass
class Visits:
    """Runs of ssh, one after another.

    `command` gives ssh's whole command with these words after the host. With `keeps_shell` they are for a shell on a
    terminal that outlives its connection, else `words`.
    """

    reservation_id: str
    command: Callable[[Sequence[str]], list[str]]
    words: Sequence[str]
    environment: dict[str, str]
    keeps_shell: bool
    retries: Retries = field(default_factory=lambda: Retries(GIVE_UP_SECONDS))
    _name: str = field(default_factory=lambda: secrets.token_hex(8), init=False)
    _is_interrupted: bool = field(default=False, init=False)

    def run(self) -> int:
        """Gives ssh's exit status, which is 255 if the connection is not back in time, or 130 after Ctrl-C."""
        status, note = self._ssh(["-t", self._line()] if self.keeps_shell else self.words)
        if not note.is_lost:
            _say(note)
            return status
        if not self.keeps_shell:
            say(_ONCE if self.words else _PLAIN)
            return CONNECTION_FAILED
        try:
            sys.stderr.write(_TIDY)
            say(_LOST)
            return self._again()
        except KeyboardInterrupt:
            say(f"Stopped. {self._way_back}")
            return ExitCode.INTERRUPTED

    def _again(self) -> int:
        while True:
            try:
                self.retries.pause(None)
            except UnreachableError:
                say(f"Still no connection after {GIVE_UP_SECONDS / 60:.0f} min; this is given up. {self._way_back}")
                return CONNECTION_FAILED
            begin = time.monotonic()
            status, note = self._ssh(["-q", "-t", self._line("again")])
            if self._is_interrupted:
                raise KeyboardInterrupt
            if not note.may_return:
                _say(note)
                return status
            if note.is_lost and time.monotonic() - begin > _STABLE_SECONDS:
                self.retries.reset()
                sys.stderr.write(_TIDY)
                say(_LOST)

    def _line(self, *again: str) -> str:
        keep = " ".join((_KEEP, self._name, *again))
        return f'if [ -x {_KEEP} ]; then exec {keep}; else exec "$SHELL" -l; fi'

    @property
    def _way_back(self) -> str:
        keep = f"wavepool connect {self.reservation_id} -- -t {_KEEP} {self._name}"
        return f"If the session could keep the shell, it is there until the reservation ends: {keep}"

    def _ssh(self, words: Sequence[str]) -> tuple[int, TunnelNote]:
        self._is_interrupted = False
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "note"
            process = subprocess.Popen(self.command(words), env={**self.environment, NOTE: str(file)})  # noqa: S603 - OpenSSH's own
            while True:
                try:
                    return process.wait(), note_in(file)
                except KeyboardInterrupt:
                    # The terminal has sent it to ssh, too.
                    self._is_interrupted = True


def _say(note: TunnelNote) -> None:
    if note.text:
        say(f"wavepool: {note.text}")
