from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from wavepool_client.errors import InputError
from wavepool_client.verification import (
    PAYLOAD_TYPE,
    NotVerifiedError,
    check_source,
    key_from,
    parse,
    verify,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw().hex()
SEED = "07" * 32
REPORT = {"seed": SEED, "seed_commitment": hashlib.sha256(bytes.fromhex(SEED)).hexdigest(), "verdict": "ACCEPTED"}


def envelope(statement: Any, signer: str = PUBLIC) -> str:
    payload = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
    signature = KEY.sign(b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload))
    return json.dumps(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(payload).decode(),
            "signatures": [{"keyid": signer, "sig": base64.b64encode(signature).decode()}],
        }
    )


def test_a_report_of_a_known_machine_is_believed() -> None:
    key, statement = verify(parse(envelope({"report": REPORT})), ["ab" * 32, PUBLIC])

    assert key == PUBLIC
    assert statement["report"] == REPORT


def test_a_report_of_an_unknown_machine_is_not_believed_and_names_its_key() -> None:
    with pytest.raises(NotVerifiedError, match=PUBLIC):
        verify(parse(envelope({"report": REPORT})), ["ab" * 32])


def test_somebody_elses_name_on_a_signature_does_not_help() -> None:
    with pytest.raises(NotVerifiedError, match="does not fit"):
        verify(parse(envelope({"report": REPORT}, signer="ab" * 32)), ["ab" * 32])


@given(st.data())
def test_no_changed_bit_goes_unseen(data: st.DataObject) -> None:
    signed = json.loads(envelope({"report": REPORT}))
    payload = bytearray(base64.b64decode(signed["payload"]))
    payload[data.draw(st.integers(0, len(payload) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    signed["payload"] = base64.b64encode(bytes(payload)).decode()

    with pytest.raises(NotVerifiedError):
        verify(parse(json.dumps(signed)), [PUBLIC])


@pytest.mark.parametrize("seed", ["08" * 32, "not hex", 7])
def test_a_seed_that_the_run_was_not_bound_to_is_found_out(seed: object) -> None:
    with pytest.raises(NotVerifiedError, match="seed"):
        verify(parse(envelope({"report": {**REPORT, "seed": seed}})), [PUBLIC])


def test_a_report_is_about_one_source() -> None:
    report = {"source_sha256": hashlib.sha256(b"kernel").hexdigest()}
    check_source(report, b"kernel")

    with pytest.raises(NotVerifiedError, match="SHA-256"):
        check_source(report, b"another")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "payloadType"),
        (json.dumps({"payloadType": PAYLOAD_TYPE}), "signatures"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [1]}), r"signatures\[0\]"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [{"keyid": "a", "sig": "?"}]}), "base64"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "payload": 1, "signatures": [{"keyid": "a", "sig": ""}]}), "payload"),
    ],
)
def test_a_file_that_is_no_signed_report_is_refused_by_its_field(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


@pytest.mark.parametrize("payload", [b"[]", b"no JSON", {"run_id": "r"}, {"report": 1}])
def test_a_signed_thing_that_is_no_report_is_refused(payload: Any) -> None:
    with pytest.raises(InputError):
        verify(parse(envelope(payload)), [PUBLIC])


@given(st.text())
def test_any_text_is_refused_without_a_crash(text: str) -> None:
    with pytest.raises(InputError):
        parse(text)


def test_a_key_is_64_hex_digits() -> None:
    assert key_from(f" {PUBLIC.upper()}\n") == PUBLIC
    with pytest.raises(InputError, match="--key"):
        key_from("secret")
