"""The ISA of a submission as text for people: each group of instructions below its source line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from services.executor.devices.gfx942.assembly import Code, Instruction
from vocabulary.limits import MAX_LISTING_BYTES

CUT = f"; the rest was cut off: the listing is longer than {MAX_LISTING_BYTES >> 10} KiB\n"


def listing_of(codes: Iterable[Code], source: Sequence[str]) -> tuple[str, bool]:
    """Return the text, and True if its end was cut off; `source` holds the submission's lines."""
    rows: list[str] = []
    size = 0
    for row in _rows(codes, source):
        size += len(row.encode(errors="replace")) + 1
        if size > MAX_LISTING_BYTES - len(CUT):
            return "".join([*rows, CUT]), True
        rows.append(f"{row}\n")
    return "".join(rows), False


def _rows(codes: Iterable[Code], source: Sequence[str]) -> Iterator[str]:
    for code in codes:
        yield f"{code.name}:"
        line = 0
        for item in code.body:
            if not isinstance(item, Instruction):
                yield item
                continue
            if item.line != line and item.line:
                yield f"  ; {item.line}: {_line(source, item.line)}"
            line = item.line or line
            note = f"  ; {item.note}" if item.note else ""
            yield f"    {item.mnemonic} {item.operands}".rstrip() + note
        yield ""


def _line(source: Sequence[str], number: int) -> str:
    return source[number - 1].strip() if 0 < number <= len(source) else ""
