"""Spreads the work on one large case over threads: over one, unless a caller with nothing else to do allows more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

_Piece = TypeVar("_Piece")
_Found = TypeVar("_Found")
_threads = ContextVar("threads", default=1)


@contextmanager
def threads_allowed(count: int) -> Generator[None]:
    """Work within may take so many."""
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


def on_threads(work: Callable[[_Piece], _Found], pieces: Sequence[_Piece]) -> list[_Found]:
    """What `work` gives for each piece, in order; raises what the first piece raises that does.

    Pieces are numpy's and our library's work, which holds no lock of the interpreter's.
    """
    threads = min(_threads.get(), len(pieces))
    if threads <= 1:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(threads) as pool:
        found = [pool.submit(copy_context().run, work, piece) for piece in pieces]
        try:
            return [one.result() for one in found]
        finally:
            pool.shutdown(cancel_futures=True)
