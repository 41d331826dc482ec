"""`wavepool keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services.billing.keys.ssh_signature import check_signature
from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway

KEYS = "/api/v1/keys"
FINGERPRINT = "SHA256:ab/cd+ef"
KEY = {"id": "key_1", "name": "laptop", "type": "ssh-ed25519", "fingerprint": FINGERPRINT, "create_time": None}
LIST = {"keys": [KEY], "github_name": "alice"}
CLAIMS = f"{KEYS}/claims"


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    monkeypatch.setenv("WAVEPOOL_TOKEN", "t")
    gateway.on("GET", KEYS, Answer(LIST))


def test_keys_are_listed(gateway: ScriptedGateway) -> None:
    run = wavepool("keys")
    assert run.err == "and all keys of alice on GitHub\n"
    assert run.out.splitlines()[1].split() == ["laptop", "ssh-ed25519", FINGERPRINT, "key_1", "-"]
    assert wavepool("keys", "list", "--user", "bob", "--json").json == LIST
    assert gateway.asked("GET", KEYS)[-1].path == f"{KEYS}?user=bob"
    gateway.only("GET", KEYS, Answer({"keys": [], "github_name": ""}))
    assert "wavepool keys add FILE" in wavepool("keys").err


def test_all_keys_of_a_file_or_of_the_standard_input_are_added(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.on("POST", KEYS, Answer(KEY, 201))
    first, second = new_key("a"), new_key("b")
    (tmp_path / "two.pub").write_text(f"# mine\n{first.line}\n{second.line}\n")
    run = wavepool("keys", "add", "two.pub", "--json")
    assert (run.status, run.json) == (0, [KEY, KEY])
    assert wavepool("keys", "add", "-", "--name", "ci", "--user", "bob", stdin=first.line).status == 0
    asked = gateway.asked("POST", KEYS)
    assert [one.body for one in asked] == [
        {"public_key": first.line},
        {"public_key": second.line},
        {"public_key": first.line, "name": "ci"},
    ]
    assert asked[-1].path == f"{KEYS}?user=bob"


def test_a_private_key_is_never_sent(gateway: ScriptedGateway, tmp_path: Path) -> None:
    (tmp_path / "id").write_text(new_key().private)
    run = wavepool("keys", "add", "id")
    assert (run.status, "is a private key, which never leaves this machine" in run.err) == (2, True)
    piped = wavepool("keys", "add", "-", stdin=new_key().private)
    assert (piped.status, "is a private key" in piped.err) == (2, True)
    assert gateway.asked("POST", KEYS) == []


def test_one_name_is_not_given_to_several_keys(tmp_path: Path) -> None:
    (tmp_path / "two.pub").write_text(f"{new_key().line}\n{new_key().line}\n")
    run = wavepool("keys", "add", "two.pub", "--name", "x")
    assert (run.status, "--name: two.pub has 2 keys" in run.err) == (2, True)


def test_keys_are_removed_by_id_fingerprint_or_name(gateway: ScriptedGateway) -> None:
    gateway.on("DELETE", f"{KEYS}/key_1", Answer({}, 200))
    for word in ("key_1", FINGERPRINT, "laptop"):
        assert wavepool("keys", "remove", word).status == 0
    assert len(gateway.asked("DELETE", f"{KEYS}/key_1")) == 3
    missing = wavepool("keys", "remove", "laptop", "other")
    assert (missing.status, "there is no key 'other'" in missing.err) == (2, True)
    assert len(gateway.asked("DELETE", f"{KEYS}/key_1")) == 3, "nothing is removed if one is not found"
    gateway.only("GET", KEYS, Answer({"keys": [KEY, {**KEY, "id": "key_2"}]}))
    assert "the name of 2 keys" in wavepool("keys", "remove", "laptop").err


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key that is not on GitHub."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    new_key().keep(tmp_path / "home" / ".ssh" / "id_ed25519")
    return tmp_path / "home"


@pytest.mark.parametrize("named", [False, True])
async def test_a_claim_is_signed_with_the_key_that_is_on_github(
    gateway: ScriptedGateway, tmp_path: Path, home: Path, *, named: bool
) -> None:
    pair = new_key().keep(tmp_path / "work" if named else home / ".ssh" / "id_z")
    gateway.on("POST", CLAIMS, Answer({"challenge": "sign this", "fingerprints": [pair.fingerprint]}, 201))
    gateway.on("PUT", CLAIMS, Answer({"github_name": "alice"}))
    run = wavepool("keys", "claim", "Alice", *(("--key", "work") if named else ()))
    assert (run.status, "alice on GitHub is you" in run.err) == (0, True)
    body = gateway.asked("PUT", CLAIMS)[0].body
    assert (body["github_name"], body["challenge"]) == ("Alice", "sign this")
    await check_signature("sign this", body["signature"], [pair.plain])


@pytest.mark.usefixtures("home")
def test_the_name_to_claim_may_come_from_the_configuration(gateway: ScriptedGateway) -> None:
    unnamed = wavepool("keys", "claim")
    assert (unnamed.status, "your GitHub name is missing" in unnamed.err) == (2, True)
    gateway.on("POST", CLAIMS, Answer({"challenge": "sign this", "fingerprints": [FINGERPRINT]}, 201))
    wavepool("config", "set", "github_user", "alice")
    wavepool("keys", "claim")
    assert [asked.body for asked in gateway.asked("POST", CLAIMS)] == [{"github_name": "alice"}]


@pytest.mark.usefixtures("home")
def test_without_a_key_of_github_nothing_is_signed(gateway: ScriptedGateway) -> None:
    gateway.on("POST", CLAIMS, Answer({"challenge": "sign this", "fingerprints": [FINGERPRINT]}, 201))
    run = wavepool("keys", "claim", "alice")
    assert (run.status, f"is on GitHub ({FINGERPRINT}); give --key" in run.err) == (2, True)
    missing = wavepool("keys", "claim", "alice", "--key", "nothing")
    assert (missing.status, "cannot sign with nothing: " in missing.err) == (2, True)
    assert gateway.asked("PUT", CLAIMS) == []
