"""References to images, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabulary.image_references import (
    ImageReference,
    WrongReferenceError,
    image_reference,
    wrong_reference,
    wrong_registry,
)

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "reference", "address"),
    [
        ("a.example/n", ImageReference("a.example", "n"), "a.example/n:latest"),
        ("A.example:5000/team/n:6.2", ImageReference("a.example:5000", "team/n", "6.2"), "a.example:5000/team/n:6.2"),
        ("localhost/n:1", ImageReference("localhost", "n", "1"), "localhost/n:1"),
        (f"r:1/n:t@{DIGEST}", ImageReference("r:1", "n", "t", DIGEST), f"r:1/n@{DIGEST}"),
        (f"r:1/n@{DIGEST}", ImageReference("r:1", "n", "latest", DIGEST), f"r:1/n@{DIGEST}"),
    ],
)
def test_a_reference_names_its_registry_its_image_and_a_tag_or_a_digest(
    text: str, reference: ImageReference, address: str
) -> None:
    assert image_reference(text) == reference
    assert reference.address == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "debian", "debian:12", "library/debian", "/n", "a.example", "a.example/", "a.example/N", "a.example/n:"),
        *("a.example/n:-x", "a.example/n@sha256:12", "a.example/n@", "user@a.example/n", "http://a.example/n"),
        *("a.example/../n", "a.example/n//m", "a.example/n m", "a.example/n\n", "-a.example/n", "a.example:x/n"),
        *("a.example/n:1@md5:00", "a.example/" + "n" * 512, "a.example/n --authfile=x", "[::1]:5000/n"),
    ],
)
def test_what_names_no_image_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(WrongReferenceError) as refused:
        image_reference(text)
    assert len(str(refused.value)) < 800
    assert wrong_reference(text) == str(refused.value)


@given(st.text(alphabet="aA0.:/@_- \n\x00sha256", max_size=40))
def test_what_is_taken_means_the_same_when_it_is_written_out(text: str) -> None:
    try:
        reference = image_reference(text)
    except WrongReferenceError:
        return
    again = image_reference(reference.address)
    assert again.address == reference.address
    assert not reference.address.startswith("-")
    assert not set(reference.address) & set(" \n\x00")


def test_a_registry_is_a_host_and_perhaps_a_port() -> None:
    assert not wrong_registry("registry.example:5000")
    for wrong in ("", "https://registry.example", "a/b", "a b", ":5000", "a:"):
        assert wrong_registry(wrong)
