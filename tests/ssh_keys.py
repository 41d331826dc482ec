"""Fresh key pairs for SSH."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from vocabulary.ssh_keys import Key


@dataclass(frozen=True)
class Pair:
    """A key pair; `line` is the public key with its comment, `plain` without."""

    line: str
    plain: str
    private: str

    @property
    def fingerprint(self) -> str:
        return Key("", self.plain).fingerprint


def new_key(comment: str = "test") -> Pair:
    """An Ed25519 pair, in the forms of OpenSSH's files."""
    private = Ed25519PrivateKey.generate()
    plain = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    secret = private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    return Pair(f"{plain} {comment}", plain, secret)
