"""Amounts as people write them for Docker."""

from __future__ import annotations

import pytest

from servicekit.settings.amounts import cores_of, mib_of


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        *[("16g", 16384), ("16G", 16384), ("16GB", 16384), ("16GiB", 16384), (" 16g ", 16384), ("1.5g", 1536)],
        *[
            ("512m", 512),
            ("512 MB", 512),
            ("17179869184", 16384),
            ("17179869184b", 16384),
            ("1t", 1 << 20),
            ("16t", 16 << 20),
        ],
    ],
)
def test_memory_has_docker_s_units(text: str, mib: int) -> None:
    assert mib_of(text) == mib


@pytest.mark.parametrize(
    "text", ["", "16", "g", "-16g", "sixteen", "16x", "100m", "1e3g", "nan", "16g 2m", "17t", "99999999t"]
)
def test_what_is_no_amount_of_memory_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(ValueError, match="such as 16g, 16GB or 512m, from 256m to 16t; it is"):
        mib_of(text)


@pytest.mark.parametrize(("text", "cores"), [("4", 4.0), ("4.0", 4.0), ("0.5", 0.5), (" 2 ", 2.0)])
def test_processors_may_be_parts(text: str, cores: float) -> None:
    assert cores_of(text) == cores


@pytest.mark.parametrize("text", ["", "0", "0.05", "-1", "four", "inf", "nan", "4 cores", "5000"])
def test_what_is_no_number_of_processors_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"from 0\.1 to 1024, such as 4 or 2\.5; it is"):
        cores_of(text)
