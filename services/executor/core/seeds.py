"""Where a run's randomness comes from: one secret, from which every generator is derived by purpose.

The secret never leaves the judge. Its commitment can be published with the result, and the secret later, so that
anyone can make the same inputs again.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

_SECRET_BYTES = 32
_PHILOX_KEY_BYTES = 16


class RunSeed:
    """A run's secret: OS entropy, or derived from a number for replays."""

    def __init__(self, number: int | None = None) -> None:
        if number is None:
            self._secret = secrets.token_bytes(_SECRET_BYTES)
        else:
            self._secret = hashlib.sha256(f"wavepool replay {number}".encode()).digest()

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret, in hex."""
        return hashlib.sha256(self._secret).hexdigest()

    def generator(self, purpose: str, *indices: int) -> np.random.Generator:
        """The generator of one purpose, e.g. `inputs` of case 2, call 17; each has a key of its own."""
        label = f"{purpose}:{':'.join(map(str, indices))}".encode()
        digest = hashlib.blake2b(label, key=self._secret, digest_size=_PHILOX_KEY_BYTES).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
