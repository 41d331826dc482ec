from __future__ import annotations

import logging

import pytest

from servicekit.logging import JsonFormatter
from services.vmpool.providers.last_words import last_words


def record(message: str, *, raised: Exception | None = None, **fields: str) -> str:
    raised_here = (type(raised), raised, None) if raised else None
    made = logging.LogRecord("executor", logging.ERROR, "", 0, message, None, raised_here)
    made.__dict__.update(fields)
    return JsonFormatter("executor").format(made)


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("", ""),
        ("first\nlooking\n\nno device here\n", "looking | no device here"),
        (f"looking\n{record('no device: /dev/kfd is missing')}\n", "looking | no device: /dev/kfd is missing"),
        (record("cannot listen", error="port 1 is held"), "cannot listen: port 1 is held"),
        (record("it broke", raised=OSError("no room")), "it broke: OSError: no room"),
        ('{"time": "cut of', '{"time": "cut of'),
        ("[1]\n{}", "[1] | {}"),
    ],
)
def test_the_last_lines_say_what_a_log_record_says(printed: str, words: str) -> None:
    assert last_words(printed.encode()) == words
