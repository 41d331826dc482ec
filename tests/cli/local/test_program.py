from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cli.local.program import RESTARTS, crashes_in_a_row, how_it_ended, restart_delay, tail


@given(st.integers(1, 200))
def test_delays_grow_up_to_a_limit(crashes: int) -> None:
    assert 0 < restart_delay(crashes) <= restart_delay(crashes + 1) <= RESTARTS.longest.total_seconds()


def test_a_program_that_ran_for_long_starts_again_as_quickly_as_at_first() -> None:
    assert crashes_in_a_row(7, ran_seconds=3600) == 1
    assert crashes_in_a_row(7, ran_seconds=1) == 8


def test_exits_are_described_in_words() -> None:
    assert [how_it_ended(code) for code in (0, 3, -9, -200)] == [
        "exit status 0",
        "exit status 3",
        "SIGKILL",
        "signal 200",
    ]


def test_the_tail_of_a_log_is_its_last_lines_whatever_its_bytes(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    assert tail(log) == ""
    log.write_bytes(b"".join(b"line %d \xff\n" % number for number in range(5000)))
    assert tail(log).splitlines()[-1] == "line 4999 \ufffd"
    assert len(tail(log).splitlines()) == 15
    assert tail(log, begin_bytes=log.stat().st_size - 10) == "ne 4999 \ufffd"
