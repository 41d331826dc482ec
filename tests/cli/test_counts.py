from __future__ import annotations

import pytest

from wavepool_client.text.counts import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1.0, "1 file"), (1.5, "1.5 files")]
)
def test_only_one_thing_is_in_the_singular(number: float, said: str) -> None:
    assert counted(number, "file") == said


def test_words_that_get_no_s_are_given() -> None:
    assert counted(1, "process was", "processes were") == "1 process was"
    assert counted(2, "process was", "processes were") == "2 processes were"
