"""A reservation on a container that vmpool starts from the executor's image: its session reaches a network."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import pytest

from tests.end_to_end.test_gangs import GANG
from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import Wavepool, start
from tests.image_registry import busybox, running_registry
from tests.services.executor.test_image import IMAGE

pytestmark = [
    pytest.mark.docker,
    pytest.mark.ssh,
    pytest.mark.executor_image,
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

PROGRAMS = ("curl", "git", "htop", "less", "restic", "rsync", "tmux", "vim", "zsh")
"""What people expect on a rented machine, and what stores their disks; the image is all that such a machine has."""


MEMORY_MIB = 3072
SHARE_BYTES = int(MEMORY_MIB * 0.95) << 20
"""What a session on all of a container's GPUs may use; the rest is for the executor."""
BRIDGE = "172.17.0.1"
"""The engine's host, as containers of the usual bridge see it."""


class Listener:
    """A port of the host on all its addresses, which counts who comes."""

    def __init__(self) -> None:
        self._server = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - others are to try all of them
        self.port = self._server.getsockname()[1]
        self.visitors: list[str] = []
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):
            while True:
                connection, (address, _) = self._server.accept()
                self.visitors.append(address)
                connection.close()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@contextmanager
def wavepool_on_docker(folder: Path, *registries: str, **settings: str) -> Generator[Wavepool]:
    """A whole Wavepool whose machines are containers of a pool of its own, none of which outlives it.

    A container whose session is just ending stays when the pool is stopped, until it is an orphan.
    """
    pool = f"test-{token_hex(6)}"
    environment = {"EXECUTOR_DEVICE": "cpu", "EXECUTOR_IMAGE_INSECURE_REGISTRIES": ",".join(registries)}
    wavepool = start(
        folder / "wavepool",
        VMPOOL_PROVIDERS="docker",
        VMPOOL_POOL_NAME=pool,
        VMPOOL_DOCKER_IMAGE=IMAGE,
        VMPOOL_DOCKER_ENVIRONMENT=json.dumps(environment),
        **settings,
    )
    try:
        yield wavepool
    finally:
        wavepool.stop()
        found = ["docker", "ps", "--all", "--quiet", "--filter", f"label=wavepool.pool={pool}"]
        if left := subprocess.run(found, check=True, capture_output=True, text=True).stdout.split():
            subprocess.run(["docker", "rm", "--force", *left], check=True, capture_output=True)


def in_container(command: str) -> str:
    """What a command prints in the one container of the pool that is there."""
    running = ["docker", "ps", "--quiet", "--filter", f"ancestor={IMAGE}"]
    (container,) = subprocess.run(running, check=True, capture_output=True, text=True).stdout.split()
    words = ["docker", "exec", container, "bash", "-c", command]
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=60).stdout


def test_a_session_in_a_container_has_its_share_and_reaches_neither_host_nor_container_nor_clouds_data(
    tmp_path: Path,
) -> None:
    with (
        closing(Listener()) as listener,
        wavepool_on_docker(tmp_path, VMPOOL_DOCKER_MEMORY_MIB=str(MEMORY_MIB)) as wavepool,
    ):
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "shared", "--no-connect")
        assert not [gap for gap in made["gaps"] if "memory" in gap or "processors" in gap]

        said = person.run("connect", "shared", "--", "df -B1 --output=size /dev/shm | tail -1; nproc").stdout.split()
        assert int(said[0]) == pytest.approx(SHARE_BYTES, abs=1 << 20)
        assert int(said[1]) == int(in_container("nproc"))
        limits = in_container(
            "find /sys/fs/cgroup -path '*wavepool-sandbox*' '(' -name memory.max -o -name memory.limit_in_bytes ')' "
            "-exec cat {} +"
        )
        assert pytest.approx(min(map(int, limits.split())), abs=1 << 20) == SHARE_BYTES

        # The container itself reaches the host, so that the way is there.
        in_container(f": </dev/tcp/{BRIDGE}/{listener.port}")
        assert len(listener.visitors) == 1
        own = in_container("hostname --ip-address").strip()
        for address, port in (
            *((address, listener.port) for address in ("127.0.0.1", BRIDGE, "10.0.2.2")),
            *((address, 50063) for address in ("127.0.0.1", own, "10.0.2.2")),
            ("169.254.169.254", 80),
        ):
            tried = person.run("connect", "shared", "--", f"timeout 20 bash -c ': </dev/tcp/{address}/{port}'")
            assert tried.returncode == 1, (address, port, tried.stderr)
            assert any(word in tried.stderr for word in (b"No route to host", b"unreachable", b"refused")), tried.stderr
        assert len(listener.visitors) == 1
        person.json("cancel", "shared", "--yes")
        assert ended(wavepool, made["id"])["state"] == "cancelled"


