"""Public SSH keys that a user keeps here, for reservations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.billing.errors import InvalidFieldError
from vocabulary.ssh_keys import Key, KeyFault, key_line

MOST_KEYS = 32
"""Of one user. A session takes 256 of all its users."""
_MAX_NAME_CHARACTERS = 64


@dataclass(frozen=True)
class SshKey:
    """A public key of one user; `line` is its type and its bytes, without the comment."""

    key_id: str
    user_id: str
    name: str
    line: str
    create_time: datetime

    @property
    def type(self) -> str:
        """The type, such as `ssh-ed25519`."""
        return self.line.split()[0]

    @property
    def fingerprint(self) -> str:
        """As OpenSSH shows it, such as `SHA256:…`."""
        return fingerprint_of(self.line)


def fingerprint_of(line: str) -> str:
    """The fingerprint of a key's type and bytes."""
    return Key("", line).fingerprint


def check_key(text: str) -> str:
    """Type and bytes of the public key in `text`; raises InvalidFieldError, which has no part of a private key."""
    try:
        return key_line(text)
    except KeyFault as fault:
        raise InvalidFieldError("public_key", str(fault)) from None


def check_name(name: str, text: str) -> str:
    """The name of a key, or the comment of its line `text`; raises InvalidFieldError if it is too long."""
    comment = " ".join(text.split()[2:])
    chosen = name or "".join(letter for letter in comment if letter.isprintable())[:_MAX_NAME_CHARACTERS]
    if len(chosen) > _MAX_NAME_CHARACTERS or not chosen.isprintable():
        raise InvalidFieldError("name", f"must have at most {_MAX_NAME_CHARACTERS} printable characters")
    return chosen
