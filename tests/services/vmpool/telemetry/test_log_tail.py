from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.telemetry.log_tail import MOST_TAIL_LINES, LogTail, check_tail_lines


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"\n", b"d\ne", b"\n\n"])), st.integers(1, 5))
def test_a_tail_is_the_end_of_the_log_however_it_was_cut(pieces: list[bytes], lines: int) -> None:
    tail = LogTail(lines)
    for piece in pieces:
        tail.feed(piece)
    assert tail.text() == b"".join(b"".join(pieces).splitlines(keepends=True)[-lines:])


@pytest.mark.parametrize(("asked", "nearest"), [(-1, 0), (MOST_TAIL_LINES + 1, MOST_TAIL_LINES)])
def test_too_few_or_too_many_lines_are_refused_with_the_nearest_number(asked: int, nearest: int) -> None:
    with pytest.raises(InvalidFieldError, match=f"tail_lines: .*nearest is {nearest}$"):
        check_tail_lines(asked)
