from __future__ import annotations

import pytest

from vocabulary.web_addresses import is_loopback_url, is_protected_url


@pytest.mark.parametrize(
    "url", ["https://id.example.org/x", "http://localhost:1/", "http://127.8.9.1", "http://[::1]:8/"]
)
def test_https_and_this_machine_keep_what_is_sent(url: str) -> None:
    assert is_protected_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://id.example.org", "http://127.0.0.1.example.org", "http://localhost.example.org", "ftp://localhost"),
        *("https://", "https:/x", "", "x", "https://[", "http://[", "javascript:alert(1)", "http://0.0.0.0"),
    ],
)
def test_other_addresses_do_not(url: str) -> None:
    assert not is_protected_url(url)


def test_an_address_that_cannot_be_read_is_not_this_machine() -> None:
    assert not is_loopback_url("http://[")