def test_a_session_in_a_container_has_a_network_and_a_real_sandbox(tmp_path: Path) -> None:
    with wavepool_on_docker(tmp_path) as wavepool:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "contained", "--no-connect")
        assert not [gap for gap in made["gaps"] if "network" in gap]
        said = person.run("connect", "contained", "--", "ip -brief address show tap0")
        assert said.stdout.split()[2].startswith(b"10.0.2.100/"), (said.stdout, said.stderr)
        found = person.run("connect", "contained", "--", f"command -v {' '.join(PROGRAMS)}").stdout.decode().split()
        assert [path.rpartition("/")[2] for path in found] == list(PROGRAMS)
        person.json("cancel", "contained", "--yes")
        assert ended(wavepool, made["id"])["state"] == "cancelled"


@pytest.mark.images
@pytest.mark.builds
def test_a_container_fetches_an_image_and_builds_one_from_a_dockerfile(tmp_path: Path) -> None:
    with running_registry(tmp_path / "registry", BRIDGE) as registry:
        registry.push("tiny", busybox(), config={"Env": ["PATH=/bin"]})
        image = f"{registry.address}/tiny:1"
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "mine").write_text("of the folder\n")
        (tmp_path / "folder" / "Dockerfile").write_text(f"FROM {image}\nCOPY mine /opt/\nRUN id -u > /opt/made\n")
        with wavepool_on_docker(tmp_path, registry.address) as wavepool:
            person = Person(wavepool, tmp_path / "home")
            fetched = person.run("run", "-h", "0.1", "--image", image, "--", "cat", "/etc/os-release")
            assert (fetched.returncode, fetched.stdout) == (0, b"ID=tiny\n"), fetched.stderr.decode()
            built = person.run("run", "-h", "0.1", "--dockerfile", str(tmp_path / "folder"), "--", "cat /opt/m*")
            assert (built.returncode, built.stdout) == (0, b"0\nof the folder\n"), built.stderr.decode()


def test_two_containers_are_the_nodes_of_one_reservation(tmp_path: Path) -> None:
    # In the network of the usual bridge.
    gang = {"VMPOOL_MAX_MACHINES": "2", "VMPOOL_GPUS_PER_MACHINE": "8", "VMPOOL_MACHINE_NETWORK": "172.17.0.0/16"}
    with wavepool_on_docker(tmp_path, **gang) as wavepool:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "both", *GANG, "--no-connect")
        assert (made["state"], len({node["machine_id"] for node in made["nodes"]})) == ("active", 2)
        among = person.run("connect", "both", "--", "hostname; ssh node-1 hostname")
        assert among.stdout == b"node-0\nnode-1\n", among.stderr.decode()
        back = person.run("connect", "both", "--node", "1", "--", "ssh node-0 hostname")
        assert back.stdout == b"node-0\n", back.stderr.decode()
        person.json("cancel", "both", "--yes")
        assert ended(wavepool, made["id"])["state"] == "cancelled"
