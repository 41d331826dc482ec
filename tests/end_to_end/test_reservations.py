"""GPUs by the hour on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests.end_to_end.wavepool_processes import ROOT, Wavepool, frames, start, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESERVATIONS = "/api/v1/reservations"
WITHIN_SECONDS = 10.0
"""The promise is 5 s; the rest is for a busy machine."""
OVER = {"expired", "cancelled", "failed"}


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool for these tests alone: they look for processes that are left."""
    running = start(tmp_path_factory.mktemp("wavepool"))
    yield running
    running.stop()


class Person:
    """Somebody at a shell, with a home, a key and a token of their own."""

    def __init__(self, wavepool: Wavepool, home: Path) -> None:
        self.wavepool = wavepool
        folder = home / ".ssh"
        folder.mkdir(parents=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "id_ed25519"], check=True)
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith(("WAVEPOOL_", "SSH_"))},
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "WAVEPOOL_ENDPOINT": wavepool.endpoint,
            "WAVEPOOL_DATA_DIR": str(wavepool.data_dir),
        }

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "wavepool_client.main", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, input=stdin, capture_output=True, check=False, timeout=120
        )

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


@pytest.fixture
def person(wavepool: Wavepool, tmp_path: Path) -> Person:
    return Person(wavepool, tmp_path / "home")


def ended(wavepool: Wavepool, reservation_id: str) -> dict[str, Any]:
    def over() -> dict[str, Any] | None:
        found = wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()
        return found if found["state"] in OVER else None

    return until(over, f"the end of {reservation_id}", 90)


def session_processes() -> set[int]:
    """sshd and the sandboxes of sessions, of everybody on this machine."""
    found: set[int] = set()
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["name"] == "sshd" or any("supervisor" in word for word in words):
            found.add(process.pid)
    return found


def test_a_reservation_gives_a_shell_over_ssh_is_charged_and_leaves_nothing(wavepool: Wavepool, person: Person) -> None:
    before = session_processes()
    made = person.json("reserve", "-h", "0.1", "-n", "training", "--no-connect")
    reservation_id = made["id"]
    assert (made["state"], made["name"], made["login_user"]) == ("active", "training", "dev")

    said = person.run("connect", reservation_id, "--", "echo ok; exit 7")
    assert (said.returncode, said.stdout) == (7, b"ok\n"), said.stderr.decode()

    # Bytes of all values, more than all buffers on the way, through the name and without an id.
    sent = os.urandom(1 << 20) * 4
    for words in (("training",), ()):
        back = person.run("connect", *words, "--", "cat", stdin=sent)
        assert back.stdout == sent, back.stderr.decode()

    until(lambda: wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()["last_login_at"], "a login")
    cancelled = person.json("cancel", reservation_id, "--yes")
    assert cancelled["state"] in {"active", "expiring", "cancelled"}
    over = ended(wavepool, reservation_id)
    assert over["state"] == "cancelled"
    charged = sum(-posting["amount_usd"] for posting in wavepool.charges(reservation_id))
    assert 0 < over["cost_usd"] == pytest.approx(charged)

    with wavepool.http.stream("GET", f"{RESERVATIONS}/{reservation_id}/events") as response:
        events = [frame for frame in frames(response) if frame.event != "heartbeat"]
    names = [frame.event for frame in events]
    assert names[0] == "QUEUED"
    assert {"PREPARING", "STEP", "ACTIVE", "LOGIN", "LOGOUT"} <= set(names)
    assert (names[-1], events[-1].data["final"]) == ("CANCELLED", True)
    assert [int(frame.id) for frame in events] == sorted({int(frame.id) for frame in events})

    refused = person.run("connect", reservation_id, "--", "true")
    assert (refused.returncode, b"nobody can log in" in refused.stderr) == (2, True)
    until(lambda: not session_processes() - before, "the end of all its processes")


def test_a_revoked_token_ends_its_connections(wavepool: Wavepool, person: Person) -> None:
    token = wavepool.http.post("/api/v1/tokens", json={"name": "laptop"}).json()
    reservation_id = person.json("reserve", "-h", "0.1", "--no-connect")["id"]
    command = [sys.executable, "-m", "wavepool_client.main", "connect", reservation_id, "--", "echo in; sleep 600"]
    shell = subprocess.Popen(
        command,
        cwd=ROOT,
        env=person.environment | {"WAVEPOOL_TOKEN": token["token"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert shell.stdout is not None
    assert shell.stdout.readline() == b"in\n"

    assert wavepool.http.delete(f"/api/v1/tokens/{token['id']}").is_success
    began = time.monotonic()
    _, said = shell.communicate(timeout=60)

    assert shell.returncode == 255
    assert b"wavepool: The API token does not work any more" in said
    assert time.monotonic() - began < WITHIN_SECONDS
    person.json("cancel", reservation_id, "--yes")
    ended(wavepool, reservation_id)


def test_a_colleague_is_let_in_and_out_and_the_time_is_extended(
    wavepool: Wavepool, person: Person, tmp_path: Path
) -> None:
    colleague = Person(wavepool, tmp_path / "colleague")
    key = tmp_path / "colleague" / ".ssh" / "id_ed25519.pub"
    reservation_id = person.json("reserve", "-h", "0.1", "--no-connect")["id"]
    until(lambda: wavepool.http.get(f"{RESERVATIONS}/{reservation_id}").json()["state"] == "active", "it is active")
    assert colleague.run("connect", reservation_id, "--", "true").returncode == 255

    shared = person.json("reservations", "edit", reservation_id, "--add-user", f"bob={key}")
    assert "bob" in shared["users"]
    said = colleague.run("connect", reservation_id, "--", "echo $WAVEPOOL_USER")
    assert (said.returncode, said.stdout) == (0, b"bob\n"), said.stderr.decode()

    open_shell = subprocess.Popen(
        [sys.executable, "-m", "wavepool_client.main", "connect", reservation_id, "--", "echo in; sleep 600"],
        cwd=ROOT,
        env=colleague.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert open_shell.stdout is not None
    assert open_shell.stdout.readline() == b"in\n"
    left = person.json("reservations", "edit", reservation_id, "--remove-user", "bob")
    assert "bob" not in left["users"]
    open_shell.communicate(timeout=60)
    assert open_shell.returncode == 255
    assert colleague.run("connect", reservation_id, "--", "true").returncode == 255

    extended = person.json("extend", reservation_id, "0.5")
    assert [one["hours"] for one in extended["extensions"]] == [0.5]
    person.json("cancel", reservation_id, "--yes")
    ended(wavepool, reservation_id)
