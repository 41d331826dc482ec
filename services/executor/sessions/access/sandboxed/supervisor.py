"""The first program in a session's sandbox: `supervisor.py CONFIG CONTROL HOME SSHD...`.

SSHD is how sshd is started, in one word or more.

It takes orders from the executor over the control socket, which keeps messages apart, and reports over it. For each
connection it gets a socket, and starts an sshd on it; so it does for connections from other nodes of a gang. It starts
the image's own command, if that is wanted. It runs as
the session's user, who can therefore end it, and with it the session; so the executor believes its reports no more than
it must. It needs only Python's standard library.

Theory of operation. All people are one user of the kernel, so neither a variable nor a name says whose a process is.
Each connection has a keeper: a fork of this program, between it and the connection's sshd. The kernel gives it all that
descends from that sshd and has lost its parent, whatever sessions or names that makes for itself, and it ends once
nothing of that is left. If somebody kills a keeper, what it kept comes to this program, which has no other children
than keepers, and kills all that it finds. No debugger gets into either, and what they write goes through sockets, and
pipes of theirs, which others cannot open.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

MESSAGE_BYTES = 1 << 16
MOST_LINE_CHARACTERS = 1000
_POLL_SECONDS = 0.02
_LAST_WORDS_SECONDS = 1.0
"""Time for an sshd to pass on what its programs wrote before they ended; then it ends by itself."""
_END_SECONDS = 5.0
"""Processes may start others while they are killed, and the kernel takes a moment for each."""
MOST_NODE_CONNECTIONS = 256
_SSHD_NAMES = ("sshd", "ld-linux")
"""The second is its name if the loader starts it."""
_KEPT_SHELL_NAMES = ("tmux: ", "keep")
"""Names of what carries a kept shell's terminal; the second is that of `/session/keep`."""
_KILLED_FIRST = "700"
"""oom_score_adj of everything that people start, so that the supervisor is not what the kernel kills."""
_COMMAND = 0
"""The number of the image's command among the connections: those of people count up from it, those of nodes down."""
_NO_PROGRAM = 127
_NOT_STARTED = 126
_SIGNALLED = 128
"""What a shell gives in place of an exit status."""
_SHELLS = {"ash", "bash", "busybox", "dash", "fish", "ksh", "sh", "tcsh", "zsh"}
_GROUP_FIELD, _TERMINAL_FIELD = 2, 4
"""Of what `stat` gives: a process's group, and the number of its terminal."""
_SET_DUMPABLE, _SET_CHILD_SUBREAPER = 4, 36
"""Options of prctl(2)."""


