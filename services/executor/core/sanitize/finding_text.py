"""Findings of the sanitizers as text for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from services.executor.core.model.findings import Access, Finding

_TITLES = {
    "out-of-bounds": "access outside of the memory that it is next to",
    "null-pointer": "access through a null pointer",
    "no-device-memory": "access to memory that no device allocation holds (a host pointer, or none at all)",
    "use-after-free": "access to memory that was freed",
    "misaligned": "access at an address that is not aligned for its type",
    "uninitialised": "read of memory that was never written",
    "race": "race between threads of a block: no barrier between two accesses to the same bytes",
    "race-between-blocks": "race between blocks: nothing orders two accesses to the same bytes",
    "lockstep": "ordered only by the lockstep of a wavefront (advice)",
    "divergence": "threads wait at different places",
}
_MANGLED = re.compile(r"_ZN?K?(\d+)")


def text_of(finding: Finding, source: Sequence[str]) -> Iterator[str]:
    """The lines that describe one finding; `source` is the submission's source, by line."""
    times = f", {finding.count} times" if finding.count > 1 else ""
    case = f" [{finding.case}]" if finding.case else ""
    if finding.where is None:
        yield f"{finding.kind}: {finding.message}{case}"
        return
    line = f"line {finding.where.line}: " if finding.where.line else ""
    yield f"{line}{finding.kind}: {_TITLES.get(finding.kind, finding.kind)}{times}{case}"
    yield f"  {_action(finding, finding.where)} in kernel {kernel_name(finding.kernel)}, {_thread(finding.where)}"
    yield from _quoted(finding.where, source)
    if memory := _memory(finding):
        yield f"  {memory}"
    if finding.other is not None:
        yield f"  the other: {finding.other.access}, {_thread(finding.other)}, line {finding.other.line}"
        yield from _quoted(finding.other, source)


def kernel_name(symbol: str) -> str:
    """The plain name of a kernel from its C++ symbol, if that is easy to read off; else the symbol."""
    match = _MANGLED.match(symbol)
    if not match:
        return symbol
    start, length = match.end(), int(match[1])
    return symbol[start : start + length] or symbol


def _action(finding: Finding, where: Access) -> str:
    return f"{where.access} of {finding.bytes} bytes" if finding.bytes else where.access


def _thread(where: Access) -> str:
    return f"block {where.block}, thread {where.thread}"


def _quoted(where: Access, source: Sequence[str]) -> Iterator[str]:
    if 0 < where.line <= len(source):
        yield f"    {where.line} | {source[where.line - 1].strip()}"


def _memory(finding: Finding) -> str:
    if not finding.memory:
        return ""
    behind = finding.offset - finding.memory_bytes
    if finding.offset < 0:
        place = f"{-finding.offset} bytes before"
    elif behind >= 0:
        place = f"{behind} bytes behind the end of"
    else:
        place = f"at byte {finding.offset} of"
    return f"{place} `{finding.memory}` ({finding.memory_kind}, {finding.memory_bytes} bytes)"
