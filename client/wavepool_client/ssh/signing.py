"""Signs a text with a person's own key, as `ssh-keygen -Y sign` does; no private key leaves the machine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import sys
import textwrap
from typing import TYPE_CHECKING

import typer

from wavepool_client.errors import InputError
from wavepool_client.ssh.agent import agent_keys, agent_signature, string
from wavepool_client.ssh.keys import lines_that_ssh_has, public_lines_beside

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import asyncssh

NAMESPACE = "wavepool"
_MAGIC = b"SSHSIG"
_VERSION = 1
_HASH = b"sha512"
_LINE_LENGTH = 70


def signature_of(text: str, fingerprints: Collection[str], key: Path | None) -> str:
    """The signature of a text with the key in a file, or with the first one of ssh's that has such a fingerprint.

    Raises InputError.
    """
    if key is not None:
        file = key.expanduser()
        beside = [blob_of(line) for line in public_lines_beside(file)]
        return _signed(text, beside, file.with_suffix("") if file.suffix == ".pub" else file)
    for line, private in lines_that_ssh_has():
        if fingerprint_of(line) in fingerprints:
            return _signed(text, [blob_of(line)], private)
    known = ", ".join(fingerprints) or "none"
    raise InputError(f"no key in ~/.ssh or in your ssh agent is on GitHub ({known}); give --key, or add one there")


def blob_of(line: str) -> bytes:
    """A public key's bytes; empty if the line has no key."""
    try:
        return base64.b64decode(line.split(" ")[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        return b""


def fingerprint_of(line: str) -> str:
    """A public key's fingerprint as OpenSSH shows it; empty if the line has no key."""
    blob = blob_of(line)
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=") if blob else ""


def _signed(text: str, publics: Collection[bytes], private: Path | None) -> str:
    """The signature with the first of these public keys that the agent has, else with the private key's file."""
    # What is signed, and the signature: PROTOCOL.sshsig of OpenSSH.
    namespace = string(NAMESPACE.encode()) + string(b"") + string(_HASH)
    data = _MAGIC + namespace + string(hashlib.sha512(text.encode()).digest())
    held = next((blob for blob, _ in agent_keys() if blob in publics), None)
    if held is not None:
        try:
            public, signature = held, agent_signature(held, data)
        except OSError as error:
            raise InputError(f"the agent does not sign with {private or 'its key'}: {error}") from error
    elif private is None:
        raise InputError(
            "a key in ~/.ssh is on GitHub, but its private key is neither in ~/.ssh nor in the agent; give --key"
        )
    else:
        loaded = _loaded(private)
        algorithm = loaded.algorithm if loaded.algorithm != b"ssh-rsa" else b"rsa-sha2-512"
        public, signature = loaded.public_data, loaded.sign(data, algorithm)
    blob = _MAGIC + _VERSION.to_bytes(4, "big") + string(public) + namespace + string(signature)
    lines = textwrap.wrap(base64.b64encode(blob).decode(), _LINE_LENGTH)
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def _loaded(file: Path) -> asyncssh.SSHKey:
    """The private key in a file; asks for its passphrase on the terminal. Raises InputError."""
    # Loading it takes longer than most commands.
    import asyncssh  # noqa: PLC0415

    try:
        if (mode := file.stat().st_mode) & 0o077:
            raise InputError(f"cannot sign with {file}: others may read it ({mode & 0o777:04o}); chmod 600 {file}")
        data = file.read_bytes()
        try:
            key = asyncssh.import_private_key(data)
        except asyncssh.KeyImportError as error:
            if "passphrase" not in str(error).lower():
                raise
            key = asyncssh.import_private_key(data, _passphrase(file))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot sign with {file}: {error}") from error
    if key.algorithm.startswith(b"sk-"):
        raise InputError(
            f"cannot sign with {file}: it is on a security key; `ssh-add {file}` first, so the agent signs"
        )
    return key


def _passphrase(file: Path) -> str:
    if not sys.stdin.isatty():
        raise InputError(f"cannot sign with {file}: it has a passphrase; `ssh-add {file}` first, so the agent signs")
    return str(typer.prompt(f"Passphrase of {file}", hide_input=True, err=True))
