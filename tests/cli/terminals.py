"""The command on a real pseudo-terminal, as a process of its own."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


class Terminal:
    """A command on a terminal."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self._main, side = pty.openpty()
        command = [sys.executable, "-m", "wavepool_client.main", *words]
        self._process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, env=environment, start_new_session=True
        )
        os.close(side)
        self.shown = ""

    def see(self, text: str) -> None:
        """Reads until `text` was shown."""
        while text not in self.shown:
            try:
                chunk = os.read(self._main, 4096)
            except OSError:
                chunk = b""
            assert chunk, f"it ended before it showed {text!r}: {self.shown!r}"
            self.shown += chunk.decode(errors="replace")

    def type(self, line: str) -> None:
        os.write(self._main, f"{line}\n".encode())

    def ask(self, line: str, answer: str) -> None:
        """Types a line, and reads until its answer was shown."""
        self.type(line)
        self.see(answer)

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """Waits for the end; gives the exit status."""
        try:
            while chunk := os.read(self._main, 4096):
                self.shown += chunk.decode(errors="replace")
        except OSError:
            # How Linux says that nobody has the terminal open any more.
            pass
        return self._process.wait(60)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._main)
