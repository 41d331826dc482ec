"""Signs reports, so that a reader can see that this machine made them and nobody changed them.

A signed report is a DSSE envelope (https://github.com/secure-systems-lab/dsse, version 1.0.2): the payload's bytes are
signed, so that readers need not agree with us on how JSON is written. docs/signed-reports.md is the user's view.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.executor.machine.kept_secret import kept_secret


class SigningKeyError(Exception):
    """The machine's key cannot be read or made; the message names the file and the fix."""


PAYLOAD_TYPE = "application/vnd.wavepool.report.v1+json"


class Signer:
    """Signs with the Ed25519 key of this machine."""

    def __init__(self, private_key: Ed25519PrivateKey) -> None:
        self._private_key = private_key

    @classmethod
    def kept_in(cls, file: Path) -> Signer:
        """Load the key in `file`, which only we can read; makes it first if there is none. Raises SigningKeyError."""
        try:
            text = kept_secret(file, lambda: Ed25519PrivateKey.generate().private_bytes_raw().hex())
            return cls(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text)))
        except OSError as error:
            raise SigningKeyError(f"the signing key {file} cannot be read or made: {error.strerror}") from error
        except ValueError as error:
            raise SigningKeyError(f"{file} holds no Ed25519 key (64 hex digits); remove it to have one made") from error

    @property
    def public_key(self) -> str:
        """Public key, 32 bytes in hex; also the key id in envelopes."""
        return self._private_key.public_key().public_bytes_raw().hex()

    def envelope(self, payload: bytes) -> str:
        """Return `payload` and its signature as the JSON text of a DSSE envelope."""
        signature = self._private_key.sign(signed_bytes(PAYLOAD_TYPE, payload))
        return json.dumps(
            {
                "payloadType": PAYLOAD_TYPE,
                "payload": base64.b64encode(payload).decode(),
                "signatures": [{"keyid": self.public_key, "sig": base64.b64encode(signature).decode()}],
            }
        )


def signed_bytes(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes to sign: DSSE's pre-authentication encoding, which binds the type to the payload."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
