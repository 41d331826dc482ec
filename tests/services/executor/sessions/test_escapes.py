"""What somebody in a session tries in order to harm the machine, to learn its secrets, or to stay after the end."""

from __future__ import annotations

import base64
import ctypes
import os
import secrets
import shlex
import socket
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from services.executor.sessions import share
from tests.services.executor.client import ADMIN_TOKEN, LEASE_TOKEN, until
from tests.services.executor.sessions.conftest import SLOTS, Machine
from tests.services.executor.sessions.session_client import Person
from tests.services.executor.sessions.test_isolation import output_of

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap]

FEW = 96
"""Processes of a session; fewer than a bomb makes in a second."""
BOMB = """
import os, signal, sys
top = os.getpid()
forks = refused = 0
while not refused:
    try:
        forks += os.fork() > 0
    except BlockingIOError:
        refused = 1
while os.getpid() != top:
    signal.pause()
print("held", flush=True)
sys.stdin.readline()
os.killpg(0, signal.SIGKILL)
"""
"""All processes fork until none can any more; a line ends them, as they are one group."""
DAEMON = """
import os, signal, sys, time
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
while True:
    # A new one under another number, again and again, as one does that does not want to be found.
    if os.fork():
        time.sleep(0.05)
        os._exit(0)
    os.setsid()
"""
ATTACH = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = {pid}
byte = ctypes.create_string_buffer(1)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def part(address):
    return ctypes.byref(Part(address, 1))
tries = dict(
    ptrace=lambda: libc.ptrace(16, pid, None, None),
    seize=lambda: libc.ptrace(0x4206, pid, None, None),
    read=lambda: libc.process_vm_readv(pid, part(ctypes.addressof(byte)), 1, part({address}), 1, 0),
    write=lambda: libc.process_vm_writev(pid, part(ctypes.addressof(byte)), 1, part({address}), 1, 0),
    signal=lambda: libc.kill(pid, 0),
    open=lambda: libc.syscall(434, pid, 0),
)
for name, attempt in tries.items():
    status = attempt()
    print(name, "succeeded" if status >= 0 else os.strerror(ctypes.get_errno()))
