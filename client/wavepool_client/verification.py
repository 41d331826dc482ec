"""Checks a signed report: a known machine signed it, and the revealed seed matches its commitment.

Needs only the file and a key; docs/signed-reports.md describes the format, so that others can check it too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from wavepool_client.errors import InputError

PAYLOAD_TYPE = "application/vnd.wavepool.report.v1+json"
_KEY_HEX_DIGITS = 64


class NotVerifiedError(Exception):
    """The file is a signed report that must not be believed; the message says why."""


@dataclass(frozen=True)
class SignedReport:
    """An envelope, decoded but not yet verified."""

    payload: bytes
    signatures: Mapping[str, bytes]
    """Signatures by key id, which is the public key in hex."""


def parse(text: str) -> SignedReport:
    """Parses the envelope of a file; raises InputError if it is not one."""
    envelope = _object(text, "the file")
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise InputError(f"payloadType: is {envelope.get('payloadType')!r}; a signed report has {PAYLOAD_TYPE!r}")
    entries = envelope.get("signatures")
    if not isinstance(entries, list) or not entries:
        raise InputError("signatures: is missing or empty")
    signatures: dict[str, bytes] = {}
    for place, entry in enumerate(cast("list[Any]", entries)):
        if not isinstance(entry, dict):
            raise InputError(f"signatures[{place}]: must be an object with keyid and sig")
        fields = cast("dict[str, Any]", entry)
        signatures[str(fields.get("keyid"))] = _base64(fields.get("sig"), f"signatures[{place}].sig")
    return SignedReport(_base64(envelope.get("payload"), "payload"), signatures)


def verify(signed: SignedReport, trusted: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """Verifies the report; returns the key that signed it, and the statement. Raises NotVerifiedError."""
    known = [key for key in trusted if key in signed.signatures]
    if not known:
        raise NotVerifiedError(f"it is signed by {', '.join(signed.signatures)}, which is not a key that you trust")
    key = known[0]
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            signed.signatures[key], _signed_bytes(signed.payload)
        )
    except InvalidSignature as error:
        raise NotVerifiedError(f"the signature of {key} does not fit: the report was changed") from error
    statement = _object(signed.payload.decode(errors="replace"), "payload")
    _check_seed(report_of(statement))
    return key, statement


def report_of(statement: Mapping[str, Any]) -> dict[str, Any]:
    """The report in a statement; raises InputError."""
    report = statement.get("report")
    if not isinstance(report, dict):
        raise InputError("payload: has no report")
    return cast("dict[str, Any]", report)


def check_source(report: Mapping[str, Any], source: bytes) -> None:
    """Raises NotVerifiedError unless the report is about this source."""
    digest = hashlib.sha256(source).hexdigest()
    if report.get("source_sha256") != digest:
        raise NotVerifiedError(f"the report is about a source with SHA-256 {report.get('source_sha256')}, not {digest}")


def key_from(text: str) -> str:
    """Parses a public key that a person gave; raises InputError."""
    key = text.strip().lower()
    if len(key) != _KEY_HEX_DIGITS or not set(key) <= set("0123456789abcdef"):
        raise InputError(f"--key: {text[:80]!r} is not an Ed25519 public key; give its {_KEY_HEX_DIGITS} hex digits")
    return key


def _check_seed(report: Mapping[str, Any]) -> None:
    seed, commitment = report.get("seed"), report.get("seed_commitment")
    if seed is None and commitment is None:
        return
    try:
        digest = hashlib.sha256(bytes.fromhex(str(seed))).hexdigest()
    except ValueError as error:
        raise NotVerifiedError("the report's seed is not hex") from error
    if digest != commitment:
        raise NotVerifiedError("the revealed seed does not match the run's commitment")


def _signed_bytes(payload: bytes) -> bytes:
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{name} is not a JSON object")
    return cast("dict[str, Any]", value)


def _base64(value: object, name: str) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except binascii.Error as error:
        raise InputError(f"{name}: is not base64") from error
