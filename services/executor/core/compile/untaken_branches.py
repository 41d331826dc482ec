"""Finds the places where a source asks for the MI300X, on a GPU of another maker; pure."""

from __future__ import annotations

from services.executor.core.compile.cpp_tokens import Name, words
from services.executor.devices.device import DeviceDescription

# What clang defines for the target gfx942, apart from HIP's own names, which all devices have.
_OF_THE_MI300X = frozenset(
    {
        "__AMD__",
        "__AMDGCN__",
        "__AMDGPU__",
        "__GFX9__",
        "__amdgcn_processor__",
        "__amdgcn_target_id__",
        "__gfx942__",
    }
)
# nvcc's names of its targets, such as `sm_90`.
_CUDA = "sm_"


def untaken_branches(source: str, device: DeviceDescription) -> str:
    """Says which lines ask for a macro of the MI300X that `device` does not define; empty if none does.

    `cpu` and `sim` define them as hipcc does, so there the MI300X's branches are compiled.
    """
    if not device.architecture.startswith(_CUDA):
        return ""
    lines: dict[str, list[int]] = {}
    for word in words(source):
        if isinstance(word, Name) and word.text in _OF_THE_MI300X:
            lines.setdefault(word.text, []).append(word.line)
    if not lines:
        return ""
    named = "; ".join(f"`{name}` ({_places(found)})" for name, found in lines.items())
    why = "Not defined on this device, so the MI300X may take another branch than the one that is compiled here"
    return f"{why}: {named}."


def _places(lines: list[int]) -> str:
    first, *more = dict.fromkeys(lines)
    return f"line {first}{f' and {len(more)} more' if more else ''}"
