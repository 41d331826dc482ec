"""Work of the judge that several threads do at once, while nothing of its own run is timed.

numpy and our library draw the inputs and compare the answers, and hold no lock of the interpreter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from problems.kit.threads import threads_allowed
from services.executor.core.model.failure import Failure

Found = TypeVar("Found")

MOST_BYTES = 4 << 30
"""The most bytes of arrays that are worked on at once; references in fp64 take several times as much memory."""
MOST_THREADS = 8
"""More threads would wait for memory, which limits drawing and comparing."""
_runs = 1


def share_machine(runs: int) -> None:
    """Limits this process to its share of a machine on which `runs` such processes judge a run each."""
    global _runs  # noqa: PLW0603  a fact of the process, as its limits are
    _runs = max(1, runs)


def at_once(size_bytes: int) -> int:
    """Returns the number of pieces of work to do at once if each has `size_bytes` of arrays."""
    return share_of(size_bytes, len(os.sched_getaffinity(0)), _runs)


def share_of(size_bytes: int, cores: int, runs: int) -> int:
    """Returns the same number for one of `runs` runs on a machine with `cores` cores; pure."""
    return max(1, min(MOST_THREADS, cores // runs, MOST_BYTES // runs // max(1, size_bytes)))


async def side_by_side(work: Sequence[Callable[[], Found]]) -> list[Found]:
    """Does the work on threads and returns the results in order; raises the first error in order, once all have ended.

    If the caller is cancelled, pieces that have begun go on in their threads, and their results are lost.
    """
    # If there are fewer pieces than threads, as for large cases, threads may share a piece.
    with threads_allowed(max(1, at_once(0) // max(1, len(work)))):
        if len(work) <= 1:
            return [piece() for piece in work]
        found = await asyncio.gather(*map(asyncio.to_thread, work), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


async def raise_first(work: Sequence[Callable[[], Failure | None]]) -> None:
    """Raises the first Failure, in the order of `work`, that a piece of it finds."""
    if failure := next(filter(None, await side_by_side(work)), None):
        raise failure


def groups(things: Sequence[Found], size: int) -> Iterator[Sequence[Found]]:
    """Splits `things` into runs of `size`, in order; the last may be shorter."""
    return (things[first : first + size] for first in range(0, len(things), size))
