"""People's keys on a whole Wavepool of real processes, with the real ssh, and what its logs have of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.test_reservations import RESERVATIONS, Person, ended
from tests.end_to_end.wavepool_processes import Wavepool, start, until
from tests.local_github import local_github

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.local_github import LocalGithub

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

LEVELS = {f"{service}_LOG_LEVEL": "DEBUG" for service in ("GATEWAY", "SCHEDULER", "VMPOOL", "EXECUTOR", "BILLING")}


@pytest.fixture(scope="module")
def github() -> Iterator[LocalGithub]:
    with local_github() as running:
        yield running


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory, github: LocalGithub) -> Iterator[Wavepool]:
    token = tmp_path_factory.mktemp("token") / "github"
    token.write_text("ghp_secret")
    settings = {
        "BILLING_GITHUB_URL": github.url,
        "BILLING_GITHUB_TOKEN_FILE": str(token),
        "BILLING_REQUIRED_TEAM": "lab/gpu",
    }
    running = start(tmp_path_factory.mktemp("wavepool"), **settings, **LEVELS)
    yield running
    running.stop()


def public_key(home: Path) -> str:
    return (home / ".ssh" / "id_ed25519.pub").read_text().strip()


def test_keys_of_all_places_open_a_reservation_and_no_log_has_them(
    wavepool: Wavepool, github: LocalGithub, tmp_path: Path
) -> None:
    alice, bob = (Person(wavepool, tmp_path / name) for name in ("alice", "bob"))
    alices, bobs = public_key(tmp_path / "alice"), public_key(tmp_path / "bob")
    [added] = alice.json("keys", "add", str(tmp_path / "alice" / ".ssh" / "id_ed25519.pub"))
    github.keys["alice"] = alices
    assert alice.json("keys", "claim", "alice") == {"github_name": "alice"}

    # Alice is not in the team, so her claimed name keeps her out until she is.
    refused = wavepool.http.post(RESERVATIONS, json={"hours": 0.1})
    assert (refused.status_code, "must be a member of lab/gpu there, and alice does not" in refused.text) == (403, True)
    me = wavepool.http.get("/api/v1/me").json()["user_id"]
    assert wavepool.http.patch(f"/api/v1/users/{me}", json={"github_name": ""}).is_success
    made = wavepool.http.post(RESERVATIONS, json={"hours": 0.1, "name": "shared"}).json()
    assert [(key["fingerprint"], key["origin"]) for key in made["added_keys"]] == [(added["fingerprint"], "wavepool")]
    one = f"{RESERVATIONS}/{made['id']}"
    until(lambda: wavepool.http.get(one).json()["state"] == "active", "the reservation", 120)
    said = alice.run("connect", "shared", "--", "echo $WAVEPOOL_USER")
    assert said.stdout == b"local\n", said.stderr.decode()

    nobody = alice.run("reservations", "edit", "shared", "--add-user", "github:bob")
    assert (nobody.returncode != 0, b"and bob does not" in nobody.stderr) == (True, True)
    github.api["/api/v3/orgs/lab/teams/gpu/memberships/carl"] = (200, {"state": "active"})
    github.keys["carl"] = bobs
    changed = alice.run("reservations", "edit", "shared", "--add-user", "github:carl")
    assert b"carl@github may log in with ssh-ed25519 SHA256:" in changed.stderr
    in_as = bob.run("connect", "shared", "--", "echo $WAVEPOOL_USER")
    assert in_as.stdout == b"carl@github\n", in_as.stderr.decode()
    alice.run("reservations", "edit", "shared", "--remove-user", "carl@github")
    assert bob.run("connect", "shared", "--", "true").returncode == 255, "ssh's own status: permission denied"
    alice.run("cancel", "shared", "--yes")
    ended(wavepool, made["id"])

    check_logs(wavepool, added["fingerprint"], (alices, bobs), tmp_path / "alice")


def check_logs(wavepool: Wavepool, fingerprint: str, public: tuple[str, ...], home: Path) -> None:
    """The logs have a fingerprint, and neither a public nor a private key, nor anything else that opens a door."""
    logs = {file: file.read_text(errors="replace") for file in wavepool.data_dir.rglob("*.log")}
    assert {"gateway.log", "scheduler.log", "billing.log", "vmpool.log"} <= {file.name for file in logs}
    assert any(fingerprint in text for text in logs.values()), "the log says which key was added"
    private = (home / ".ssh" / "id_ed25519").read_text().splitlines()[1:-1]
    for secret in (*(line.split()[1] for line in public), *private, "ghp_secret", "BEGIN SSH SIGNATURE"):
        assert [file.name for file, text in logs.items() if secret in text] == []
