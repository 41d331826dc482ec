"""What the remote extension of an editor such as VS Code does, by plain OpenSSH and the lines that we write for it.

It opens `ssh -T -D PORT HOST`, sends a script to the shell's standard input and waits for a mark; sends its server as
an archive, starts it, and reads on which port it listens; and talks to it through the SOCKS port, or through a second
connection's `-L`. A connection that breaks is opened again, and finds the same server.
"""

from __future__ import annotations

import io
import os
import secrets
import socket
import subprocess
import tarfile
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import psutil
import pytest

from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import until
from vocabulary.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.wavepool_processes import Wavepool

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

SERVER = """
import asyncio, os

async def answer(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data.swapcase())
        await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    await asyncio.start_unix_server(answer, "server.sock")
    with open("server.new", "w") as note:
        note.write(f"{os.getpid()} {server.sockets[0].getsockname()[1]}")
    os.rename("server.new", "server.note")
    await asyncio.Event().wait()

asyncio.run(main())
"""
"""Stands for the editor's server: it listens on the session's loopback, and on a socket in its folder."""
MANY_BYTES = 4 << 20
SOCKS_ANSWER_BYTES = 10
"""Of one that has an IPv4 address."""


class Editor:
    """Somebody's editor, which knows a host of ssh and nothing of Wavepool."""

    def __init__(self, person: Person, home: Path, host: str) -> None:
        # OpenSSH takes the home from the system's users, not from $HOME.
        self._words = ["ssh", "-F", str(home / ".ssh" / "config"), "-T", "-o", "ConnectTimeout=60"]
        self._environment = person.environment
        self._host = host

    def done(self, command: str, *options: str, stdin: bytes = b"") -> str:
        words = [*self._words, *options, self._host, command]
        done = subprocess.run(words, env=self._environment, input=stdin, capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    @contextmanager
    def connection(self, *options: str, command: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """A connection that lasts until the end of the block, where it breaks; without a command it has the shell."""
        words = [*self._words, "-o", "ExitOnForwardFailure=yes", *options, self._host, *([command] if command else [])]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, env=self._environment, stdin=pipe, stdout=pipe) as process:
            yield process
            process.kill()


def archive(token: str) -> bytes:
    """The server, and bytes that do not become smaller."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as files:
        for name, content in ((f"server-{token}.py", SERVER.encode()), ("bytes", os.urandom(MANY_BYTES))):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            files.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def typed(connection: subprocess.Popen[bytes], script: str, mark: str) -> str:
    """Sends a script to the shell; the rest of the line of output that begins with the mark."""
    assert connection.stdin is not None
    assert connection.stdout is not None
    connection.stdin.write(script.encode())
    connection.stdin.flush()
    output: IO[bytes] = connection.stdout
    return next(line.decode().strip() for line in output if line.startswith(mark.encode())).removeprefix(mark)


def opened(address: tuple[str, int] | str) -> socket.socket:
    """A connection to where ssh is about to listen."""

    def connection() -> socket.socket | None:
        made = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        try:
            made.connect(address)
        except OSError:
            made.close()
            return None
        made.settimeout(60)
        return made

    return until(connection, f"ssh's port {address}")


def received(connection: socket.socket, wanted: int) -> bytes:
    """Just so many bytes, or fewer if no more come."""
    back = bytearray()
    while len(back) < wanted and (part := connection.recv(wanted - len(back))):
        back += part
    return bytes(back)


def through_socks(port: int, server_port: int) -> socket.socket:
    """A connection to the server, through the SOCKS port of ssh's `-D`."""
    connection = opened(("127.0.0.1", port))
    connection.sendall(b"\5\1\0")
    assert received(connection, 2) == b"\5\0"
    connection.sendall(b"\5\1\0\1" + socket.inet_aton("127.0.0.1") + server_port.to_bytes(2, "big"))
    assert received(connection, SOCKS_ANSWER_BYTES)[:2] == b"\5\0"
    return connection


def check_bytes(connection: socket.socket) -> None:
    """Sends more than all buffers on the way hold, and gets back what the server makes of it."""
    sent = os.urandom(MANY_BYTES)
    with connection:
        sender = threading.Thread(target=connection.sendall, args=[sent])
        sender.start()
        assert received(connection, len(sent)) == sent.swapcase()
        sender.join()


def processes_with(word: str) -> list[psutil.Process]:
    """Everybody's processes that have the word in their command, but for ssh's own here."""
    found = psutil.process_iter(["name", "cmdline"])
    return [one for one in found if one.info["name"] != "ssh" and word in " ".join(one.info["cmdline"] or [])]


def test_an_editor_installs_its_server_talks_to_it_comes_back_to_it_and_leaves_nothing(
    wavepool: Wavepool, tmp_path: Path
) -> None:
    person = Person(wavepool, tmp_path / "home")
    assert person.run("config", "ssh-include", "enable").returncode == 0
    reservation_id = person.json("reserve", "-h", "0.2", "-n", "editor", "--no-connect")["id"]
    editor = Editor(person, tmp_path / "home", "editor")
    token, mark = secrets.token_hex(8), secrets.token_hex(8)
    socks = free_port()

    with editor.connection("-D", str(socks)) as connection:
        assert typed(connection, f'echo; echo "{mark}: running"; uname -s\n', f"{mark}: ") == "running"
        assert editor.done("bash", stdin=f"echo {mark}".encode()) == f"{mark}\n"
        editor.done("bash -c 'mkdir -p .server && tar -xzf - -C .server'", stdin=archive(token))
        start = f"cd .server && (nohup python3 server-{token}.py >log 2>&1 </dev/null &)\n"
        wait = "until [ -e server.note ]; do sleep 0.1; done; cat log >&2\n"
        pid, port = typed(connection, f'{start}{wait}echo "{mark}: $(cat server.note)"\n', f"{mark}: ").split()
        check_bytes(through_socks(socks, int(port)))
        with editor.connection("-N", "-L", f"127.0.0.1:{(local := free_port())}:127.0.0.1:{port}"):
            check_bytes(opened(("127.0.0.1", local)))
        with editor.connection("-N", "-L", f"{tmp_path}/l:/home/dev/.server/server.sock"):
            check_bytes(opened(f"{tmp_path}/l"))

    # The network broke. Later connections share one, and find the server that was left.
    control = ("-o", f"ControlPath={tmp_path}/c")
    for _ in range(2):
        with editor.connection("-M", "-N", "-D", str(socks), *control) as master:
            until((tmp_path / "c").exists, "ssh's own socket")
            assert editor.done(f"cat .server/server.note; kill -0 {pid}", *control) == f"{pid} {port}"
            check_bytes(through_socks(socks, int(port)))
            assert master.poll() is None
        # As one does that finds the socket of a connection that broke.
        (tmp_path / "c").unlink()

    assert processes_with(f"server-{token}")
    person.json("cancel", reservation_id, "--yes")
    assert ended(wavepool, reservation_id)["state"] == "cancelled"
    assert not processes_with(f"server-{token}")
