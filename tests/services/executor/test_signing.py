from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest

from services.executor.machine.signing import Signer, SigningKeyError, signed_bytes
from wavepool_client.verification import NotVerifiedError, parse, verify


def test_a_machine_keeps_its_key_where_nobody_else_reads_it(tmp_path: Path) -> None:
    first, second = Signer.kept_in(tmp_path / "key"), Signer.kept_in(tmp_path / "key")

    assert first.public_key == second.public_key
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert Signer.kept_in(tmp_path / "other").public_key != first.public_key


def test_a_file_that_is_no_key_is_named_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")

    with pytest.raises(SigningKeyError, match=r"key holds no Ed25519 key .*remove it"):
        Signer.kept_in(tmp_path / "key")


def test_a_folder_that_takes_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SigningKeyError, match="cannot be read or made"):
        Signer.kept_in(tmp_path / "file" / "key")


def test_what_is_signed_is_what_the_envelope_standard_says() -> None:
    # The example of DSSE's protocol document.
    assert signed_bytes("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_the_command_believes_what_a_machine_signs_and_nothing_that_was_changed(tmp_path: Path) -> None:
    signer = Signer.kept_in(tmp_path / "key")
    envelope = signer.envelope(b'{"report":{"verdict":"ACCEPTED"},"run_id":"r"}')

    key, statement = verify(parse(envelope), [signer.public_key])
    assert (key, statement["run_id"]) == (signer.public_key, "r")

    changed = json.loads(envelope)
    changed["payload"] = base64.b64encode(b'{"report":{"verdict":"ACCEPTED"},"run_id":"s"}').decode()
    with pytest.raises(NotVerifiedError, match="was changed"):
        verify(parse(json.dumps(changed)), [signer.public_key])
