"""A port of a reservation's session on this machine, over ssh: for web programs that run there."""

from __future__ import annotations

import contextlib
import http.client
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from wavepool_client.errors import InputError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from wavepool_client.ssh.remote import Remote

START_SECONDS = 120.0
"""How long a program may take until it answers; JupyterLab's first start takes 10 s and more."""
_LOOK_SECONDS = 0.2
_END_SECONDS = 5.0
_MOST_LINES = 20
_NOT_THERE = 127
# A session has a network of its own, so its ports can clash only with those of its own users.
_LOOPBACK = "127.0.0.1"


class Forwarded:
    """A running ssh that forwards `port` of this machine's loopback to the session, and its program there if any."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, said: Callable[[], str]) -> None:
        self.port = port
        self._process = process
        self._said = said

    @property
    def address(self) -> str:
        """Where it answers on this machine."""
        return f"http://{_LOOPBACK}:{self.port}"

    def wait_until_it_answers(self, path: str, missing: str, seconds: float = START_SECONDS) -> None:
        """Waits until the program answers a request for `path`; raises UnreachableError with its last words.

        `missing` is the advice if the session has no such program: then it raises InputError.
        """
        self._wait_until(lambda: _answers(f"{self.address}{path}"), seconds, missing)

    def wait_until_it_listens(self, seconds: float = START_SECONDS) -> None:
        """Waits until the port here takes connections; raises UnreachableError with ssh's last words."""
        self._wait_until(lambda: _listens(self.port), seconds)

    def _wait_until(self, is_there: Callable[[], bool], seconds: float, missing: str = "") -> None:
        end = time.monotonic() + seconds
        while not is_there():
            status = self._process.poll()
            if status == _NOT_THERE and missing:
                raise InputError(missing)
            if status is not None or time.monotonic() > end:
                how = f"ended with status {status}" if status is not None else f"did not answer within {seconds:g} s"
                raise UnreachableError(f"it {how}:\n{self._said()}".rstrip(":\n"))
            time.sleep(_LOOK_SECONDS)

    def wait(self) -> int:
        """Waits until it ends, and returns ssh's exit status; 0 after Ctrl-C."""
        try:
            return self._process.wait()
        except KeyboardInterrupt:
            return 0


@contextlib.contextmanager
def forwarding(remote: Remote, here: int, there: int, line: str = "", typed: str = "") -> Generator[Forwarded]:
    """Forwards port `here` to `there`, and runs a shell's line in the session that gets `typed` as its input.

    The line's program has to end when its input does: that is how it hears that we are gone.
    """
    # Without LogLevel, each look at a program that is not up yet would leave a line.
    options = [
        "-o",
        "ExitOnForwardFailure=yes",
        "-o",
        "LogLevel=ERROR",
        "-L",
        f"{_LOOPBACK}:{here}:{_LOOPBACK}:{there}",
    ]
    # ssh's -N would not care about the end of its input, and so outlive us if we were killed.
    command = remote.command(line or "cat >/dev/null", options)
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - OpenSSH's own
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=remote.environment,
        )

        def said() -> str:
            log.seek(0)
            return "\n".join(log.read().decode(errors="replace").splitlines()[-_MOST_LINES:])

        try:
            if process.stdin:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(typed.encode())
                    process.stdin.flush()
            yield Forwarded(process, here, said)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends ssh: first by the end of its input, which ends the program there, and then by force."""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        if process.stdin:
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait()


def free_port(wanted: int, *, no_other: bool = False) -> int:
    """The port if it is free on this machine, or else any that is; 0 wants any.

    Raises InputError if none is free, or if it is to be `no_other` and is not.
    """
    for port in (wanted, 0):
        try:
            with socket.socket() as listening:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.bind((_LOOPBACK, port))
                return int(listening.getsockname()[1])
        except OSError as error:
            if no_other:
                why = f"cannot be used on this machine ({error.strerror})"
                raise InputError(f"--port: {wanted} {why}; give another, or 0 for any free one") from error
    raise InputError("there is no free port on this machine")


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex((_LOOPBACK, port)) == 0


def _answers(url: str) -> bool:
    # Proxies of the environment know nothing of this machine's loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, http.client.HTTPException):
        return False
    return True
