"""Homes that outlive reservations, on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.test_reservations import Person, ended
from tests.end_to_end.wavepool_processes import Wavepool, start

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.restic]


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    running = start(tmp_path_factory.mktemp("wavepool"))
    yield running
    running.stop()


@pytest.fixture
def person(wavepool: Wavepool, tmp_path: Path) -> Person:
    return Person(wavepool, tmp_path / "home")


def said(person: Person, reservation_id: str, command: str) -> str:
    done = person.run("connect", reservation_id, "--", command)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_what_is_written_to_a_disk_is_there_in_the_next_reservation(wavepool: Wavepool, person: Person) -> None:
    made = person.json("disk", "create", "work", "--size", "1g")
    assert (made["state"], made["size_limit_bytes"]) == ("available", 1 << 30)

    first = person.json("reserve", "-h", "0.1", "--disk", "work", "--no-connect")
    assert (first["disk_name"], first["disk_safe_time"]) == ("work", None)
    assert [step["name"] for step in first["steps"]] == ["queue", "disk", "sandbox", "sshd"]
    assert said(person, first["id"], "ls -A; mkdir src; echo hello >src/file; umask 077; echo x >secret") == ""

    refused = person.run("reserve", "-h", "0.1", "--disk", "work", "--no-connect")
    assert refused.returncode != 0
    assert f"is held by {first['id']}, which is active" in refused.stderr.decode()

    person.json("cancel", first["id"], "--yes")
    over = ended(wavepool, first["id"])
    assert over["state"] == "cancelled"
    assert over["disk_safe_time"] > over["active_at"]
    disk = next(one for one in person.json("disk", "list") if one["name"] == "work")
    assert (disk["state"], disk["safe_time"], disk["reservation_id"]) == ("available", over["disk_safe_time"], None)
    assert [one["reason"] for one in disk["snapshots"]] == ["end"]

    second = person.json("reserve", "-h", "0.1", "--disk", "work", "--no-connect")
    assert said(person, second["id"], "cat src/file; stat -c '%a %U' secret; ls -A") == "hello\n600 dev\nsecret\nsrc\n"
    person.json("cancel", second["id"], "--yes")
    ended(wavepool, second["id"])

    third = person.json("reserve", "-h", "0.1", "--no-connect")
    assert said(person, third["id"], "ls -A") == ""
    person.json("cancel", third["id"], "--yes")
    ended(wavepool, third["id"])

    assert person.json("disk", "delete", "work", "--yes")["state"] == "deleted"
    gone = person.run("reserve", "-h", "0.1", "--disk", "work", "--no-connect")
    assert b"`wavepool disk create` makes one" in gone.stderr


def test_a_machine_that_is_killed_leaves_the_last_snapshot_and_the_minutes_since_are_free(
    wavepool: Wavepool, person: Person
) -> None:
    person.json("disk", "create", "crash", "--size", "1g")
    first = person.json("reserve", "-h", "0.1", "--disk", "crash", "--no-connect")
    said(person, first["id"], "echo saved >saved; mkfifo pipe")
    taken = person.json("disk", "snapshot", "crash")
    assert (taken["reason"], taken["size_bytes"], taken["skipped"]) == ("request", 6, 1)
    content = person.json("disk", "list-content", "crash")
    assert [(one["path"], one["size_bytes"]) for one in content["files"]] == [("saved", 6)]
    said(person, first["id"], "echo lost >lost")

    kill_executors(wavepool)
    lost = ended(wavepool, first["id"])
    assert lost["state"] == "failed"
    assert "Its disk crash is kept as of" in lost["message"]
    charged = wavepool.paid_usd(first["id"])
    assert lost["cost_usd"] == pytest.approx(charged)

    clone = person.json("disk", "clone", "crash", "copy")
    assert clone["snapshots"][-1]["id"] == taken["id"]
    assert person.json("disk", "rename", "copy", "other")["name"] == "other"
    for name in ("crash", "other"):
        again = person.json("reserve", "-h", "0.1", "--disk", name, "--no-connect")
        assert said(person, again["id"], "ls -A") == "saved\n"
        person.json("cancel", again["id"], "--yes")
        ended(wavepool, again["id"])


def test_ctrl_c_saves_the_disks_in_use_before_everything_stops(tmp_path: Path) -> None:
    wavepool = start(tmp_path / "data")
    try:
        person = Person(wavepool, tmp_path / "home")
        person.json("disk", "create", "work")
        made = person.json("reserve", "-h", "0.1", "--disk", "work", "--no-connect")
        said(person, made["id"], "echo hello >file")
    finally:
        wavepool.stop()
    assert "disk work of local is saved" in (wavepool.data_dir / "up.log").read_text()
    wavepool = start(tmp_path / "data")
    try:
        person.environment["WAVEPOOL_ENDPOINT"] = wavepool.endpoint
        assert [one["path"] for one in person.json("disk", "list-content", "work")["files"]] == ["file"]
    finally:
        wavepool.stop()


def kill_executors(wavepool: Wavepool) -> None:
    """Kills the executors of this Wavepool, and so their sessions."""
    for note in wavepool.data_dir.glob("machines/*/process.json"):
        with suppress(psutil.NoSuchProcess, ValueError):
            psutil.Process(json.loads(note.read_text())["executor_pid"]).kill()
