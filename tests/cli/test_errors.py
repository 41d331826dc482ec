from __future__ import annotations

from wavepool_client.errors import InputError


def test_a_field_is_reported_once() -> None:
    assert str(InputError("Unprocessable: gpu_count: must be 1", {"gpu_count": "must be 1"})) == (
        "Unprocessable: gpu_count: must be 1"
    )


def test_fields_that_the_message_leaves_out_are_reported() -> None:
    assert str(InputError("Two fields are wrong.", {"code": "is empty", "mode": "is unknown"})) == (
        "Two fields are wrong.\n  code: is empty\n  mode: is unknown"
    )
