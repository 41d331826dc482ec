"""Describes the MI300X compiler's report on kernels, in lines for people; tolerant of unknown fields."""

from __future__ import annotations

from typing import Any, cast

Fields = dict[str, Any]

_LIMITS = {"vgpr": "vector registers", "sgpr": "scalar registers", "lds": "LDS", "block": "the block size"}


def isa_text(fields: Fields) -> str:
    """A line for each kernel and for each hint; `fields` are those of a COMPILED or COMPILE_ERROR frame."""
    kernels = fields.get("isa")
    lines: list[str] = []
    for name, kernel in cast("Fields", kernels).items() if isinstance(kernels, dict) else ():
        if isinstance(kernel, dict):
            lines += kernel_lines(str(name), cast("Fields", kernel))
    note = str(fields.get("isa_note") or "")
    return "\n".join([*lines, f"  {note}"] if note else lines)


def kernel_lines(name: str, kernel: Fields) -> list[str]:
    """The kernel's figures, then its hints."""
    figures = [f"{kernel.get('vgpr')} VGPR", f"{kernel.get('sgpr')} SGPR"]
    for key, unit in (("agpr", "AGPR"), ("lds_bytes", "B LDS"), ("scratch_bytes", "B scratch"), ("mfma", "MFMA")):
        if kernel.get(key):
            figures.append(f"{kernel[key]} {unit}")
    if kernel.get("spills"):
        figures.append(f"{kernel['spills']} spilled")
    figures.append(_occupancy(kernel))
    hints = kernel.get("hints")
    shown = (
        [_hint(cast("Fields", hint)) for hint in cast("list[Any]", hints) if isinstance(hint, dict)]
        if isinstance(hints, list)
        else []
    )
    return [f"  MI300X {name}: {', '.join(figures)}", *shown]


def _occupancy(kernel: Fields) -> str:
    limit = _LIMITS.get(str(kernel.get("limited_by")))
    return f"{kernel.get('occupancy')} of 8 wavefronts" + (f" (limited by {limit})" if limit else "")


def _hint(hint: Fields) -> str:
    place = f"line {hint['line']}: " if hint.get("line") else ""
    return f"    {place}{hint.get('what')}\n      why: {hint.get('why')}\n      do:  {hint.get('advice')}"
