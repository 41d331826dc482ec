"""The SSH front door on a whole Wavepool: plain `ssh -J` for people who have a key and no token."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import asyncssh
import pytest

from gateway.reservations.front_door import MOST_KEYS, MOST_UNKNOWN
from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import start, until
from tests.ssh_keys import new_key
from vocabulary.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.wavepool_processes import Wavepool

CONFIG = """
Host pool
  HostName 127.0.0.1
  Port {port}
  User anybody
Host wp-*
  User dev
  ProxyJump pool
Host *
  BatchMode yes
  LogLevel ERROR
  IdentitiesOnly yes
  IdentityFile {key}
  UserKnownHostsFile {known}
  StrictHostKeyChecking yes
"""


class Visitor:
    """Somebody with plain OpenSSH and a key."""

    def __init__(self, folder: Path, port: int, pool_key: str, reservation: dict[str, Any]) -> None:
        self.key = folder / "id_ed25519"
        new_key().keep(self.key)
        known, self.host = folder / "known_hosts", f"wp-{reservation['id'].lower()[-8:]}"
        self.long_host = f"wp-{reservation['id'].lower().removeprefix('res_')}"
        known.write_text(f"[127.0.0.1]:{port} {pool_key}{self.host},{self.long_host} {reservation['host_key']}\n")
        self.config = folder / "config"
        self.config.write_text(CONFIG.format(port=port, key=self.key, known=known))

    def ssh(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ssh", "-F", self.config, *words], capture_output=True, text=True, check=False, timeout=60
        )


async def is_let_in(port: int, keys: list[asyncssh.SSHKey]) -> bool:
    """True if somebody who offers these keys, one after the other, may open connections."""
    try:
        async with asyncssh.connect("127.0.0.1", port, client_keys=keys, known_hosts=None, config=None):
            return True
    except asyncssh.Error:
        return False


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Wavepool]:
    running = start(tmp_path_factory.mktemp("wavepool"), GATEWAY_SSH_PORT=str(port), GATEWAY_TUNNEL_CHECK="1")
    yield running
    running.stop()


@pytest.fixture
def owner(wavepool: Wavepool, tmp_path: Path) -> Person:
    return Person(wavepool, tmp_path / "home")


@pytest.mark.usefixtures("wavepool")
def test_a_hundred_connections_may_wait_for_their_login_and_no_more(port: int) -> None:
    with ExitStack() as waiting:
        for _ in range(MOST_UNKNOWN):
            connected = waiting.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            assert connected.recv(8) == b"SSH-2.0-"
        assert greeting(port) == b""
    until(lambda: greeting(port) == b"SSH-2.0-", "room for another")


def greeting(port: int) -> bytes:
    """The first bytes that the front door says to a new connection; none if it is closed."""
    with socket.create_connection(("127.0.0.1", port), 60) as connected:
        try:
            return connected.recv(8)
        except ConnectionResetError:
            return b""


@pytest.mark.ssh
@pytest.mark.sshd
@pytest.mark.bubblewrap
def test_a_key_in_the_reservation_leads_through_the_front_door_and_nowhere_else(
    wavepool: Wavepool, owner: Person, port: int, tmp_path: Path
) -> None:
    made = owner.json("reserve", "-h", "0.1", "-n", "train", "--no-connect")
    pool_key = asyncssh.read_private_key(wavepool.data_dir / "ssh_host_ed25519_key").export_public_key().decode()
    colleague = Visitor(tmp_path / "colleague", port, pool_key, made)
    refused = colleague.ssh(colleague.host, "echo ok")
    assert (refused.returncode, "Permission denied" in refused.stderr) == (255, True)

    added = owner.run("reservations", "edit", "train", "--add-user", f"colleague={colleague.key}.pub")
    assert added.returncode == 0, added.stderr.decode()
    for host in (colleague.host, colleague.long_host):
        said = colleague.ssh(host, "echo $WAVEPOOL_USER; exit 7")
        assert (said.returncode, said.stdout) == (7, "colleague\n"), said.stderr

    right = asyncssh.read_private_key(colleague.key)
    others = [asyncssh.generate_private_key("ssh-ed25519") for _ in range(MOST_KEYS)]
    assert asyncio.run(is_let_in(port, [*others[:3], right]))
    assert not asyncio.run(is_let_in(port, [*others, right]))

    shell = colleague.ssh("pool", "echo ok")
    assert (shell.returncode, shell.stdout) == (255, "")
    gateway = wavepool.endpoint.rpartition(":")[2]
    for elsewhere in (f"127.0.0.1:{gateway}", "169.254.169.254:80", f"{colleague.host}:80", "wp-00000000:22"):
        proxied = colleague.ssh("-W", elsewhere, "pool")
        assert (proxied.returncode, proxied.stdout) == (255, ""), elsewhere
    listening = colleague.ssh("-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22", "-N", "pool")
    assert listening.returncode == 255

    command = ["ssh", "-F", colleague.config, colleague.host, "echo in; sleep 600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as inside:
        assert inside.stdout
        assert inside.stdout.readline() == b"in\n"
        assert owner.run("reservations", "edit", "train", "--remove-user", "colleague").returncode == 0
        until(lambda: inside.poll() is not None, "the end of the connection", 30)
    assert colleague.ssh(colleague.host, "echo ok").returncode == 255
    assert owner.run("cancel", "train", "--yes").returncode == 0
    ended(wavepool, made["id"])
