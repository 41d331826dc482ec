"""Proves with OpenSSH's own program that somebody has the private half of a key."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMESPACE = "wavepool"
"""Keeps a signature that was made for something else, such as a commit, from serving here."""
MOST_CHARACTERS = 16_384
_SECONDS = 5.0
_SIGNER = "signer"


class NoSshKeygenError(Exception):
    """OpenSSH is not installed beside billing; no fault of the caller."""


async def check_signature(text: str, signature: str, lines: Sequence[str]) -> None:
    """Raises InvalidFieldError unless one of the keys (types and bytes) has signed the text in our namespace."""
    if not signature.startswith("-----BEGIN SSH SIGNATURE-----") or len(signature) > MOST_CHARACTERS:
        raise InvalidFieldError(
            "signature", "is not a signature of `ssh-keygen -Y sign`, which begins with BEGIN SSH SIGNATURE"
        )
    if not await asyncio.to_thread(_is_signed, text, signature, lines):
        rule = (
            f"`ssh-keygen -Y sign -n {NAMESPACE}` must make it from exactly this text, with one of the keys on GitHub"
        )
        raise InvalidFieldError("signature", f"is not right: {rule}. Begin again")


def _is_signed(text: str, signature: str, lines: Sequence[str]) -> bool:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise NoSshKeygenError
    with tempfile.TemporaryDirectory(prefix="wavepool-claim-") as folder:
        allowed, signed = Path(folder, "allowed"), Path(folder, "signature")
        allowed.write_text("".join(f'{_SIGNER} namespaces="{NAMESPACE}" {line}\n' for line in lines))
        signed.write_text(signature)
        words = [program, "-Y", "verify", "-f", allowed, "-I", _SIGNER, "-n", NAMESPACE, "-s", signed]
        try:
            done = subprocess.run(words, input=text.encode(), capture_output=True, check=False, timeout=_SECONDS)  # noqa: S603 - OpenSSH's own
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0
