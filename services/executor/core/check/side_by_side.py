"""Work of the judge that several threads do at once, while nothing of its own run is timed.

Drawing inputs and comparing answers is numpy's and our library's work, which holds no lock of the interpreter's.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, TypeVar

from problems.kit.threads import threads_allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from services.executor.core.model.failure import Failure

Found = TypeVar("Found")

MOST_BYTES = 4 << 30
"""Of the arrays of cases that are worked on at once; references in fp64 take some times as much memory."""
MOST_THREADS = 8
"""More would wait for memory: drawing and comparing are bound by it."""
_runs = 1


def share_machine(runs: int) -> None:
    """Take no more than a share of the machine, on which so many processes like ours judge a run each."""
    global _runs  # noqa: PLW0603  a fact of the process, as its limits are
    _runs = max(1, runs)


def at_once(size_bytes: int) -> int:
    """How many pieces of work to do at once that have so many bytes of arrays each."""
    return share_of(size_bytes, len(os.sched_getaffinity(0)), _runs)


def share_of(size_bytes: int, cores: int, runs: int) -> int:
    """The same for one of so many runs on a machine with so many cores; pure."""
    return max(1, min(MOST_THREADS, cores // runs, MOST_BYTES // runs // max(1, size_bytes)))


async def side_by_side(work: Sequence[Callable[[], Found]]) -> list[Found]:
    """What each of them gives, in order; raises what the first raises that does, once all have ended.

    Where the caller is cancelled, pieces that have begun go on in their threads, and nobody learns what they found.
    """
    # Where there are fewer pieces than threads, as of large cases, threads may share a piece.
    with threads_allowed(max(1, at_once(0) // max(1, len(work)))):
        if len(work) <= 1:
            return [piece() for piece in work]
        found = await asyncio.gather(*map(asyncio.to_thread, work), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


async def raise_first(work: Sequence[Callable[[], Failure | None]]) -> None:
    """Raises the first Failure, in their order, that one of them finds."""
    if failure := next(filter(None, await side_by_side(work)), None):
        raise failure


def groups(things: Sequence[Found], size: int) -> Iterator[Sequence[Found]]:
    """Runs of so many, in order; the last may have fewer."""
    return (things[first : first + size] for first in range(0, len(things), size))
