"""Public keys: each kind that OpenSSH takes is taken, and everything else is refused with the fix."""

from __future__ import annotations

import base64
import struct
import subprocess
from pathlib import Path

import pytest

from tests.ssh_keys import new_key
from vocabulary.ssh_keys import MOST_KEYS, KeyFault, authorized_keys, key_line, keys_of

POINT = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)
"""The base point of nistp256, which is on the curve."""


def encoded(kind: str, *fields: bytes) -> str:
    blob = b"".join(struct.pack(">I", len(field)) + field for field in (kind.encode(), *fields))
    return f"{kind} {base64.b64encode(blob).decode()}"


def security_key() -> str:
    """As a hardware token makes it: ed25519's bytes and an application."""
    raw = base64.b64decode(new_key().plain.split()[1])[-32:]
    return encoded("sk-ssh-ed25519@openssh.com", raw, b"ssh:")


ED25519 = encoded("ssh-ed25519", bytes(range(32)))


each_kind = pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("ssh-ed25519", {}),
        ("ssh-rsa", {"key_size": 2048}),
        ("ssh-rsa", {"key_size": 4096}),
        *((f"ecdsa-sha2-nistp{bits}", {}) for bits in (256, 384, 521)),
    ],
)


@each_kind
def test_every_kind_of_key_is_taken_without_its_comment(kind: str, size: dict[str, int]) -> None:
    pair = new_key("a comment", kind, **size)

    (key,), violations = keys_of([("alice", f"{pair.line}\n")], "keys")

    assert violations == []
    assert key.line == pair.plain
    assert key.fingerprint == pair.key.get_fingerprint()


@pytest.mark.ssh
@each_kind
def test_opensshs_own_keys_are_taken_and_have_the_fingerprint_that_it_shows(
    tmp_path: Path, kind: str, size: dict[str, int]
) -> None:
    bits = ["-b", str(size["key_size"])] if size else []
    words = ["ssh-keygen", "-q", "-t", kind, *bits, "-N", "", "-C", "a comment", "-f", "key"]
    subprocess.run(words, cwd=tmp_path, check=True)

    (key,), violations = keys_of([("alice", (tmp_path / "key.pub").read_text())], "keys")

    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    assert (violations, key.fingerprint) == ([], shown.stdout.split()[1])


def test_keys_of_hardware_tokens_are_taken() -> None:
    line = security_key()
    assert key_line(f"{line} alice's token") == line
    other = encoded("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:")
    assert key_line(other) == other


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "must be one line"),
        ("hello", "must begin with one of ssh-ed25519, ssh-rsa"),
        (f"{ED25519}\n{ED25519}", "must be one line"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXkt\n", "is a private key, which you should replace now"),
        ("ssh-dss AAAAB3NzaC1kc3MAAACB", "is a DSA key"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "is a certificate"),
        (f'command="/bin/sh" {ED25519}', "has options, which are not taken"),
        (f"no-pty {ED25519}", "begin the line with the type, ssh-ed25519"),
        (ED25519[:-8], "is no whole ssh-ed25519 key"),
        ("ssh-ed25519", "is no whole ssh-ed25519 key"),
        ("ssh-ed25519 !!!!", "is no whole ssh-ed25519 key"),
        (ED25519.replace("ssh-ed25519", "ssh-rsa", 1), "is no whole ssh-rsa key"),
        (f"{ED25519} {'x' * 20_000}", "at most 16384 characters"),
    ],
)
def test_what_is_no_public_key_is_refused_with_the_fix(text: str, hint: str) -> None:
    with pytest.raises(KeyFault) as refused:
        key_line(text)

    assert hint in str(refused.value)


def test_a_short_rsa_key_is_refused_with_the_least_length() -> None:
    with pytest.raises(KeyFault, match="has 1024 bits; an RSA key needs at least 2048"):
        key_line(new_key(kind="ssh-rsa", key_size=1024).line)


def test_a_refusal_of_a_private_key_shows_nothing_of_it() -> None:
    with pytest.raises(KeyFault) as refused:
        key_line("-----BEGIN OPENSSH PRIVATE KEY-----\nsecretbytes\n-----END OPENSSH PRIVATE KEY-----")

    assert "secretbytes" not in str(refused.value)


@pytest.mark.parametrize("user", ["", "a b", 'a"', "a\nb", "x" * 65, "ä"])
def test_a_user_whose_name_could_break_the_file_of_keys_is_refused(user: str) -> None:
    assert [field for field, _ in keys_of([(user, ED25519)], "keys")[1]] == ["keys[0].user"]


def test_all_faults_are_reported_at_once() -> None:
    pairs = [("alice", "hello"), ("", ED25519), ("bob", ED25519)]
    assert [field for field, _ in keys_of(pairs, "keys")[1]] == ["keys[0].public_key", "keys[1].user"]


def test_no_key_and_too_many_keys_are_refused() -> None:
    assert keys_of([], "keys")[1] == [("keys", "is empty; give at least one public key")]
    [(field, fault)] = keys_of([("alice", ED25519)] * (MOST_KEYS + 1), "keys")[1]
    assert (field, fault) == ("keys", "has 257 keys; a session takes at most 256")


def test_two_people_have_no_key_in_common() -> None:
    [(field, fault)] = keys_of([("alice", ED25519), ("bob", ED25519)], "keys")[1]
    assert (field, fault) == ("keys[1].public_key", "is that of alice, too; give each person a key of their own")
    assert len(keys_of([("alice", ED25519), ("alice", ED25519)], "keys")[0]) == 1


def test_the_file_of_keys_names_the_user_of_each() -> None:
    keys, _ = keys_of([("alice", f"{ED25519} comment")], "keys")
    assert authorized_keys(keys) == f"{ED25519} alice\n"
