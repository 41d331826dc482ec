from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest

from wavepool_client.errors import InputError
from wavepool_client.http.connection import resolve, verification_for

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("administrator\n")
    return tmp_path


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8080", "http://localhost:9000/", "http://[::1]:8080"])
def test_the_token_file_is_for_this_machine(endpoint: str, data_dir: Path) -> None:
    connection = resolve(endpoint, data_dir=data_dir)
    assert (connection.token, connection.is_loopback) == ("administrator", True)
    assert not connection.endpoint.endswith("/")


@pytest.mark.parametrize("endpoint", ["https://pool.example", "http://10.0.0.7:8080", "http://127.0.0.1.example"])
def test_no_other_machine_gets_to_see_the_token_file(endpoint: str, data_dir: Path) -> None:
    connection = resolve(endpoint, data_dir=data_dir)
    assert (connection.token, connection.is_loopback) == ("", False)
    assert resolve(endpoint, "mine", data_dir).token == "mine"  # noqa: S105 - not a secret


@pytest.mark.parametrize("endpoint", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://"])
def test_what_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(InputError, match="is not a URL"):
        resolve(endpoint)


def test_without_anything_the_usual_endpoint_is_taken() -> None:
    assert resolve().endpoint == "http://127.0.0.1:8080"


def test_the_data_folder_may_be_named_in_the_environment(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_DATA_DIR", str(data_dir))
    (data_dir / "endpoint").write_text("http://127.0.0.1:9000\n")
    assert (resolve().endpoint, resolve().token) == ("http://127.0.0.1:9000", "administrator")


def test_nobody_at_the_usual_endpoint_gets_the_token_of_a_wavepool_that_does_not_run(data_dir: Path) -> None:
    assert resolve(data_dir=data_dir).token == ""


@pytest.mark.parametrize("elsewhere", ["https://pool.example", "http://10.0.0.7:8080"])
def test_a_data_folder_sends_nobody_to_another_machine(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.setenv("WAVEPOOL_DATA_DIR", str(data_dir))
    monkeypatch.setenv("WAVEPOOL_TOKEN", "mine")
    (data_dir / "endpoint").write_text(f"{elsewhere}\n")
    with pytest.raises(InputError, match=r"names another machine.*set WAVEPOOL_ENDPOINT"):
        resolve()
    assert resolve(elsewhere).token == "mine"  # noqa: S105 - not a secret


def test_https_is_checked_with_the_usual_certificates() -> None:
    assert verification_for("https://pool.example") is True


def test_plain_http_reads_no_certificates_and_would_trust_none() -> None:
    verification = verification_for("http://127.0.0.1:8080")
    assert isinstance(verification, ssl.SSLContext)
    assert (verification.verify_mode, verification.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert verification.get_ca_certs() == []
