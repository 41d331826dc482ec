"""GPU types. The setting VMPOOL_GPU_TYPES says which can be asked for; this is its default.

vmpool makes machines of these types, and billing's price list has their prices. The scheduler, the gateway, the page
and the command read that list.
"""

from __future__ import annotations

from collections.abc import Sequence

from vocabulary.names import known_name, none_of

GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")
MEMORY_GB = {"MI355X": 288, "MI325X": 256, "MI300X": 192, "MI300A": 128, "MI250X": 128, "MI210": 64}
"""Memory of one GPU of AMD's, as AMD states it."""
COMPUTE_MODES = {"MI300X": {"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}}
"""Devices of one GPU in each mode, with an equal part of its memory and compute units; AMD, MI300X partition guide."""


def default_first(gpu_types: Sequence[str], default: str) -> tuple[str, ...]:
    """Gives each type once, the default one first; an empty `default` means the first type. Raises ValueError."""
    first = known_name(default, gpu_types) if default.strip() else gpu_types[0]
    if not first:
        raise ValueError(none_of(default, gpu_types))
    return tuple(dict.fromkeys((first, *gpu_types)))


def title_of(gpu_type: str, price: str) -> str:
    """A GPU type and its price for people, such as `AMD MI300X (192GB, $1.99/hr)`."""
    known = known_name(gpu_type, MEMORY_GB)
    return f"AMD {gpu_type} ({MEMORY_GB[known]}GB, {price})" if known else f"{gpu_type} ({price})"
