"""Reservations on machines that the real dstack server rents of a fake cloud, with the real executor and ssh.

One test, as a Wavepool, a server and a machine take most of its time to start.
"""

from __future__ import annotations

import json
import secrets
import sys
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.end_to_end.test_reservations import RESERVATIONS, Person, ended, sleepers
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
pytestmark = [pytest.mark.dstack, pytest.mark.restic, pytest.mark.slow, pytest.mark.timeout(500)]


@contextmanager
def wavepool_on(server: DstackServer, data_dir: Path) -> Generator[Wavepool]:
    """A whole Wavepool whose machines are the lab's; they run the executor of this tree, on the processor."""
    environment = {
        "PYTHONPATH": PYTHON_PATH,
        "EXECUTOR_DEVICE": "cpu",
        # A place that outlives the machines.
        "EXECUTOR_DISKS": f"folder:{data_dir / 'disks'}",
    }
    running = start(
        data_dir,
        VMPOOL_PROVIDERS="dstack",
        VMPOOL_MAX_MACHINES="1",
        VMPOOL_DSTACK_SERVER_URL=server.url,
        VMPOOL_DSTACK_PROJECT=server.project,
        VMPOOL_DSTACK_TOKEN=server.token,
        VMPOOL_DSTACK_COMMANDS=json.dumps([f"exec {sys.executable} -m services.executor"]),
        VMPOOL_DSTACK_ENVIRONMENT=json.dumps(environment),
        VMPOOL_DSTACK_POLL_INTERVAL="0.2",
        VMPOOL_DSTACK_STOP_GRACE="10",
    )
    try:
        yield running
    finally:
        running.stop()


def output(person: Person, command: str) -> str | None:
    """What a command prints in the session; None if it fails, or if the session cannot be reached."""
    said = person.run("connect", "rented", "--", command)
    return said.stdout.decode() if said.returncode == 0 else None


def reserved(person: Person, *words: str) -> dict[str, Any]:
    return person.json("reserve", "-n", "rented", "--no-connect", *words)


def charged(wavepool: Wavepool, reservation: dict[str, Any]) -> float:
    """What the ledger has of a reservation that is over, which says the same."""
    dollars = wavepool.paid_usd(reservation["id"])
    assert reservation["cost_usd"] == pytest.approx(dollars)
    return dollars


def price_until_snapshot(reservation: dict[str, Any]) -> float:
    begin, end = (datetime.fromisoformat(reservation[name]) for name in ("active_at", "disk_safe_time"))
    assert end > begin
    return reservation["price_per_gpu_hour"] * ((end - begin) / timedelta(hours=1))


def check_dead_server(person: Person, server: DstackServer) -> str:
    """A session lives and ends while dstack's server is dead, also with a vmpool that began meanwhile.

    Gives the id of its machine, which stays.
    """
    made = reserved(person, "-h", "0.1")
    assert made["state"] == "active"
    seconds = f"86399.{secrets.randbelow(10**9)}"
    assert output(person, f"setsid sleep {seconds} >/dev/null 2>&1 & echo ok") == "ok\n"
    server.kill()
    person.wavepool.kill("vmpool")
    until(lambda: output(person, "echo ok") == "ok\n", "the session, by a vmpool that has never seen dstack's server")
    assert sleepers(seconds)
    person.json("cancel", made["id"], "--yes")
    over = ended(person.wavepool, made["id"])
    assert (over["state"], over["machine_id"]) == ("cancelled", made["machine_id"])
    assert charged(person.wavepool, over) > 0
    assert not sleepers(seconds)
    server.start()
    return made["machine_id"]


def check_stopped_wavepool(person: Person, made: dict[str, Any], server: DstackServer) -> None:
    """A session goes on while dstack's server hangs, and Wavepool says so when it stops."""
    server.hang()
    try:
        assert output(person, "echo kept >file; echo ok") == "ok\n"
    finally:
        server.resume()
    stopped = person.run("down")
    assert stopped.returncode == 0, stopped.stderr.decode()
    said = f"these reservations continue, and their machines stay rented: {made['id']} on {made['machine_id']}"
    assert said in " ".join(stopped.stderr.decode().split())


def check_max_duration(person: Person, made: dict[str, Any], cloud: FakeCloud) -> dict[str, Any]:
    """What dstack ends is our fault, and its owner goes on with the rest before others; gives the next reservation."""
    wavepool = person.wavepool
    too_long = person.run("reserve", "-h", "12", "--no-connect")
    assert too_long.returncode != 0
    assert b"the most is 10.3 h, as the machines that the pool starts do not live longer" in too_long.stderr
    assert b"(VMPOOL_DSTACK_MAX_DURATION)" in too_long.stderr

    cloud.hold_boots()
    (rented,) = cloud.existing()
    cloud.exceed_max_duration(rented.id)
    over = ended(wavepool, made["id"])
    assert over["state"] == "failed"
    assert "Lost through our fault: its machine is gone (dstack: max_duration_exceeded" in over["message"]
    assert charged(wavepool, over) == pytest.approx(price_until_snapshot(over), abs=2e-6)
    assert "minutes that were left, you are the first of your queue" in over["message"]
    other = person.json("reserve", "-h", "0.5", "-n", "other", "--no-wait")
    rest = reserved(person, "-h", "0.1", "--disk", "work", "--no-wait")
    cloud.heal()

    def state(reservation: dict[str, Any]) -> str:
        return wavepool.http.get(f"{RESERVATIONS}/{reservation['id']}").json()["state"]

    until(lambda: state(rest) == "active", "the rest, on the next machine")
    assert state(other) == "queued"
    assert output(person, "cat file") == "kept\n"
    person.json("cancel", other["id"], "--yes")
    return rest


def check_vanished_machine(person: Person, made: dict[str, Any], cloud: FakeCloud) -> None:
    """A machine that is gone in mid-session leaves the last snapshot, and the time since then is free."""
    taken = person.json("disk", "snapshot", "work")
    (rented,) = cloud.existing()
    cloud.power_off(rented.id)
    over = ended(person.wavepool, made["id"])
    assert over["state"] == "failed"
    assert "its machine is gone (dstack: instance_unreachable" in over["message"]
    assert "Its disk work is kept as of" in over["message"]
    assert charged(person.wavepool, over) == pytest.approx(price_until_snapshot(over), abs=2e-6)
    (disk,) = person.json("disk", "list")
    assert (disk["state"], disk["snapshots"][-1]["id"]) == ("available", taken["id"])
    cloud.wait_until(lambda cloud: rented.id not in [each.id for each in cloud.existing()])


def test_a_session_on_a_rented_machine_outlives_dstack_and_wavepool_and_ends_with_its_machine(
    tmp_path: Path, dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    data_dir = tmp_path / "wavepool"
    with wavepool_on(dstack_server, data_dir) as wavepool:
        person = Person(wavepool, tmp_path / "home")
        machine_id = check_dead_server(person, dstack_server)
        person.json("disk", "create", "work", "--size", "1g")
        made = reserved(person, "-h", "0.2", "--disk", "work")
        assert made["machine_id"] == machine_id
        check_stopped_wavepool(person, made, dstack_server)
    with wavepool_on(dstack_server, data_dir) as wavepool:
        person.wavepool, person.environment["WAVEPOOL_ENDPOINT"] = wavepool, wavepool.endpoint
        until(lambda: output(person, "cat file") == "kept\n", "the session, through the next vmpool")
        rest = check_max_duration(person, made, fake_cloud)
        check_vanished_machine(person, rest, fake_cloud)
