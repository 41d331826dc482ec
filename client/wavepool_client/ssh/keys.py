"""The keys that a person logs in with: a file's, those that ssh would use, or a pair that is made here."""

from __future__ import annotations

import base64
import binascii
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wavepool_client.errors import InputError
from wavepool_client.profiles import profiles_file
from wavepool_client.ssh.agent import agent_keys, strings

LEAST_RSA_BITS = 2048
MADE_KEY = "id_ed25519"
_EXAMPLE = "`ssh-ed25519 AAAA… ada@laptop`"
_MOST_NAMED = 3
_KEY_TYPE = re.compile(r"\b(ssh|ecdsa|sk)-")


@dataclass(frozen=True)
class Keys:
    """Public keys as lines of OpenSSH, where they come from, and the private key that ssh must be given, if any."""

    lines: tuple[str, ...]
    source: str
    identity: Path | None = None


def keys_for(files: Sequence[Path]) -> Keys:
    """The keys in `files`; without any, those that ssh would use by itself; without those, a pair that is made here.

    Raises InputError.
    """
    if files:
        lines = [line for file in files for line in lines_of(file)]
        return Keys(tuple(lines), ", ".join(map(str, files)), _private_of(files[0]) if len(files) == 1 else None)
    own = [line for file in sorted(_ssh_folder().glob("id_*.pub")) for line in _readable_lines(file)]
    lines = _distinct(line for line in [*own, *_agent_lines()] if is_usable(line))
    if lines:
        return Keys(tuple(lines), "~/.ssh and the agent")
    made = made_key(make=True)
    return Keys(tuple(lines_of(made.with_suffix(".pub"))), str(made), made)


def folder() -> Path:
    """Where the client keeps what it needs for ssh."""
    return profiles_file().parent / "ssh"


def made_key(*, make: bool = False) -> Path:
    """The private key of the pair that the client makes; with `make` it is there afterwards. Raises InputError."""
    private = folder() / MADE_KEY
    if not make or private.exists():
        return private
    # Loading it takes longer than most commands.
    import asyncssh  # noqa: PLC0415

    # asyncssh leaves the keywords of other algorithms untyped.
    pair = asyncssh.generate_private_key("ssh-ed25519", "wavepool")  # pyright: ignore[reportUnknownMemberType]
    try:
        private.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pair.export_private_key())
        private.with_suffix(".pub").write_bytes(pair.export_public_key())
    except OSError as error:
        raise InputError(f"there is no key in ~/.ssh, and none can be made in {private.parent}: {error}") from error
    return private


def lines_of(file: Path) -> list[str]:
    """The public keys in a file, or in the standard input if it is `-`.

    Raises InputError if it has none, or has a private key, or lines that are no keys.
    """
    try:
        text = sys.stdin.read() if str(file) == "-" else file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    if "PRIVATE KEY" in text:
        raise InputError(f"{file} is a private key, which never leaves this machine; give {file}.pub")
    lines = _lines(text)
    if not lines:
        raise InputError(f"{file} has no public key; it needs a line such as {_EXAMPLE}")
    # The gateway would refuse each of them with a sentence of its own, too many for one answer.
    if wrong := [line for line in lines if not _KEY_TYPE.search(line)]:
        named = ", ".join(repr(line.split()[0][:40]) for line in wrong[:_MOST_NAMED])
        more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise InputError(f"{file} has lines that are not public keys: {named}{more}; a key looks like {_EXAMPLE}")
    return lines


def lines_that_ssh_has() -> list[tuple[str, Path | None]]:
    """The public keys that ssh would use, and of the pair that was made here, with their private keys' files if any."""
    publics = [*sorted(_ssh_folder().glob("id_*.pub")), made_key().with_suffix(".pub")]
    own = [(line, file) for file in publics if file.is_file() for line in _readable_lines(file)]
    with_files = [(line, _private_of(file)) for line, file in own]
    return [*with_files, *((line, None) for line in _agent_lines())]


def public_lines_beside(file: Path) -> list[str]:
    """The lines of a key's file, and of the one beside it that ends in .pub."""
    return [*_readable_lines(file), *_readable_lines(file.with_name(f"{file.name}.pub"))]


def is_usable(line: str) -> bool:
    """False for what no session takes: certificates, DSA, short RSA. Anything else is for the server to judge."""
    kind, _, rest = line.partition(" ")
    if "-cert-" in kind or kind == "ssh-dss":
        return False
    return kind != "ssh-rsa" or _rsa_bits(rest.split(" ")[0]) >= LEAST_RSA_BITS


def own_identities() -> list[Path]:
    """The private keys beside ~/.ssh/id_*.pub, then the one that was made here; those that exist."""
    beside = [file.with_suffix("") for file in sorted(_ssh_folder().glob("id_*.pub"))]
    return [file for file in [*beside, made_key()] if file.is_file()]


def _ssh_folder() -> Path:
    return Path.home() / ".ssh"


def _private_of(public: Path) -> Path | None:
    private = public.expanduser().with_suffix("") if public.suffix == ".pub" else None
    return private.absolute() if private is not None and private.is_file() else None


def _readable_lines(file: Path) -> list[str]:
    try:
        return _lines(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return []


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _agent_lines() -> list[str]:
    found = [(strings(key)[0].decode(errors="replace"), key, comment) for key, comment in agent_keys() if key]
    return [f"{kind} {base64.b64encode(key).decode()} {comment}" for kind, key, comment in found]


def _distinct(lines: Iterable[str]) -> list[str]:
    """The lines, each key once."""
    by_key: dict[str, str] = {}
    for line in lines:
        by_key.setdefault(" ".join(line.split(" ")[:2]), line)
    return list(by_key.values())


def _rsa_bits(encoded: str) -> int:
    """The size of an RSA key, as RFC 4253 (6.6) writes it: its name, the exponent and the modulus; 0 if it is none."""
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return 0
    fields = strings(blob)
    return int.from_bytes(fields[2], "big").bit_length() if len(fields) == 3 else 0  # noqa: PLR2004 - as above
