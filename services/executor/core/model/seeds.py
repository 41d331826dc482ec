"""A run's randomness: one secret, from which every generator is derived by its purpose.

The secret stays with the judge during the run. Its commitment can be published with the result, and the secret later,
so that anyone can make the same inputs again.
"""

from __future__ import annotations

import hashlib
import re
import secrets

import numpy as np

_SECRET_BYTES = 32
_REVEALED = re.compile(r"[0-9a-f]{64}")
_PHILOX_KEY_BYTES = 16


class RunSeed:
    """A run's secret: OS entropy or, for replays, the secret that a report reveals, or one derived from any text."""

    def __init__(self, text: str = "") -> None:
        if not text:
            self._secret = secrets.token_bytes(_SECRET_BYTES)
        elif _REVEALED.fullmatch(text):
            self._secret = bytes.fromhex(text)
        else:
            self._secret = hashlib.sha256(f"wavepool replay {text}".encode()).digest()

    def reveal(self) -> str:
        """The secret in hex, for the report of a finished run."""
        return self._secret.hex()

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret, in hex."""
        return hashlib.sha256(self._secret).hexdigest()

    def generator(self, purpose: str, *indices: int) -> np.random.Generator:
        """The generator for one purpose, e.g. `inputs` of case 2, call 17; each has its own key."""
        label = f"{purpose}:{':'.join(map(str, indices))}".encode()
        digest = hashlib.blake2b(label, key=self._secret, digest_size=_PHILOX_KEY_BYTES).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
