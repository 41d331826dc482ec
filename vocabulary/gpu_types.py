"""GPU types: which may be asked for is one setting, VMPOOL_GPU_TYPES, of which this is the default.

vmpool makes machines of these types, and billing's price list has them with their prices: the scheduler, the gateway,
the page and the command ask there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vocabulary.names import known_name, none_of

if TYPE_CHECKING:
    from collections.abc import Sequence

GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")


def default_first(gpu_types: Sequence[str], default: str) -> tuple[str, ...]:
    """The types with the default one first, each once; an empty `default` is the first. Raises ValueError."""
    first = known_name(default, gpu_types) if default.strip() else gpu_types[0]
    if not first:
        raise ValueError(none_of(default, gpu_types))
    return tuple(dict.fromkeys((first, *gpu_types)))
