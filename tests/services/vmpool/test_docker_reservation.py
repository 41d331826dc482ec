"""A reservation on a container that vmpool starts from the executor's image: its session reaches a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.test_gangs import GANG
from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import start
from tests.services.executor.test_image import IMAGE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.docker,
    pytest.mark.executor_image,
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

PROGRAMS = ("curl", "git", "htop", "less", "restic", "rsync", "tmux", "vim", "zsh")
"""What people expect on a rented machine, and what stores their disks; the image is all that such a machine has."""


def test_a_session_in_a_container_has_a_network_and_a_real_sandbox(tmp_path: Path) -> None:
    wavepool = start(
        tmp_path / "wavepool",
        VMPOOL_PROVIDERS="docker",
        VMPOOL_DOCKER_IMAGE=IMAGE,
        VMPOOL_DOCKER_ENVIRONMENT='{"EXECUTOR_DEVICE": "cpu"}',
    )
    try:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "contained", "--no-connect")
        assert not [gap for gap in made["gaps"] if "network" in gap]
        said = person.run("connect", "contained", "--", "ip -brief address show tap0")
        assert said.stdout.split()[2].startswith(b"10.0.2.100/"), (said.stdout, said.stderr)
        found = person.run("connect", "contained", "--", f"command -v {' '.join(PROGRAMS)}").stdout.decode().split()
        assert [path.rpartition("/")[2] for path in found] == list(PROGRAMS)
        person.json("cancel", "contained", "--yes")
        assert ended(wavepool, made["id"])["state"] == "cancelled"
    finally:
        wavepool.stop()


def test_two_containers_are_the_nodes_of_one_reservation(tmp_path: Path) -> None:
    wavepool = start(
        tmp_path / "wavepool",
        VMPOOL_PROVIDERS="docker",
        VMPOOL_MAX_MACHINES="2",
        VMPOOL_GPUS_PER_MACHINE="8",
        VMPOOL_DOCKER_IMAGE=IMAGE,
        VMPOOL_DOCKER_ENVIRONMENT='{"EXECUTOR_DEVICE": "cpu"}',
    )
    try:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "both", *GANG, "--no-connect")
        assert (made["state"], len({node["machine_id"] for node in made["nodes"]})) == ("active", 2)
        among = person.run("connect", "both", "--", "hostname; ssh node-1 hostname")
        assert among.stdout == b"node-0\nnode-1\n", among.stderr.decode()
        back = person.run("connect", "both", "--node", "1", "--", "ssh node-0 hostname")
        assert back.stdout == b"node-0\n", back.stderr.decode()
        person.json("cancel", "both", "--yes")
        assert ended(wavepool, made["id"])["state"] == "cancelled"
    finally:
        wavepool.stop()
