"""Hints about global memory and LDS that follow from the address alone.

A wavefront's vector memory instruction is served in cache lines of 128 bytes (CDNA3 white paper, "vector L1 cache").
LDS has 32 banks of 4 bytes (CDNA3 ISA guide, chapter 11); lanes of the same 32 that want different words of one bank
wait for each other. Each hint states its assumption: that blocks are at least as wide in x as the lanes that it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from services.executor.devices.gfx942.accesses import GLOBAL, LDS, Access
from services.executor.devices.gfx942.hints.hint import Hint
from services.executor.devices.gfx942.occupancy import WAVEFRONT_THREADS
from services.executor.devices.gfx942.polynomial import Polynomial

CACHE_LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4
# Twice as many lines, or two lanes on one bank, is a price that padding or another layout may be worth.
_MANY_TIMES = 4
# If each thread walks along its own part, lines are fully used as long as the parts are short.
_NEAR_BYTES = 2 * CACHE_LINE_BYTES


def memory_hints(
    accesses: Sequence[Access], row_lengths: Iterable[Polynomial], line_of: Callable[[Access], int]
) -> Iterator[Hint]:
    """Yield hints about `accesses`; `row_lengths` are the upper bounds of loops over neighbouring elements."""
    lengths = list(row_lengths)
    for access in accesses:
        stride = access.address.coefficient("x") if access.is_known else None
        if stride is None:
            continue
        if access.space == GLOBAL:
            yield from _global(access, stride, accesses, lengths, line_of(access))
        elif access.space == LDS and stride.value:
            yield from _lds(access, stride.value, line_of(access))


def _global(
    access: Access, stride: Polynomial, accesses: Sequence[Access], lengths: list[Polynomial], line: int
) -> Iterator[Hint]:
    moved = "stores" if access.is_store else "loads"
    if stride.value:
        apart = abs(stride.value)
        touched, needed = lines_touched(apart, access.size_bytes), lines_touched(access.size_bytes, access.size_bytes)
        if touched < _MANY_TIMES * needed or 2 * covered_bytes(access, apart, accesses) >= apart:
            return
        if _walks(access) and apart < _NEAR_BYTES:
            return
        far, count = f"{apart} bytes", f"{touched}"
    elif _is_row_length(stride, access, lengths):
        far, count = "one row, as long as the loop around it runs,", "up to 64"
        needed = lines_touched(access.size_bytes, access.size_bytes)
    else:
        return
    yield Hint(
        "uncoalesced",
        line,
        f"neighbouring threads (in x) {_singular(moved)} {access.size_bytes} bytes that lie {far} apart",
        f"a wavefront touches {count} cache lines of {CACHE_LINE_BYTES} bytes where its {moved} would fit into"
        f" {needed}",
        "let threadIdx.x walk along neighbouring elements, or go through a tile in __shared__ memory",
    )


def lines_touched(stride_bytes: int, size_bytes: int) -> int:
    """Return the cache lines that a wavefront's instruction touches if its first address starts a line."""
    span = (WAVEFRONT_THREADS - 1) * stride_bytes + size_bytes
    return min(WAVEFRONT_THREADS * max(1, size_bytes // CACHE_LINE_BYTES), -(-span // CACHE_LINE_BYTES))


def covered_bytes(access: Access, stride_bytes: int, accesses: Iterable[Access]) -> int:
    """Count the bytes between neighbouring threads that accesses at fixed distances from this one move."""
    base = access.address.without_offset
    covered: set[int] = set()
    for other in accesses:
        if other.space == access.space and other.is_known and other.address.without_offset == base:
            start = other.address.offset - access.address.offset
            covered.update(byte % stride_bytes for byte in range(start, start + min(other.size_bytes, stride_bytes)))
    return len(covered)


def _is_row_length(stride: Polynomial, access: Access, lengths: list[Polynomial]) -> bool:
    """Return True if threads are a row apart and each walks along its row, so that the loop is as long as a row."""
    return _walks(access) and any(
        length.scaled(access.size_bytes) == stride for length in lengths if length.value is None
    )


def _walks(access: Access) -> bool:
    """Return True if a loop goes on to the next bytes, so that the caches still hold the rest of a line."""
    return any(
        part.startswith("loop:") and 0 < abs(_constant(access.address.coefficient(part))) <= CACHE_LINE_BYTES
        for part in access.address.unknowns
    )


def _constant(polynomial: Polynomial | None) -> int:
    return (polynomial.value or 0) if polynomial is not None else 0


def _lds(access: Access, stride_bytes: int, line: int) -> Iterator[Hint]:
    ways = bank_conflict(stride_bytes, access.size_bytes)
    if ways < _MANY_TIMES:
        return
    yield Hint(
        "bank-conflict",
        line,
        f"neighbouring threads (in x) access words of LDS that lie {abs(stride_bytes)} bytes apart",
        f"{_every(BANKS // ways)} uses the same one of {BANKS} banks: of {BANKS} threads"
        f" in a row of a block, {ways} wait for each other",
        "pad the rows of the array by one element, e.g. [32][33] for [32][32]",
    )


def bank_conflict(stride_bytes: int, size_bytes: int) -> int:
    """Return how many of 32 neighbouring lanes want different words of the same bank; 1 if none wait.

    Accesses wider than a word are served in parts that depend on the instruction; for them the answer is 1.
    """
    if size_bytes > BANK_BYTES or stride_bytes == 0 or stride_bytes % BANK_BYTES:
        return 1
    return math.gcd(stride_bytes // BANK_BYTES, BANKS)


def _singular(moved: str) -> str:
    return moved.removesuffix("s")


def _every(number: int) -> str:
    return {1: "every thread", 2: "every second thread"}.get(number, f"every {number}th thread")
