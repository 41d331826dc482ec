"""A reservation on a machine that the real dstack server rents of a fake cloud, with the real executor and ssh."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import start, until
from tests.services.vmpool.providers.dstack.lab_provider import PYTHON_PATH

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.dstack_lab.client import LabClient
    from tests.dstack_lab.fake_cloud import FakeCloud
    from tests.dstack_lab.server import DstackServer
    from tests.end_to_end.wavepool_processes import Wavepool

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.slow, pytest.mark.timeout(400)]


@contextmanager
def wavepool_on(server: DstackServer, data_dir: Path) -> Generator[Wavepool]:
    """A whole Wavepool whose machines are the lab's; they run the executor of this tree, on the processor."""
    running = start(
        data_dir,
        VMPOOL_PROVIDERS="dstack",
        VMPOOL_MAX_MACHINES="1",
        VMPOOL_DSTACK_SERVER_URL=server.url,
        VMPOOL_DSTACK_PROJECT=server.project,
        VMPOOL_DSTACK_TOKEN=server.token,
        VMPOOL_DSTACK_COMMANDS=json.dumps([f"exec {sys.executable} -m services.executor"]),
        VMPOOL_DSTACK_ENVIRONMENT=json.dumps({"PYTHONPATH": PYTHON_PATH, "EXECUTOR_DEVICE": "cpu"}),
        VMPOOL_DSTACK_POLL_INTERVAL="0.2",
        VMPOOL_DSTACK_STOP_GRACE="10",
    )
    try:
        yield running
    finally:
        running.stop()


def says_ok(person: Person) -> bool:
    said = person.run("connect", "rented", "--", "echo ok; exit 7")
    return (said.returncode, said.stdout) == (7, b"ok\n")


def test_a_session_on_a_rented_machine_outlives_dstack_and_wavepool_and_ends_with_its_machine(
    tmp_path: Path, dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    data_dir = tmp_path / "wavepool"
    with wavepool_on(dstack_server, data_dir) as wavepool:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", "0.1", "-n", "rented", "--no-connect")
        assert made["state"] == "active"
        assert says_ok(person)
        dstack_server.hang()
        try:
            assert says_ok(person)
        finally:
            dstack_server.resume()
        stopped = person.run("down")
        assert stopped.returncode == 0, stopped.stderr.decode()
        said = f"these reservations go on, and so does the rent of their machines: {made['id']} on {made['machine_id']}"
        assert said in " ".join(stopped.stderr.decode().split())
    (rented,) = fake_cloud.existing()
    with wavepool_on(dstack_server, data_dir) as wavepool:
        person.environment["WAVEPOOL_ENDPOINT"] = wavepool.endpoint
        until(lambda: says_ok(person), "the session, through the next vmpool")
        fake_cloud.power_off(rented.id)
        over = ended(wavepool, made["id"])
        assert (over["state"], over["cost_usd"]) == ("failed", 0)
        assert "its machine is gone (dstack: instance_unreachable" in over["message"]
        fake_cloud.wait_until(lambda cloud: not cloud.existing())
