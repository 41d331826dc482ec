"""GPU types. The setting VMPOOL_GPU_TYPES says which can be asked for; this is its default.

vmpool makes machines of these types, and billing's price list has their prices. The scheduler, the gateway, the page
and the command read that list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vocabulary.names import known_name, none_of

if TYPE_CHECKING:
    from collections.abc import Sequence

GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")


def default_first(gpu_types: Sequence[str], default: str) -> tuple[str, ...]:
    """Gives each type once, the default one first; an empty `default` means the first type. Raises ValueError."""
    first = known_name(default, gpu_types) if default.strip() else gpu_types[0]
    if not first:
        raise ValueError(none_of(default, gpu_types))
    return tuple(dict.fromkeys((first, *gpu_types)))
