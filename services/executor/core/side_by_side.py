"""Work of the judge that several threads do at once, while nothing runs on the device.

Drawing inputs and comparing answers is numpy's and our library's work, which holds no lock of the interpreter's.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Found = TypeVar("Found")

MOST_BYTES = 4 << 30
"""Of the arrays of cases that are worked on at once; references in fp64 take some times as much memory."""


def at_once(size_bytes: int) -> int:
    """How many pieces of work to do at once that have so many bytes of arrays each."""
    return max(1, min(len(os.sched_getaffinity(0)), MOST_BYTES // max(1, size_bytes)))


async def side_by_side(work: Sequence[Callable[[], Found]]) -> list[Found]:
    """What each of them gives, in order; raises what the first raises that does, once all have ended."""
    if len(work) <= 1:
        return [piece() for piece in work]
    found = await asyncio.gather(*map(asyncio.to_thread, work), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


def groups(things: Sequence[Found], size: int) -> Iterator[Sequence[Found]]:
    """Runs of so many, in order; the last may have fewer."""
    return (things[first : first + size] for first in range(0, len(things), size))
