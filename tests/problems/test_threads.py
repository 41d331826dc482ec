from __future__ import annotations

import threading

import numpy as np
import pytest

from problems.kit.threads import on_threads, threads_allowed


def test_work_is_done_by_the_caller_unless_more_threads_are_allowed() -> None:
    assert set(on_threads(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}
    both = threading.Barrier(2)
    with threads_allowed(2):
        assert len(set(on_threads(lambda _: (both.wait(10), threading.get_ident())[1], range(2)))) == 2
    assert set(on_threads(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


def test_what_the_first_piece_raises_is_raised_and_no_further_piece_is_begun() -> None:
    begun: list[int] = []

    def fail(piece: int) -> None:
        begun.append(piece)
        raise ValueError(piece)

    with threads_allowed(2), pytest.raises(ValueError, match="0"):
        on_threads(fail, range(1000))
    assert len(begun) < 1000


def test_threads_treat_overflows_as_their_caller_does() -> None:
    with threads_allowed(2), np.errstate(over="raise"), pytest.raises(FloatingPointError):
        on_threads(lambda _: np.float32(1e30) * np.float32(1e30), range(2))
