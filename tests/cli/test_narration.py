"""Steps are written as sentences in one voice: a capital first, no full stop, no full id."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.cli.scenes import ACCEPTED
from wavepool_client.http.event_stream import Event
from wavepool_client.text.machines import cost_text
from wavepool_client.text.narration import format_time, narrate

LONG_ID = re.compile(r"[a-z]+_[0-9A-Z]{20}")


@pytest.mark.parametrize(
    ("status", "fields", "reported"),
    [
        ("IN_QUEUE", {"position": 1}, "In the queue at position 1"),
        ("IN_QUEUE", {"position": 1, "message": "In the queue at position 1"}, "In the queue at position 1"),
        ("IN_QUEUE", {}, "In the queue"),
        ("PROVISIONING", {}, "Getting a machine"),
        (
            "PROVISIONING",
            {"elapsed_seconds": 7, "estimate_seconds": None, "start_limit_seconds": 1200},
            "Getting a machine (7 s so far, no estimate yet: first start of this kind, given up after 20 min)",
        ),
        (
            "PROVISIONING",
            {"elapsed_seconds": 7, "estimate_seconds": 40, "start_limit_seconds": 1200},
            "Getting a machine (7 s so far, usually 40 s)",
        ),
        ("COMPILING", {"message": "Compiling with clang 22"}, "Compiling with clang 22"),
        ("COMPILING", {}, "Compiling"),
        ("CHECKING", {"total_tests": 3}, "Checking 3 test cases"),
        ("BENCHMARKING", {"message": "Measuring test case 1 of 4"}, "Measuring test case 1 of 4"),
        ("SOMETHING_NEW", {}, "Something new"),
        ("SOMETHING_NEW", {"message": "It is new"}, "It is new"),
    ],
)
def test_a_step_is_a_sentence(status: str, fields: dict[str, Any], reported: str) -> None:
    assert narrate(Event(1, status, fields)) == reported


def test_all_steps_of_a_submission_have_one_voice() -> None:
    for seq, fields in ACCEPTED:
        reported = narrate(Event(seq, str(fields["status"]), fields))
        assert reported[0].isupper(), reported
        assert not reported.endswith("."), reported
        assert not LONG_ID.search(reported), reported


@pytest.mark.parametrize(
    ("usd", "seconds", "reported"),
    [
        (0.000123, 2.5, "$0.000123 for 2.5 s"),
        (0.1, 1234.5, "$0.100000 for 1,234 s"),
        (0, 0, "$0.000000 for 0 s"),
        (0.5, None, "$0.500000"),
        (None, 3, ""),
    ],
)
def test_a_cost_says_which_time_it_is_for(usd: float | None, seconds: float | None, reported: str) -> None:
    assert cost_text(usd, seconds) == reported


@pytest.mark.parametrize(
    ("milliseconds", "interval", "shown"),
    [
        (0.05345, 0.79, "53 ± 42 µs"),
        (0.05345, 0.0996 / 0.05345, "50 ± 100 µs"),
        (2.5, 0.04, "2.50 ± 0.10 ms"),
        (1234.0, 0.2, "1.23 ± 0.25 s"),
        (0.0534, None, "53.4 µs"),
        (0.0534, 0, "53.4 µs"),
        (0.0, 0.1, "0 ns"),
        (None, 0.1, "-"),
    ],
)
def test_a_time_has_the_digits_that_its_interval_leaves(milliseconds: object, interval: object, shown: str) -> None:
    assert format_time(milliseconds, interval) == shown
