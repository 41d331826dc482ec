"""People's public keys, as sshd gets them; pure.

A key is one line without options: what a key may do is our decision, and not that of the line's writer.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

TYPES = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
"""The types of public keys that OpenSSH takes."""
LEAST_RSA_BITS = 2048
MOST_KEYS = 256
_MOST_CHARACTERS = 16_384
_USER = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_MAKE_ONE = "make another with `ssh-keygen -t ed25519`"


@dataclass(frozen=True)
class Key:
    """A person's public key; `line` is its type and its bytes, without the comment."""

    user: str
    line: str

    @property
    def fingerprint(self) -> str:
        """The key's fingerprint as OpenSSH shows it, such as `SHA256:…`."""
        digest = hashlib.sha256(base64.b64decode(self.line.split()[1])).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


class KeyFault(ValueError):  # noqa: N818  it is collected, and raised as InvalidFieldError
    """What is wrong with a key, and the fix; without any part of a private key."""


def keys_of(pairs: Sequence[tuple[str, str]], field: str) -> tuple[tuple[Key, ...], list[tuple[str, str]]]:
    """Return the keys of (user, public key) pairs, and the violations with the names of their fields below `field`."""
    if not pairs:
        return (), [(field, "is empty; give at least one public key")]
    if len(pairs) > MOST_KEYS:
        return (), [(field, f"has {len(pairs)} keys; a session takes at most {MOST_KEYS}")]
    keys: list[Key] = []
    violations: list[tuple[str, str]] = []
    for number, (user, text) in enumerate(pairs):
        if not _USER.fullmatch(user):
            rule = "must have 1 to 64 letters, digits, or any of . _ @ -"
            violations.append((f"{field}[{number}].user", f"is {user[:80]!r}; it {rule}"))
        try:
            keys.append(Key(user, key_line(text)))
        except KeyFault as fault:
            violations.append((f"{field}[{number}].public_key", str(fault)))
    return tuple(dict.fromkeys(keys)), violations or _shared(keys, field)


def key_line(text: str) -> str:
    """Return type and bytes of the public key in `text`; raises KeyFault."""
    if "PRIVATE KEY" in text:
        raise KeyFault("is a private key, which you should replace now; send the line of the file that ends in .pub")
    line = text.strip()
    if not line or "\n" in line or "\r" in line or len(line) > _MOST_CHARACTERS:
        raise KeyFault(f"must be one line of at most {_MOST_CHARACTERS} characters, as in a file that ends in .pub")
    words = line.split()
    if words[0] in {"ssh-dss", "ssh-dsa"}:
        raise KeyFault(f"is a DSA key, which OpenSSH takes no more; {_MAKE_ONE}")
    if "-cert-v01@" in words[0]:
        raise KeyFault(f"is a certificate ({words[0]}); send the public key that it certifies")
    if words[0] not in TYPES:
        if any(word in line for word in TYPES):
            raise KeyFault(f"has options, which are not taken; begin the line with the type, {_type_in(line)}")
        raise KeyFault(f"begins with {words[0][:40]!r}; it must begin with one of {', '.join(TYPES)}")
    _check_bytes(words)
    return " ".join(words[:2])


def authorized_keys(keys: Iterable[Key]) -> str:
    """Return the file of keys for sshd, each with its user's name as the comment."""
    return "".join(f"{key.line} {key.user}\n" for key in keys)


def _check_bytes(words: Sequence[str]) -> None:
    damaged = f"is no whole {words[0]} key; copy the line of the file that ends in .pub again"
    try:
        base64.b64decode(words[1], validate=True)
        loaded = load_ssh_public_key(" ".join(words[:2]).encode())
    except (IndexError, ValueError, UnsupportedAlgorithm) as error:
        raise KeyFault(damaged) from error
    if isinstance(loaded, RSAPublicKey) and loaded.key_size < LEAST_RSA_BITS:
        raise KeyFault(f"has {loaded.key_size} bits; an RSA key needs at least {LEAST_RSA_BITS}: {_MAKE_ONE}")


def _type_in(line: str) -> str:
    return next(word for word in TYPES if word in line)


def _shared(keys: Sequence[Key], field: str) -> list[tuple[str, str]]:
    """A violation if two people have one key: nobody could tell who logs in."""
    owners: dict[str, str] = {}
    for number, key in enumerate(keys):
        if (owner := owners.setdefault(key.line, key.user)) != key.user:
            return [(f"{field}[{number}].public_key", f"is that of {owner}, too; give each person a key of their own")]
    return []
