from __future__ import annotations

import pytest

from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.http.connection import Connection
from wavepool_client.http.transport import Transport


def test_a_proxy_that_refuses_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:secret@127.0.0.1:9")
    for bypassed, said in (("", "pool.example through the proxy http://127.0.0.1:9 (of"), ("*", "pool.example: ")):
        monkeypatch.setenv("NO_PROXY", bypassed)
        transport = Transport(Connection("https://pool.example", "token"))
        with pytest.raises(UnreachableError) as refused:
            transport.call("GET", "/healthz", timeout_seconds=0.2)
        transport.close()
        assert said in str(refused.value)
        assert "secret" not in str(refused.value)


def test_a_field_is_reported_once() -> None:
    assert str(InputError("Unprocessable: gpu_count: must be 1", {"gpu_count": "must be 1"})) == (
        "Unprocessable: gpu_count: must be 1"
    )


def test_fields_that_the_message_leaves_out_are_reported() -> None:
    assert str(InputError("Two fields are wrong.", {"code": "is empty", "mode": "is unknown"})) == (
        "Two fields are wrong.\n  code: is empty\n  mode: is unknown"
    )
