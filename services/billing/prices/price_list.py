"""The list of prices for GPU time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PriceList:
    """Micro-dollars per hour of one whole GPU, for each GPU type that can be asked for, the default type first."""

    micros_per_hour: Mapping[str, int]
