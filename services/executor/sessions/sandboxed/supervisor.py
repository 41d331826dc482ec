"""The first program in a session's sandbox: `supervisor.py CONFIG CONTROL HOME SSHD...`.

SSHD is how sshd is started, in one word or more.

It takes orders from the executor over the control socket, which keeps messages apart, and reports over it. For each
connection it gets a socket, and starts an sshd on it; so it does for connections from other nodes of a gang. It starts
the image's own command, if that is wanted. It runs as
the session's user, who can therefore end it, and with it the session; so the executor believes its reports no more than
it must. It needs only Python's standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MESSAGE_BYTES = 1 << 16
MOST_LINE_CHARACTERS = 1000
_POLL_SECONDS = 0.02
_LAST_WORDS_SECONDS = 1.0
"""Time for an sshd to pass on what its programs wrote before they ended; then it ends by itself."""
_MOST_KILL_ROUNDS = 50
"""Processes may start others while they are killed, and the kernel takes a moment for each."""
MOST_NODE_CONNECTIONS = 256
_SSHD_NAMES = ("sshd", "ld-linux")
"""The second is its name if the loader starts it."""
_KILLED_FIRST = "700"
"""oom_score_adj of everything that people start, so that the supervisor is not what the kernel kills."""
_NO_PROGRAM = 127
_NOT_STARTED = 126
_SIGNALLED = 128
"""What a shell gives in place of an exit status."""


class Supervisor:
    """One session's connections and orders."""

    def __init__(self, sshd: list[str], config: str, control: socket.socket, home: Path) -> None:
        self._sshd = [*sshd, "-i", "-e", "-f", config]
        self._check = [*sshd, "-t", "-f", config]
        self._node_connection_count = 0
        self._control = control
        self._home = home
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, Connection] = {}
        self._command: subprocess.Popen[bytes] | None = None
        self._output = -1
        """The open file for the output of the image's command."""
        self._is_ending = False
        self._asked: set[int] = set()
        self._alone_since = 0.0
        self._wakers = socket.socketpair()

    def prepare(self) -> None:
        """Take no more harm from signals, and notice the end of what was started."""
        woken, wake = self._wakers
        for end in (woken, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        # Signals to all are not for us. They are handled and not ignored, as what is started would ignore them, too.
        for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _woken)
        self._selector.register(self._control, selectors.EVENT_READ, self._take_order)
        self._selector.register(woken, selectors.EVENT_READ, lambda: woken.recv(MESSAGE_BYTES))

    def run(self) -> None:
        """Serve until the control socket is closed."""
        while True:
            for key, _ in self._selector.select(_POLL_SECONDS if self._is_ending else None):
                try:
                    key.data()
                except Exception as error:  # noqa: BLE001  one fault must not end the session of all
                    self._report(report="fault", text=f"{type(error).__name__}: {error}"[:MOST_LINE_CHARACTERS])
            self._reap()
            if self._is_ending:
                self._ask_to_end()

    def check(self) -> None:
        """Report whether sshd takes its configuration."""
        tried = subprocess.run(  # noqa: S603  the executor's own command
            self._check, capture_output=True, check=False
        )
        if tried.returncode:
            self._report(report="failed", text=tried.stderr.decode(errors="replace")[-MOST_LINE_CHARACTERS:])
        else:
            self._report(report="ready")

    def _take_order(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
        if not message:
            # The executor has ended.
            raise SystemExit
        try:
            order = json.loads(message)
            getattr(self, f"_{order.pop('order')}")(*descriptors, **order)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _connect(self, descriptor: int, connection: int) -> None:
        try:
            self._start(self._sshd, descriptor, connection, self._report)
        except OSError:
            self._report(report="closed", connection=connection)
            raise

    def _listen(self, config: str, port: int) -> None:
        """Take connections from other nodes; the executor hears nothing of them."""
        listener = socket.create_server(("", port), backlog=128)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener, config))

    def _accept(self, listener: socket.socket, config: str) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connected, _ = listener.accept()
            with connected:
                if sum(number < 0 for number in self._connections) < MOST_NODE_CONNECTIONS:
                    connected.setblocking(True)
                    self._node_connection_count += 1
                    sshd = [*self._sshd[:-1], config]
                    self._start(sshd, connected.fileno(), -self._node_connection_count, _ignored)

    def _start(self, command: list[str], descriptor: int, connection: int, report: Callable[..., None]) -> None:
        sshd = subprocess.Popen(  # noqa: S603  as above
            command, stdin=descriptor, stdout=descriptor, stderr=subprocess.PIPE, start_new_session=True
        )
        killed_first(sshd.pid)
        self._connections[connection] = opened = Connection(connection, sshd, report)
        self._selector.register(opened.log, selectors.EVENT_READ, lambda: self._pass_on(connection))

    def _run(self, file: str) -> None:
        """Start the image's command, as a file says, with its output in another one."""
        wanted = json.loads(Path(file).read_text("utf-8"))
        self._output = os.open(wanted["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            Path(wanted["folder"]).mkdir(parents=True, exist_ok=True)
            self._command = subprocess.Popen(  # noqa: S603  what the image's author and the session's users want
                wanted["words"],
                cwd=wanted["folder"],
                env=wanted["environment"],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.write(self._output, f"{wanted['words'][0]}: {error}\n".encode(errors="replace"))
            self._command_ended(_NO_PROGRAM if isinstance(error, FileNotFoundError) else _NOT_STARTED)
        else:
            killed_first(self._command.pid)

    def _command_ended(self, status: int) -> None:
        self._command = None
        with contextlib.suppress(OSError):
            os.write(self._output, f"*** ended with status {status}\n".encode())
            os.close(self._output)
        self._report(report="command_ended", status=status)

    def _end(self, number: int, connections: list[int], users: list[str]) -> None:
        """End connections with all that descends from them, and processes of people who may not be here any more."""
        roots = {self._connections[one].sshd.pid for one in connections if one in self._connections}
        marks = [f"WAVEPOOL_USER={user}".encode() for user in users]
        for _ in range(_MOST_KILL_ROUNDS):
            doomed = [pid for pid in others() if is_below(pid, roots) or has_mark(pid, marks)]
            if not doomed:
                break
            for pid in doomed:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
            self._reap()
        self._report(report="done", number=number, count=len(roots))

    def _notify(self, number: int, text: str) -> None:
        self._report(report="done", number=number, count=write_to_terminals(text))

    def _warn(self, name: str, text: str) -> None:
        self._unwarn()
        with contextlib.suppress(OSError):
            (self._home / name).write_text(text + "\n", "utf-8")
        write_to_terminals(text)

    def _unwarn(self) -> None:
        for path in self._home.glob("WARN_EXPIRES_IN_*MIN.txt"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _hang_up(self) -> None:
        """Ask everything to end, and report when nothing is left."""
        self._alone_since = time.monotonic()
        self._is_ending = True

    def _ask_to_end(self) -> None:
        """Ask what was not asked before; connections come last, so that last words get out."""
        remaining = set(others())
        if not remaining:
            self._report(report="empty")
            self._is_ending = False
        connections = {one.sshd.pid for one in self._connections.values()}
        connections |= {pid for pid in remaining if is_below(pid, connections) and name_of(pid).startswith(_SSHD_NAMES)}
        if programs := remaining - connections:
            self._alone_since = time.monotonic()
        has_waited = time.monotonic() - self._alone_since > _LAST_WORDS_SECONDS
        for pid in (remaining if has_waited else programs) - self._asked:
            self._asked.add(pid)
            for number in (signal.SIGHUP, signal.SIGTERM):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    def _pass_on(self, number: int) -> None:
        connection = self._connections.get(number)
        # It may have ended since the selector saw its last line.
        if connection is not None and not connection.pass_on():
            self._selector.unregister(connection.log)

    def _reap(self) -> None:
        for number, connection in list(self._connections.items()):
            if connection.sshd.poll() is not None:
                connection.pass_on()
                with contextlib.suppress(KeyError):
                    self._selector.unregister(connection.log)
                connection.log.close()
                del self._connections[number]
                self._report(report="closed", connection=number)
        if self._command is not None and (status := self._command.poll()) is not None:
            self._command_ended(status if status >= 0 else _SIGNALLED - status)

    def _report(self, **report: object) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(json.dumps(report).encode())


class Connection:
    """One connection's sshd, and what it logs."""

    def __init__(self, number: int, sshd: subprocess.Popen[bytes], report: Callable[..., None]) -> None:
        assert sshd.stderr is not None  # noqa: S101  PIPE was asked for
        self.sshd = sshd
        self.log = sshd.stderr
        self._number = number
        self._report = report
        self._begun = b""
        os.set_blocking(self.log.fileno(), False)

    def pass_on(self) -> bool:
        """Report the lines that there are now; returns False at the end of the log."""
        chunk = b" "
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self.log.fileno(), MESSAGE_BYTES)
            self._begun += chunk
        *lines, rest = self._begun.split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").strip()[:MOST_LINE_CHARACTERS]
            self._report(report="log", connection=self._number, line=text)
        self._begun = rest[-MOST_LINE_CHARACTERS:]
        return bool(chunk)


def _woken(number: int, frame: object) -> None:
    """Do nothing: the loop looks around when a signal has come."""


def _ignored(**report: object) -> None:
    """Report nothing."""


def killed_first(pid: int) -> None:
    """Let the kernel kill a process before it kills the supervisor."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_KILLED_FIRST, "ascii")


def others() -> list[int]:
    """The processes of the sandbox, without the first one, ourselves, and those that have ended."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [pid for pid in pids if pid not in (1, os.getpid()) and stat(pid)[:1] not in ([], ["Z"], ["X"])]


def is_below(pid: int, roots: set[int]) -> bool:
    """True if a process is one of `roots` or descends from one."""
    while pid > 1:
        if pid in roots:
            return True
        fields = stat(pid)
        pid = int(fields[1]) if fields else 0
    return False


def has_mark(pid: int, marks: list[bytes]) -> bool:
    """True if a process was started with one of these variables."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(mark in variables for mark in marks)


def name_of(pid: int) -> str:
    """A process's short name; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def stat(pid: int) -> list[str]:
    """The fields after the command in a process's stat; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def write_to_terminals(text: str) -> int:
    """Write a text to every terminal; returns the number of terminals. One that is not read is passed over."""
    shown = "\r\n\a*** " + text.replace("\n", "\r\n") + "\r\n"
    written = 0
    for path in Path("/dev/pts").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            terminal = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                os.write(terminal, shown.encode())
                written += 1
            finally:
                os.close(terminal)
    return written


def main() -> None:
    """Check sshd's configuration, then serve."""
    config, control, home, *sshd = sys.argv[1:]
    supervisor = Supervisor(sshd, config, socket.socket(fileno=int(control)), Path(home))
    supervisor.prepare()
    supervisor.check()
    supervisor.run()


if __name__ == "__main__":
    main()
