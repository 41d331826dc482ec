"""The Python class, with an ssh that runs commands on this machine, and the real rsync."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Answer, Stream
from tests.cli.reservation_scenes import (
    ACTIVE,
    ID,
    ONE,
    QUEUED,
    RESERVATIONS,
    STORY,
    introduce,
    session_on_this_machine,
)
from tests.ssh_keys import new_key
from wavepool_client import Reservation
from wavepool_client.errors import InputError, UnreachableError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> Path:
    """The home in the session."""
    introduce(tmp_path, monkeypatch, gateway)
    gateway.on("POST", f"{ONE}/cancel", Answer({**ACTIVE, "state": "cancelled"}, 202))
    return session_on_this_machine(tmp_path, monkeypatch)


@pytest.mark.rsync
def test_a_reservation_runs_commands_copies_files_and_ends_with_its_block(
    gateway: ScriptedGateway, tmp_path: Path, session: Path
) -> None:
    (tmp_path / "train.py").write_text("print(42)\n")
    seen: list[str] = []
    with Reservation.make(hours=1, gpus=2, gpu_type="MI300X", name="training") as reservation:
        assert (reservation.id, reservation.state) == (ID, "queued")
        with pytest.raises(InputError, match="wait_until_ready"):
            reservation.exec("true")
        reservation.wait_until_ready(on_event=lambda event: seen.append(event.status))
        reservation.upload(tmp_path / "train.py")
        done = reservation.exec("cat train.py; echo bad >&2; exit 7")
        assert (done.exit_status, done.stdout, done.stderr) == (7, "print(42)\n", "bad\n")
        reservation.exec("mkdir out; echo 1 > out/model")
        reservation.download("out", tmp_path / "results")
    assert seen == ["QUEUED", "STEP", "ACTIVE"]
    assert (session / "train.py").exists()
    assert (tmp_path / "results" / "out" / "model").read_text() == "1\n"
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert (asked.body["gpu_count"], asked.body["name"], len(asked.body["keys"])) == (2, "training", 1)
    assert len(gateway.asked("POST", f"{ONE}/cancel")) == 1


def test_an_error_in_the_block_ends_it_too(gateway: ScriptedGateway) -> None:
    def fail() -> None:
        with Reservation.attach(ID):
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert len(gateway.asked("POST", f"{ONE}/cancel")) == 1


def test_users_and_time_change(gateway: ScriptedGateway, tmp_path: Path) -> None:
    new_key().keep(tmp_path / "bob")
    for path in ("users", "extend"):
        gateway.on("POST", f"{ONE}/{path}", Answer({**ACTIVE, "users": ["ada", "bob"]}))
    reservation = Reservation.attach(ID)
    reservation.extend(1.5)
    reservation.add_user("bob", tmp_path / "bob.pub")
    assert reservation.fields["users"] == ["ada", "bob"]
    reservation.add_user("github:eve")
    reservation.remove_user("bob")
    reservation.close()
    assert gateway.asked("POST", f"{ONE}/extend")[0].body == {"hours": 1.5}
    added, looked_up, removed = (one.body for one in gateway.asked("POST", f"{ONE}/users"))
    assert added["add"][0]["user"] == "bob"
    assert looked_up["add"] == [{"user": "github:eve"}]
    assert removed == {"add": [], "remove": ["bob"]}
    assert gateway.asked("POST", f"{ONE}/cancel") == []


def test_one_that_ends_or_waits_too_long_is_an_error(gateway: ScriptedGateway) -> None:
    gateway.only("GET", f"{ONE}/events", Stream([STORY[0], (2, {"status": "FAILED", "message": "Lost."})]))
    gateway.only("GET", ONE, Answer(QUEUED), Answer({**QUEUED, "state": "failed", "message": "Its machine was lost."}))
    reservation = Reservation.attach(ID)
    with pytest.raises(UnreachableError, match="is failed: Its machine was lost"):
        reservation.wait_until_ready()
    reservation.cancel()
    assert gateway.asked("POST", f"{ONE}/cancel") == [], "it is over"
    gateway.only("GET", ONE, Answer(QUEUED))
    gateway.only("GET", f"{ONE}/events", Stream(STORY[:2]))
    with pytest.raises(TimeoutError):
        reservation.wait_until_ready(timeout_seconds=0)
    reservation.close()


@pytest.mark.rsync
def test_a_lost_connection_and_a_copy_in_part_are_errors(tmp_path: Path) -> None:
    reservation = Reservation.attach(ID)
    with pytest.raises(UnreachableError, match="which is active: gone"):
        reservation.exec("echo gone >&2; exit 255")
    with pytest.raises(UnreachableError, match="nothing was copied to res_"):
        reservation.upload("nothing")
    reservation.close()


def test_it_is_made_with_others_a_disk_and_a_key_as_by_the_command(gateway: ScriptedGateway, tmp_path: Path) -> None:
    new_key().keep(tmp_path / "bob")
    others = ["carol", f"bob={tmp_path / 'bob.pub'}"]
    Reservation.make(hours=1, disk="work", add_users=others, max_price=3, idempotency_key="again").close()
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert (asked.body["disk"], asked.headers["Idempotency-Key"]) == ("work", "again")
    carol, bob = asked.body["add_users"]
    assert (carol, bob["user"], bob["public_key"].split()[0]) == ({"user": "carol"}, "bob", "ssh-ed25519")
    [quoted] = gateway.asked("POST", f"{RESERVATIONS}/quote")
    assert quoted.body == {"hours": 1, "gpu_count": 1, "disk": "work"}
    with pytest.raises(InputError, match="add_users: is 'dan='"):
        Reservation.make(hours=1, add_users=["dan="])


def test_nothing_is_reserved_above_the_highest_price(gateway: ScriptedGateway) -> None:
    with pytest.raises(InputError, match=r"max_price: is \$1.00, and a GPU may cost"):
        Reservation.make(hours=1, max_price=1)
    assert gateway.asked("POST", RESERVATIONS) == []


@pytest.mark.parametrize(
    "start", [datetime(2096, 11, 26, 8, tzinfo=UTC), "2096-11-26T09:00+01:00", "2096-11-26T08:00:00Z"]
)
def test_a_later_start_is_an_instant(gateway: ScriptedGateway, start: datetime | str) -> None:
    Reservation.make(hours=1, start=start).close()
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert asked.body["start_time"] == "2096-11-26T08:00:00+00:00"
