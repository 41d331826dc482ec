from __future__ import annotations

import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.ssh_keys import new_key, running_agent
from wavepool_client.errors import InputError
from wavepool_client.ssh.keys import is_usable, keys_for, lines_of, made_key, own_identities

if TYPE_CHECKING:
    from pathlib import Path


def make(file: Path, kind: str = "ssh-ed25519", **size: int) -> str:
    """Makes a key pair; gives the public line."""
    return new_key(file.name, kind, **size).keep(file).line


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return folder


def test_a_file_that_is_named_is_the_only_one_and_brings_its_private_key(home: Path, tmp_path: Path) -> None:
    make(home / ".ssh" / "id_ed25519")
    line = make(tmp_path / "other")
    keys = keys_for([tmp_path / "other.pub"])
    assert (keys.lines, keys.identity) == ((line,), tmp_path / "other")


def test_keys_are_those_that_ssh_would_use(home: Path) -> None:
    first, second = make(home / ".ssh" / "id_ecdsa", "ecdsa-sha2-nistp256"), make(home / ".ssh" / "id_ed25519")
    make(home / ".ssh" / "id_old", "ssh-rsa", key_size=1024)
    (home / ".ssh" / "id_ed25519-cert.pub").write_text("ssh-ed25519-cert-v01@openssh.com AAAA ada\n")
    keys = keys_for(())
    assert (keys.lines, keys.identity) == ((first, second), None)
    assert own_identities()[:2] == [home / ".ssh" / "id_ecdsa", home / ".ssh" / "id_ed25519"]


def test_keys_of_the_agent_are_added_once(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = new_key("own").keep(home / ".ssh" / "id_ed25519"), new_key("an other")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    assert keys_for(()).lines == (own.line,), "there is no agent"
    with running_agent(tmp_path / "agent", own, other):
        assert keys_for(()).lines == (own.line, other.line)


@pytest.mark.ssh
def test_keys_of_opensshs_agent_are_those_that_ssh_add_lists(opensshs_agent: Path, tmp_path: Path) -> None:
    kinds = {"ed": {}, "rsa": {"kind": "ssh-rsa", "key_size": 2048}, "ec": {"kind": "ecdsa-sha2-nistp521"}}
    assert keys_for(()).identity == made_key(), "the agent has none"
    for name, kind in kinds.items():
        new_key(f"{name} of ada", **kind).keep(tmp_path / name)
        subprocess.run(["ssh-add", "-q", tmp_path / name], check=True, capture_output=True)
    listed = subprocess.run(["ssh-add", "-L"], check=True, capture_output=True, text=True).stdout
    assert keys_for(()).lines == tuple(listed.splitlines())


def test_whoever_has_no_key_gets_a_pair_that_only_they_can_read_and_keeps_it() -> None:
    made = keys_for(())
    assert made.identity is not None
    assert stat.S_IMODE(made.identity.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.identity.parent.stat().st_mode) == 0o700
    assert made.lines == (made.identity.with_suffix(".pub").read_text().strip(),)
    assert keys_for(()) == made
    assert own_identities() == [made.identity]


def test_a_pair_that_cannot_be_made_is_an_error_that_names_the_folder(home: Path) -> None:
    made_key().parent.parent.mkdir(parents=True)
    made_key().parent.write_text("no folder")
    with pytest.raises(InputError, match=r"no key in ~/.ssh, and none can be made in .*ssh: "):
        keys_for(())
    assert home.is_dir()


def test_a_key_that_somebody_else_makes_meanwhile_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    private = made_key()
    pair = new_key().keep(private)
    monkeypatch.setattr(type(private), "exists", lambda _: False)
    with pytest.raises(InputError, match="File exists"):
        made_key(make=True)
    assert (private.read_text(), private.with_suffix(".pub").read_text()) == (pair.private, f"{pair.line}\n")


@pytest.mark.ssh
def test_opensshs_programs_take_the_pair_that_is_made() -> None:
    made = keys_for(())
    words = ["ssh-keygen", "-y", "-P", "", "-f", str(made.identity)]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip() == made.lines[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n", r"never leaves .*; give .*k\.pub"),
        ("# none\n", "no public key"),
        ("root:x:0\nssh-rsa AAAA\n", r"k has lines that are not public keys: 'root:x:0'; a key looks like `ssh-"),
        ("a b\nc\nd\ne\nf\n", r"not public keys: 'a', 'c', 'd' and 2 more; a key looks like `ssh-"),
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
    assert is_usable(make(tmp_path / "rsa", "ssh-rsa", key_size=2048))
    assert is_usable("sk-ssh-ed25519@openssh.com AAAA ada")