class Supervisor:
    """One session's connections and orders."""

    def __init__(self, sshd: list[str], config: str, control: socket.socket, home: Path) -> None:
        self._sshd = [*sshd, "-i", "-e", "-f", config]
        self._check = [*sshd, "-t", "-f", config]
        self._node_connection_count = 0
        self._control = control
        self._home = home
        self._selector = selectors.DefaultSelector()
        self._logs: dict[int, Log] = {}
        """Of the connections that are open."""
        self._keepers: dict[int, Keeper] = {}
        """By their process ids, until they have ended."""
        self._output = -1
        """The open file for the output of the image's command."""
        self._is_ending = False
        self._has_outsiders = False
        self._asked: set[int] = set()
        self._alone_since = self._terminals_end = 0.0
        self._wakers = socket.socketpair()

    def prepare(self) -> None:
        """Take no more harm from signals and debuggers, and notice the end of what was started."""
        adopt_descendants()
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
            for key, _ in self._selector.select(_POLL_SECONDS if self._is_ending or self._has_outsiders else None):
                try:
                    key.data()
                except Exception as error:  # noqa: BLE001  one fault must not end the session of all
                    self._report(report="fault", text=f"{type(error).__name__}: {error}"[:MOST_LINE_CHARACTERS])
            self._reap()
            if self._has_outsiders:
                self._end_outsiders()
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
            self._start_sshd(self._sshd, descriptor, connection, self._report)
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
                if sum(number < 0 for number in self._logs) < MOST_NODE_CONNECTIONS:
                    connected.setblocking(True)
                    self._node_connection_count += 1
                    sshd = [*self._sshd[:-1], config]
                    self._start_sshd(sshd, connected.fileno(), -self._node_connection_count, _ignored)

    def _start_sshd(self, command: list[str], descriptor: int, connection: int, report: Callable[..., None]) -> None:
        # No pipe: people's programs could open that, as sshd is theirs, and write lines of their own.
        read, written = socket.socketpair()
        with written:
            log = Log(connection, read, report)
            self._start(
                connection,
                command,
                lambda _: self._close(connection),
                {"stdin": descriptor, "stdout": descriptor, "stderr": written.fileno()},
            )
        self._logs[connection] = log
        self._selector.register(read, selectors.EVENT_READ, lambda: self._pass_on(connection))

    def _close(self, connection: int) -> None:
        """Report that an sshd has ended; what it has started may go on."""
        log = self._logs.pop(connection)
        log.pass_on()
        with contextlib.suppress(KeyError):
            self._selector.unregister(log.read)
        log.read.close()
        log.report(report="closed", connection=connection)

    def _run(self, file: str) -> None:
        """Start the image's command, as a file says, with its output in another one."""
        wanted = json.loads(Path(file).read_text("utf-8"))
        self._output = os.open(wanted["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        with contextlib.suppress(OSError):
            Path(wanted["folder"]).mkdir(parents=True, exist_ok=True)
        streams = {"stdin": subprocess.DEVNULL, "stdout": self._output, "stderr": self._output}
        place = {"cwd": wanted["folder"], "env": wanted["environment"]}
        self._start(_COMMAND, wanted["words"], self._command_ended, {**streams, **place})

    def _command_ended(self, status: int) -> None:
        with contextlib.suppress(OSError):
            os.write(self._output, f"*** ended with status {status}\n".encode())
            os.close(self._output)
        self._report(report="command_ended", status=status)

    def _start(self, number: int, command: list[str], on_end: Callable[[int], None], options: dict[str, Any]) -> None:
        """Start a program below a keeper of its own; raises OSError."""
        told, tell = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(told)
            os.close(tell)
            raise
        if not pid:
            keep(command, tell, options)
        os.close(tell)
        self._keepers[pid] = keeper = Keeper(number, told, on_end)
        self._selector.register(told, selectors.EVENT_READ, lambda: self._program_ended(keeper))

    def _program_ended(self, keeper: Keeper) -> None:
        """Act on the end of the program that a keeper has started; somebody may have killed the keeper instead."""
        if keeper.told < 0:
            return
        status = os.read(keeper.told, MESSAGE_BYTES).decode()
        self._selector.unregister(keeper.told)
        os.close(keeper.told)
        keeper.told = -1
        keeper.on_end(int(status or _SIGNALLED + signal.SIGKILL))

    def _end(self, number: int, connections: list[int], users: list[str]) -> None:
        """End connections with all that descends from them; raises TimeoutError if that does not end.

        What people have started from other nodes is known by the name that those nodes sent.
        """
        ended = set(connections)
        count = len(self._kept(lambda one: one.number in ended))
        marks = [f"WAVEPOOL_USER={user}".encode() for user in users]
        give_up_time = time.monotonic() + _END_SECONDS
        while True:
            keepers = self._kept(lambda one: one.number in ended)
            parents = parents_of_all()
            doomed = below(keepers, parents)
            doomed += [pid for pid in below(self._kept(lambda one: one.number < 0), parents) if has_mark(pid, marks)]
            if not keepers and not doomed:
                break
            if time.monotonic() > give_up_time:
                raise TimeoutError(f"{len(doomed)} processes of {users} do not end")
            send(signal.SIGKILL, doomed)
            # Somebody may have stopped them, and they end by themselves.
            send(signal.SIGCONT, keepers)
            time.sleep(_POLL_SECONDS)
            self._reap()
        self._report(report="done", number=number, count=count)

    def _cut_agents(self, number: int) -> None:
        """Take away the ssh agents that connections have forwarded; people's own have another program's number."""
        found = [path for path in Path("/tmp").glob("ssh-*/agent.*") if path.suffix[1:].isdecimal()]  # noqa: S108  sshd's choice
        forwarded = [path for path in found if name_of(int(path.suffix[1:])).startswith(_SSHD_NAMES)]
        # OpenSSH has them there since 10.1.
        forwarded += self._home.glob(".ssh/agent/s.*.sshd.*")
        for path in forwarded:
            with contextlib.suppress(OSError):
                path.unlink()
        self._report(report="done", number=number, count=len(forwarded))

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

    def _hang_up(self, terminals_seconds: float) -> None:
        """Ask everything to end, and report when nothing is left. Terminals have at least so long."""
        self._alone_since = time.monotonic()
        self._terminals_end = self._alone_since + terminals_seconds
        self._is_ending = True

    def _ask_to_end(self) -> None:
        """Ask what was not asked before; terminals and connections come last, so that people see what is saved.

        What begins while others are ending is left to them, as it may be what saves their work.
        """
        parents = parents_of_all()
        remaining = set(below([os.getpid()], parents)) - set(self._keepers)
        if not remaining:
            self._report(report="empty")
            self._is_ending = False
        of_open = below(self._kept(lambda one: one.number in self._logs), parents)
        connections = {pid for pid in of_open if name_of(pid).startswith(_SSHD_NAMES)}
        if connections:
            # A kept shell may have begun with a connection that is closed.
            connections |= {pid for pid in remaining if name_of(pid).startswith(_KEPT_SHELL_NAMES)}
            connections |= waiting_shells(parents, connections)
        now = time.monotonic()
        if programs := remaining - connections:
            self._alone_since = now
        has_waited = now > max(self._alone_since + _LAST_WORDS_SECONDS, self._terminals_end)
        asked = remaining if has_waited else programs
        asked = asked - self._asked if has_waited or not asked & self._asked else set[int]()
        self._asked |= asked
        # Few programs save anything at SIGHUP, and interactive shells take no notice of SIGTERM.
        send(signal.SIGTERM, from_the_top(asked, parents))
        send(signal.SIGHUP, from_the_top(asked & connections, parents))

    def _pass_on(self, number: int) -> None:
        log = self._logs.get(number)
        # It may have ended since the selector saw its last line.
        if log is not None and not log.pass_on():
            self._selector.unregister(log.read)

    def _reap(self) -> None:
        """Notice the end of keepers, and that some have left something."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                keeper = self._keepers.pop(pid, None)
                self._has_outsiders |= keeper is None or status != 0
                if keeper is not None:
                    self._program_ended(keeper)
                    self._report(report="gone", connection=keeper.number)

    def _end_outsiders(self) -> None:
        """Kill what has lost its keeper."""
        parents = parents_of_all()
        kept = {*self._keepers, *below(self._keepers, parents)}
        outsiders = [pid for pid in below([os.getpid()], parents) if pid not in kept]
        send(signal.SIGKILL, outsiders)
        self._has_outsiders = bool(outsiders)

    def _kept(self, is_wanted: Callable[[Keeper], bool]) -> list[int]:
        """The process ids of some keepers."""
        return [pid for pid, keeper in self._keepers.items() if is_wanted(keeper)]

    def _report(self, **report: object) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(json.dumps(report).encode())


@dataclass
class Keeper:
    """What keeps all that descends from one program. `told` gives that program's exit status; -1 once it has."""

    number: int
    told: int
    on_end: Callable[[int], None]


class Log:
    """What the sshd of an open connection logs."""

    def __init__(self, number: int, read: socket.socket, report: Callable[..., None]) -> None:
        self.read = read
        self.report = report
        self._number = number
        self._begun = b""
        read.setblocking(False)

    def pass_on(self) -> bool:
        """Report the lines that there are now; returns False at the end of the log."""
        chunk = b" "
        with contextlib.suppress(BlockingIOError):
            chunk = self.read.recv(MESSAGE_BYTES)
            self._begun += chunk
        *lines, rest = self._begun.split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").strip()[:MOST_LINE_CHARACTERS]
            self.report(report="log", connection=self._number, line=text)
        self._begun = rest[-MOST_LINE_CHARACTERS:]
        return bool(chunk)


def keep(command: list[str], tell: int, options: dict[str, Any]) -> NoReturn:
    """Be a keeper: start the program, tell its exit status, and end once nothing that descends from it is left."""
    ended_well = False
    try:
        signal.set_wakeup_fd(-1)
        adopt_descendants()
        program = started(command, options)
        # The keeper holds nothing open that others wait to see closed.
        os.closerange(3, tell)
        os.closerange(tell + 1, os.sysconf("SC_OPEN_MAX"))
        if isinstance(program, int):
            tell_status(tell, program)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, 0)
                if not isinstance(program, int) and pid == program.pid:
                    code = os.waitstatus_to_exitcode(status)
                    tell_status(tell, code if code >= 0 else _SIGNALLED - code)
        ended_well = True
    finally:
        os._exit(0 if ended_well else 1)


def started(command: list[str], options: dict[str, Any]) -> subprocess.Popen[bytes] | int:
    """Start a program; returns it, or the exit status that a shell gives if it cannot be started."""
    try:
        program: Any = subprocess.Popen(command, start_new_session=True, **options)  # noqa: S603  the executor's, or the image's
    except (OSError, ValueError) as error:
        os.write(options["stderr"], f"{command[0]}: {error}\n".encode(errors="replace"))
        return _NO_PROGRAM if isinstance(error, FileNotFoundError) else _NOT_STARTED
    killed_first(program.pid)
    return program


def tell_status(tell: int, status: int) -> None:
    """Tell the supervisor a program's exit status."""
    os.write(tell, str(status).encode())
    os.close(tell)


def adopt_descendants() -> None:
    """Get from the kernel what descends from us and has lost its parent; and let no debugger in."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_SET_CHILD_SUBREAPER, 1), (_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def _woken(number: int, frame: object) -> None:
    """Do nothing: the loop looks around when a signal has come."""


def _ignored(**report: object) -> None:
    """Report nothing."""


def killed_first(pid: int) -> None:
    """Let the kernel kill a process before it kills the supervisor."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_KILLED_FIRST, "ascii")


def send(number: int, pids: Iterable[int]) -> None:
    """Send a signal to processes, some of which may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def parents_of_all() -> dict[int, int]:
    """The parent of each process that has not ended."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
    found = ((pid, stat(pid)) for pid in pids)
    return {pid: int(fields[1]) for pid, fields in found if fields and fields[0] not in {"Z", "X"}}


def below(roots: Iterable[int], parents: dict[int, int]) -> list[int]:
    """The processes that descend from one of `roots`, without these."""
    tops = set(roots)

    def is_below(pid: int) -> bool:
        while (pid := parents.get(pid, 0)) and pid not in tops:
            pass
        return bool(pid)

    return [pid for pid in parents if pid not in tops and is_below(pid)]


def from_the_top(pids: Iterable[int], parents: dict[int, int]) -> list[int]:
    """Parents before their children: a script that waits for a program ends when that has, asked or not."""

    def depth(pid: int) -> int:
        return 1 + depth(parents[pid]) if pid in parents else 0

    return sorted(pids, key=depth)


def waiting_shells(parents: dict[int, int], others: set[int]) -> set[int]:
    """The shells at terminals that run nothing themselves: what they have started has process groups of its own.

    Children among `others` do not count.
    """
    found = {pid: fields for pid in parents if name_of(pid) in _SHELLS and (fields := stat(pid)) and terminal_of(pid)}
    busy = {
        parent
        for pid, parent in parents.items()
        if pid not in others
        and (own := stat(pid))
        and parent in found
        and own[_GROUP_FIELD] == found[parent][_GROUP_FIELD]
    }
    return set(found) - busy


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


def terminal_of(pid: int) -> int:
    """The device number of a process's terminal; 0 if it has none, or is gone."""
    fields = stat(pid)
    return int(fields[_TERMINAL_FIELD]) if fields else 0


def write_to_terminals(text: str) -> int:
    """Write a text to every terminal; returns the number of terminals. One that is not read is passed over.

    A terminal that tmux draws on shows what is written to those within.
    """
    shown = "\r\n\a*** " + text.replace("\n", "\r\n") + "\r\n"
    written = 0
    drawn_on = {terminal_of(pid) for pid in parents_of_all() if name_of(pid) == "tmux: client"}
    for path in Path("/dev/pts").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_rdev in drawn_on:
                continue
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