"""


def in_python(program: str, *words: str) -> str:
    """A command of a shell in one line; the words are only seen in lists of processes."""
    code = base64.b64encode(program.encode()).decode()
    return shlex.join(["python3", "-c", f"import base64; exec(base64.b64decode({code!r}))", *words])


def of_session(before: set[psutil.Process]) -> set[psutil.Process]:
    """The processes below this one that were not there before."""
    return set(psutil.Process().children(recursive=True)) - before


async def test_a_fork_bomb_is_held_by_the_limit_while_others_and_afterwards_the_session_live_on(
    large_machine: Machine, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "_PROCESSES_PER_GPU", FEW)
    async with (
        large_machine.session(alice, slots=SLOTS[0]) as hers,
        large_machine.session(bob, slots=SLOTS[1]) as his,
    ):
        before = of_session(set())
        bomb = await hers.start(alice, "dev@session", in_python(BOMB), stdin=PIPE)
        assert bomb.stdout is not None
        assert await bomb.stdout.readline() == b"held\n"

        assert FEW // 2 < len(of_session(before)) <= FEW
        assert await his.run(bob, "echo unharmed") == (0, "unharmed\n")
        await bomb.communicate(b"\n")
        assert await hers.run(alice, "echo still here") == (0, "still here\n")


async def test_a_fork_bomb_that_nobody_stops_ends_with_its_session(
    machine: Machine, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "_PROCESSES_PER_GPU", FEW)
    before = of_session(set())
    async with machine.session(alice) as access:
        ssh = await access.start(alice, "dev@session", "bomb() { bomb | bomb & }; bomb; sleep 600")
        await until(lambda: len(of_session(before)) > FEW // 2)
        processes = of_session(before) - {psutil.Process(ssh.pid)}
    await access.events.reach("ended")

    assert not [one for one in processes if one.is_running() and one.name() == "bash"]
    assert await ssh.wait() != 0


async def test_a_daemon_that_hides_and_ignores_signals_is_gone_with_the_session(
    machine: Machine, alice: Person
) -> None:
    name = f"daemon-{secrets.token_hex(8)}"

    def daemons() -> list[psutil.Process]:
        return [one for one in psutil.process_iter(["cmdline"]) if name in (one.info["cmdline"] or [])]

    async with machine.session(alice) as access:
        assert (await access.run(alice, f"nohup {in_python(DAEMON, name)} >/dev/null 2>&1 </dev/null"))[0] == 0
        await until(lambda: bool(daemons()))
        assert (await access.run(alice, f"pgrep -f {name[:-1]}[{name[-1]}] >/dev/null && echo there"))[1] == "there\n"
    await access.events.reach("ended")

    assert not daemons()


@pytest.mark.parametrize(
    "place",
    [
        "/etc/cron.d/{name}",
        "/var/spool/cron/crontabs/{name}",
        "/var/spool/cron/atjobs/{name}",
        "/etc/systemd/system/{name}.service",
        "/usr/lib/systemd/system/{name}.service",
        "/etc/profile.d/{name}.sh",
        "/etc/ld.so.preload",
        "/root/.ssh/authorized_keys",
        "/home/{name}",
        "/dev/shm/{name}",  # noqa: S108 - the machine's, as the next ones
        "/var/tmp/{name}",  # noqa: S108
        "/tmp/{name}",  # noqa: S108
        "/run/{name}",
    ],
)
async def test_nothing_that_starts_later_is_left_on_the_machine(machine: Machine, alice: Person, place: str) -> None:
    path = Path(place.format(name=f"left-{secrets.token_hex(8)}"))
    before = path.read_bytes() if path.exists() else None
    line = f"* * * * * root touch /tmp/{path.name}"

    await output_of(
        machine, alice, f"mkdir -p {path.parent}; echo '{line}' >> {path}; (crontab -l; echo '{line}') | crontab -"
    )

    assert (path.read_bytes() if path.exists() else None) == before
    spool = Path("/var/spool/cron")
    assert not [one for one in spool.rglob("*") if one.is_file() and path.name in one.read_text()]


@contextmanager
def listening(address: str) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as server, suppress(PermissionError):
        server.bind(address)
        server.listen()
        try:
            yield
        finally:
            Path(address).unlink(missing_ok=True)


async def test_no_socket_of_the_machine_is_there_such_as_dockers(
    machine: Machine, alice: Person, tmp_path: Path
) -> None:
    name = f"engine-{secrets.token_hex(4)}.sock"
    abstract = f"\0{name}"
    find = "find / -type s -not -path '/proc/*' 2>/dev/null; echo; cat /proc/net/unix"
    connect = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex({abstract!r}))"
    with ExitStack() as stack:
        for folder in ("/run", "/tmp", str(tmp_path)):  # noqa: S108 - where engines and programs of the machine listen
            if os.access(folder, os.W_OK):
                stack.enter_context(listening(f"{folder}/{name}"))
        server = stack.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(abstract)
        server.listen()
        said = await output_of(machine, alice, f"{find}; {in_python(connect)}")

    assert name not in said
    assert "docker" not in said
    assert "containerd" not in said
    # ECONNREFUSED: nobody listens there in the session's own network.
    assert said.splitlines()[-1] == "111"


async def test_tokens_the_signing_key_and_the_executors_files_cannot_be_read(
    machine: Machine, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As an executor has them that is a process of its own.
    monkeypatch.setenv("EXECUTOR_TOKEN", LEASE_TOKEN)
    (tmp_path / "executor-admin-token").write_text(ADMIN_TOKEN)
    key = (tmp_path / "signing-key").read_text().splitlines()[0]
    words = "\n".join([LEASE_TOKEN, ADMIN_TOKEN, key, str(tmp_path), "EXECUTOR_TOKEN"])
    # By a file, as the command line would be found; the file is found, so the search works.
    folders = "$(ls -d /* | grep -v -e ^/proc -e ^/sys -e ^/usr -e ^/opt)"
    search = f"grep -rlsaF -f words {folders} /proc/[0-9]*/environ /proc/[0-9]*/cmdline"
    files = [tmp_path / "signing-key", tmp_path / "executor-admin-token", f"/proc/1/root{tmp_path}/signing-key"]
    async with machine.session(alice) as access:
        process = await access.start(alice, "dev@session", f"cat > words; {search}", stdin=PIPE)
        found, _ = await process.communicate(words.encode())
        status, said = await access.run(alice, shlex.join(["cat", *map(str, files)]))

    assert found == b"/home/dev/words\n"
    assert (status, len(said.splitlines())) == (1, len(files))


async def test_processes_of_the_machine_are_not_traced_read_written_or_signalled(
    machine: Machine, alice: Person
) -> None:
    secret = ctypes.create_string_buffer(b"secret")
    program = ATTACH.format(pid=os.getpid(), address=ctypes.addressof(secret))
    said = await output_of(
        machine, alice, f"{in_python(program)}; nsenter --target 1 --all id; grep PPid /proc/1/status"
    )

    tries = ("ptrace", "seize", "read", "write", "signal", "open")
    assert said.splitlines()[: len(tries)] == [f"{name} No such process" for name in tries]
    assert "uid=0" not in said
    assert said.splitlines()[-1].split() == ["PPid:", "0"]
