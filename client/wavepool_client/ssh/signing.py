"""Signs a text with a person's own key, by OpenSSH's program; no private key leaves the machine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from wavepool_client.errors import InputError
from wavepool_client.ssh.keys import lines_that_ssh_has

if TYPE_CHECKING:
    from collections.abc import Collection

NAMESPACE = "wavepool"


def signature_of(text: str, fingerprints: Collection[str], key: Path | None) -> str:
    """The signature of a text with the key in a file, or with the first one of ssh's that has such a fingerprint.

    Raises InputError.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError("there is no ssh-keygen; install OpenSSH")
    if key is not None:
        return _signed(program, text, key.expanduser())
    for line, private in lines_that_ssh_has():
        if fingerprint_of(line) not in fingerprints:
            continue
        if private is not None:
            return _signed(program, text, private)
        with tempfile.TemporaryDirectory(prefix="wavepool-") as folder:
            # Given a public key, ssh-keygen lets the agent sign.
            public = Path(folder, "key.pub")
            public.write_text(f"{line}\n", encoding="utf-8")
            return _signed(program, text, public)
    known = ", ".join(fingerprints) or "none"
    raise InputError(f"no key in ~/.ssh or of the agent is on GitHub ({known}); give --key, or add one there")


def fingerprint_of(line: str) -> str:
    """A public key's fingerprint as OpenSSH shows it; empty if the line has no key."""
    try:
        blob = base64.b64decode(line.split(" ")[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        return ""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _signed(program: str, text: str, key: Path) -> str:
    words = [program, "-Y", "sign", "-f", str(key), "-n", NAMESPACE]
    # A key with a passphrase asks for it on the terminal.
    done = subprocess.run(words, input=text.encode(), capture_output=True, check=False)  # noqa: S603 - OpenSSH's own
    if done.returncode:
        raise InputError(f"ssh-keygen cannot sign with {key}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()
