"""Signatures with people's keys: billing takes them, and so does OpenSSH."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from services.billing.keys.ssh_signature import check_signature
from tests.ssh_keys import Pair, new_key, running_agent
from wavepool_client.errors import InputError
from wavepool_client.ssh import signing
from wavepool_client.ssh.signing import fingerprint_of, signature_of

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "wavepool: github.com/ada is ada (user_ada), Grüße\n"
PAIRS = {
    "ed25519": new_key(),
    "rsa": new_key(kind="ssh-rsa", key_size=2048),
    "ecdsa256": new_key(kind="ecdsa-sha2-nistp256"),
    "ecdsa384": new_key(kind="ecdsa-sha2-nistp384"),
    "ecdsa521": new_key(kind="ecdsa-sha2-nistp521"),
}
each_kind = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path / "home"


def opensshs_verdict(signature: str, pair: Pair, folder: Path, namespace: str = "wavepool") -> int:
    (folder / "allowed").write_text(f"ada {pair.plain}\n")
    (folder / "signature").write_text(signature)
    words = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ada", "-n", namespace, "-s", "signature"]
    return subprocess.run(words, cwd=folder, input=TEXT.encode(), capture_output=True, check=False).returncode


@each_kind
async def test_billing_takes_the_signature_of_a_file_and_of_an_agent(
    pair: Pair, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.keep(home / ".ssh" / "id_x")
    await check_signature(TEXT, signature_of(TEXT, [pair.fingerprint], None), [pair.plain])
    await check_signature(TEXT, signature_of(TEXT, [], tmp_path / "home/.ssh/id_x.pub"), [pair.plain])
    (home / ".ssh" / "id_x").unlink()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    with running_agent(tmp_path / "agent", new_key(), pair):
        await check_signature(TEXT, signature_of(TEXT, [], home / ".ssh" / "id_x"), [pair.plain])
        (home / ".ssh" / "id_x.pub").unlink()
        await check_signature(TEXT, signature_of(TEXT, [pair.fingerprint], None), [pair.plain])


@pytest.mark.ssh
@each_kind
def test_openssh_takes_the_signature_of_a_file_and_of_its_agent(
    pair: Pair, opensshs_agent: Path, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    pair.keep(file)
    signature = signature_of(TEXT, [], file)
    assert opensshs_verdict(signature, pair, tmp_path) == 0
    assert opensshs_verdict(signature, pair, tmp_path, "git") != 0
    words = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(file), "-n", "wavepool"]
    theirs = subprocess.run(words, input=TEXT.encode(), capture_output=True, check=True).stdout.decode()
    assert len(signature) == pytest.approx(len(theirs), abs=8)
    if pair in (PAIRS["ed25519"], PAIRS["rsa"]):
        assert signature == theirs, "these have no random numbers"
    assert opensshs_agent.exists()
    subprocess.run(["ssh-add", "-q", file], check=True, capture_output=True)
    file.unlink()
    assert opensshs_verdict(signature_of(TEXT, [], file), pair, tmp_path) == 0


@pytest.mark.ssh
@pytest.mark.parametrize("form", ["RFC4716", "PEM", "PKCS8"])
async def test_a_key_with_a_passphrase_is_asked_for_it_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    pair, file = new_key(kind="ssh-rsa", key_size=2048), tmp_path / "key"
    pair.keep(file)
    words = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "a secret", "-m", form, "-f", str(file)]
    subprocess.run(words, check=True, capture_output=True)
    with pytest.raises(InputError, match=r"key: it has a passphrase; `ssh-add .*key` first"):
        signature_of(TEXT, [], file)
    for given, taken in (("a secret", True), ("another", False)):
        monkeypatch.setattr(signing, "_passphrase", lambda _, given=given: given)
        if taken:
            await check_signature(TEXT, signature_of(TEXT, [], file), [pair.plain])
            continue
        with pytest.raises(InputError, match=r"cannot sign with .*key: "):
            signature_of(TEXT, [], file)


def test_what_cannot_sign_is_named(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"cannot sign with nothing: .*No such file"):
        signature_of(TEXT, [], tmp_path.relative_to(tmp_path) / "nothing")
    (tmp_path / "garbage").touch(0o600)
    (tmp_path / "garbage").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n")
    with pytest.raises(InputError, match=r"cannot sign with .*garbage: "):
        signature_of(TEXT, [], tmp_path / "garbage")
    pair = new_key().keep(home / ".ssh" / "id_x")
    (home / ".ssh" / "id_x").chmod(0o640)
    with pytest.raises(InputError, match=r"id_x: others may read it \(0640\); chmod 600"):
        signature_of(TEXT, [pair.fingerprint], None)
    (home / ".ssh" / "id_x").unlink()
    with pytest.raises(InputError, match=r"its private key is neither in ~/.ssh nor in the agent"):
        signature_of(TEXT, [pair.fingerprint], None)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    with running_agent(tmp_path / "agent", pair, signs=False), pytest.raises(InputError, match="agent refused"):
        signature_of(TEXT, [pair.fingerprint], None)


def test_a_line_without_a_key_has_no_fingerprint() -> None:
    assert [fingerprint_of(line) for line in ("", "ssh-ed25519", "ssh-ed25519 !")] == ["", "", ""]
