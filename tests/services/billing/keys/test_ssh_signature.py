"""Which signatures show that somebody has a key: the same that `ssh-keygen -Y verify` takes."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from typing import TYPE_CHECKING, Any

import asyncssh
import pytest
from asyncssh.packet import String, UInt32

from services.billing.errors import InvalidFieldError
from services.billing.keys.ssh_signature import check_signature
from tests.ssh_keys import Pair, new_key

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "wavepool: github.com/ada is ada\n"
ED25519 = new_key()
RSA = new_key(kind="ssh-rsa", key_size=2048)
PAIRS = {"ed25519": ED25519, "rsa": RSA} | {
    f"ecdsa{bits}": new_key(kind=f"ecdsa-sha2-nistp{bits}") for bits in (256, 384, 521)
}
each_kind = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def armoured(blob: bytes) -> str:
    lines = base64.encodebytes(blob).decode()
    return f"-----BEGIN SSH SIGNATURE-----\n{lines}-----END SSH SIGNATURE-----\n"


def signature(pair: Pair, **changed: Any) -> str:
    """A signature, with `changed` parts; those are signed as they are."""
    parts = {"version": 1, "namespace": b"wavepool", "reserved": b"", "hash_name": b"sha512", "rest": b""} | changed
    digest = hashlib.new(parts["hash_name"].decode(), TEXT.encode()).digest()
    inside = String(parts["namespace"]) + String(parts["reserved"]) + String(parts["hash_name"])
    algorithm = parts.get("algorithm") or pair.key.algorithm.replace(b"ssh-rsa", b"rsa-sha2-512")
    signed = pair.key.sign(b"SSHSIG" + inside + String(digest), algorithm)
    public = parts.get("public") or pair.key.public_data
    return armoured(b"SSHSIG" + UInt32(parts["version"]) + String(public) + inside + String(signed) + parts["rest"])


async def is_taken(text: str, signed: str, *lines: str) -> bool:
    try:
        await check_signature(text, signed, lines)
    except InvalidFieldError:
        return False
    return True


def opensshs_verdict(signed: str, line: str, folder: Path) -> bool:
    (folder / "allowed").write_text(f'ada namespaces="wavepool" {line}\n')
    (folder / "signature").write_text(signed)
    words = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ada", "-n", "wavepool", "-s", "signature"]
    return subprocess.run(words, cwd=folder, input=TEXT.encode(), capture_output=True, check=False).returncode == 0


@each_kind
@pytest.mark.parametrize("hash_name", ["sha256", "sha512"])
async def test_each_kind_of_key_signs_one_text_in_one_namespace(pair: Pair, hash_name: str) -> None:
    signed = asyncssh.create_sshsig(pair.key, TEXT.encode(), namespace="wavepool", hash_name=hash_name).decode()
    assert await is_taken(TEXT, signed, new_key().plain, pair.plain)
    assert not await is_taken(TEXT, signed, new_key().plain)
    assert not await is_taken(TEXT, signed)
    assert not await is_taken(f"{TEXT} ", signed, pair.plain)
    other = asyncssh.create_sshsig(pair.key, TEXT.encode(), namespace="git", hash_name=hash_name).decode()
    assert not await is_taken(TEXT, other, pair.plain)


@pytest.mark.ssh
@each_kind
@pytest.mark.parametrize("hash_name", ["sha256", "sha512"])
async def test_what_openssh_signs_is_taken(pair: Pair, hash_name: str, tmp_path: Path) -> None:
    pair.keep(tmp_path / "key")
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", "wavepool", "-O", f"hashalg={hash_name}", "-f", "key"]
    signed = subprocess.run(words, cwd=tmp_path, input=TEXT.encode(), capture_output=True, check=True).stdout.decode()
    assert await is_taken(TEXT, signed, pair.plain)
    assert not await is_taken(f"{TEXT} ", signed, pair.plain)


def certificate() -> tuple[bytes, str]:
    """The bytes of a certificate of the RSA key, and a line that trusts who issued it."""
    issuer = new_key()
    made: Any = issuer.key.generate_user_certificate(RSA.key, "ada", principals=["ada"])
    return made.public_data, issuer.plain


CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "a later version": {"version": 2},
    "another namespace": {"namespace": b"git"},
    "an empty namespace": {"namespace": b""},
    "SHA-1 of the text": {"hash_name": b"sha1"},
    "SHA-384 of the text": {"hash_name": b"sha384"},
    "RSA with SHA-1": {"algorithm": b"ssh-rsa"},
    "RSA with SHA-256": {"algorithm": b"rsa-sha2-256"},
    "an algorithm of another product": {"algorithm": b"ssh-rsa-sha256@ssh.com"},
    "a certificate": {"public": certificate()[0]},
    "another key": {"public": ED25519.key.public_data},
    "no key": {"public": b"\0\0\0\7ssh-rsa"},
    "bytes after it": {"rest": b"\0"},
}
TAKEN = {"as it is", "RSA with SHA-256"}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_signature_that_is_changed_in_one_part_is_refused(change: str) -> None:
    signed = signature(RSA, **CHANGES[change])
    assert await is_taken(TEXT, signed, RSA.plain, ED25519.plain) == (change in TAKEN)


@pytest.mark.ssh
@pytest.mark.parametrize("change", CHANGES)
def test_openssh_says_the_same_of_it(change: str, tmp_path: Path) -> None:
    assert opensshs_verdict(signature(RSA, **CHANGES[change]), RSA.plain, tmp_path) == (change in TAKEN)


def token_signature(raw: Any, *, flags: int) -> tuple[str, str]:
    """A signature as a hardware token makes it, and the token's public key."""
    application = b"ssh:"
    public = String("sk-ssh-ed25519@openssh.com") + String(raw.public_key().public_bytes_raw()) + String(application)
    inside = String("wavepool") + String("") + String("sha512")
    data = b"SSHSIG" + inside + String(hashlib.sha512(TEXT.encode()).digest())
    counted = bytes([flags]) + UInt32(7)
    made = raw.sign(hashlib.sha256(application).digest() + counted + hashlib.sha256(data).digest())
    signed = String("sk-ssh-ed25519@openssh.com") + String(made) + counted
    line = f"sk-ssh-ed25519@openssh.com {base64.b64encode(public).decode()}"
    return armoured(b"SSHSIG" + UInt32(1) + String(public) + inside + String(signed)), line


@pytest.mark.parametrize("openssh", [False, pytest.param(True, marks=pytest.mark.ssh)])
async def test_a_hardware_token_signs_too(tmp_path: Path, *, openssh: bool) -> None:
    key = asyncssh.import_private_key(ED25519.private).pyca_key
    signed, line = token_signature(key, flags=1)
    assert opensshs_verdict(signed, line, tmp_path) if openssh else await is_taken(TEXT, signed, line)
    assert not await is_taken(TEXT, signed.replace("A", "B"), line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\n\n-----END SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\n!!!!\n-----END SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\nü\n-----END SSH SIGNATURE-----",
        armoured(b"SSHSIG"),
        armoured(b"SSHSIG" + UInt32(1) + UInt32(2**32 - 1)),
        armoured(b"SSHSIG" + UInt32(1) + 5 * String("")),
        armoured(b"SSHSIG" + UInt32(1) + String(ED25519.key.public_data) + 4 * String("wavepool")),
    ],
)
async def test_garbage_is_refused(text: str) -> None:
    assert not await is_taken(TEXT, text, ED25519.plain)
