"""Only the process in the sandbox that has its key is heard; others cannot even delay it."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from services.executor.core.sandbox.private_socket import KEY_BYTES, PrivateSocket
from tests.services.executor.core.owning_process import OWNING, OwningProcess

_KNOWS_THE_KEY = """
import pathlib, socket, sys
folder = pathlib.Path(sys.argv[1])
connection = socket.socket(socket.AF_UNIX)
connection.connect(str(folder / "socket"))
try:
    connection.sendall((folder / "key").read_bytes())
    sys.exit(0 if connection.recv(1) == b"" else 1)
except ConnectionError:
    sys.exit(0)
"""


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[PrivateSocket]:
    tmp_path.chmod(0o755)
    listening = PrivateSocket(tmp_path)
    yield listening
    listening.close()


def connected(folder: Path, said: bytes = b"") -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(str(folder / "socket"))
    # After a hang-up a connection accepts no more sends, not even empty ones.
    if said:
        connection.sendall(said)
    return connection


def key_of(folder: Path) -> bytes:
    return (folder / "key").read_bytes()


@pytest.mark.usefixtures("listening")
def test_nothing_of_it_is_open_to_another_user(tmp_path: Path) -> None:
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {"socket": 0o600, "key": 0o600}


async def test_the_one_with_the_key_is_heard(listening: PrivateSocket, tmp_path: Path) -> None:
    with connected(tmp_path, key_of(tmp_path) + b"more") as one, await listening.accept(OWNING) as heard:
        assert heard.recv(64) == b"more"
        heard.send(b"yes")
        assert one.recv(64) == b"yes"
    with socket.socket(socket.AF_UNIX) as late, pytest.raises(ConnectionRefusedError):
        late.connect(str(tmp_path / "socket"))


@pytest.mark.parametrize("said", [bytes(KEY_BYTES), b"short", b""], ids=["wrong", "short", "silent"])
async def test_one_without_the_key_does_not_keep_the_right_one_out(
    listening: PrivateSocket, tmp_path: Path, said: bytes
) -> None:
    accepting = asyncio.create_task(listening.accept(OWNING))
    with connected(tmp_path, said) as wrong:
        if len(said) == KEY_BYTES:
            assert await asyncio.to_thread(wrong.recv, 1) == b""
        with connected(tmp_path, key_of(tmp_path)) as right, await asyncio.wait_for(accepting, 20) as heard:
            heard.send(b"yes")
            assert right.recv(64) == b"yes"
            assert wrong.recv(1) == b""


async def test_any_number_of_silent_ones_does_not_keep_the_right_one_out(
    listening: PrivateSocket, tmp_path: Path
) -> None:
    accepting = asyncio.create_task(listening.accept(OWNING))
    silent = [await asyncio.to_thread(connected, tmp_path) for _ in range(40)]
    # Only so many may prove themselves at once.
    assert await asyncio.to_thread(silent[-1].recv, 1) == b""
    for one in silent:
        one.close()
    # An attempt may come before the departed connections were noticed, and is then hung up on as well.
    while not accepting.done():
        with socket.socket(socket.AF_UNIX) as right, suppress(OSError):
            right.setblocking(False)
            right.connect(str(tmp_path / "socket"))
            right.send(key_of(tmp_path))
            await asyncio.wait({accepting}, timeout=1)
        await asyncio.sleep(0)
    accepting.result().close()


async def test_a_process_outside_of_the_sandbox_is_not_heard_though_it_knows_the_key(
    listening: PrivateSocket, tmp_path: Path
) -> None:
    accepting = asyncio.create_task(listening.accept(OWNING))
    command = [sys.executable, "-c", _KNOWS_THE_KEY, str(tmp_path)]
    assert (await asyncio.to_thread(subprocess.run, command, check=False)).returncode == 0
    with connected(tmp_path, key_of(tmp_path)), await asyncio.wait_for(accepting, 20):
        pass


async def test_it_gives_up_without_leaving_anything_open(listening: PrivateSocket, tmp_path: Path) -> None:
    with connected(tmp_path) as silent:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listening.accept(OwningProcess()), 0.2)
        assert silent.recv(1) == b""
