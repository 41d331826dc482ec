from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from wavepool_client.errors import InputError
from wavepool_client.ssh.keys import is_usable, keys_for, lines_of, own_identities

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def make(file: Path, *kind: str) -> str:
    """Makes a key pair; gives the public line."""
    words = ["ssh-keygen", "-q", "-N", "", "-C", file.name, *(kind or ("-t", "ed25519")), "-f", file]
    subprocess.run(words, check=True)
    return file.with_suffix(".pub").read_text().strip()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return folder


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started = subprocess.run(["ssh-agent", "-c"], check=True, capture_output=True, text=True).stdout
    values = {line.split()[1]: line.split()[2].rstrip(";") for line in started.splitlines() if "setenv" in line}
    monkeypatch.setenv("SSH_AUTH_SOCK", values["SSH_AUTH_SOCK"])
    yield
    os.kill(int(values["SSH_AGENT_PID"]), 15)


def test_a_file_that_is_named_is_the_only_one_and_brings_its_private_key(home: Path, tmp_path: Path) -> None:
    make(home / ".ssh" / "id_ed25519")
    line = make(tmp_path / "other")
    keys = keys_for([tmp_path / "other.pub"])
    assert (keys.lines, keys.identity) == ((line,), tmp_path / "other")


def test_keys_are_those_that_ssh_would_use(home: Path) -> None:
    first, second = make(home / ".ssh" / "id_ecdsa", "-t", "ecdsa"), make(home / ".ssh" / "id_ed25519")
    make(home / ".ssh" / "id_old", "-t", "rsa", "-b", "1024")
    (home / ".ssh" / "id_ed25519-cert.pub").write_text("ssh-ed25519-cert-v01@openssh.com AAAA ada\n")
    keys = keys_for(())
    assert (keys.lines, keys.identity) == ((first, second), None)
    assert own_identities()[:2] == [home / ".ssh" / "id_ecdsa", home / ".ssh" / "id_ed25519"]


@pytest.mark.usefixtures("agent")
def test_keys_of_the_agent_are_added_once(home: Path, tmp_path: Path) -> None:
    own, other = make(home / ".ssh" / "id_ed25519"), make(tmp_path / "other")
    for file in (home / ".ssh" / "id_ed25519", tmp_path / "other"):
        subprocess.run(["ssh-add", "-q", file], check=True, capture_output=True)
    assert keys_for(()).lines == (own, other)


def test_whoever_has_no_key_gets_a_pair_that_only_they_can_read_and_keeps_it() -> None:
    made = keys_for(())
    assert made.identity is not None
    assert stat.S_IMODE(made.identity.stat().st_mode) == 0o600
    assert keys_for(()) == made
    assert own_identities() == [made.identity]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n", r"never leaves .*; give .*k\.pub"),
        ("# none\n", "no public key"),
        ("root:x:0\nssh-rsa AAAA\n", r"k has lines that are no public keys: 'root:x:0'; each must be as `ssh-"),
        ("a b\nc\nd\ne\nf\n", r"no public keys: 'a', 'c', 'd' and 2 more; each must be as `ssh-"),
    ],
)
def test_a_file_without_a_public_key_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "k").write_text(text)
    with pytest.raises(InputError, match=words):
        lines_of(tmp_path / "k")
    with pytest.raises(InputError, match="cannot be read"):
        lines_of(tmp_path / "missing")


@pytest.mark.parametrize("line", ["ssh-dss AAAA", "ssh-rsa", "ssh-rsa AAAA", "ssh-rsa !!!! ada"])
def test_what_no_session_takes_is_left_out(line: str) -> None:
    assert not is_usable(line)


def test_a_long_rsa_key_is_usable(tmp_path: Path) -> None:
    assert is_usable(make(tmp_path / "rsa", "-t", "rsa", "-b", "2048"))
    assert is_usable("sk-ssh-ed25519@openssh.com AAAA ada")
