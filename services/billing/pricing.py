"""What GPU time costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing.errors import PriceNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PriceList:
    """Micro-dollars per hour of one whole GPU, by GPU type."""

    micros_per_hour: Mapping[str, int]

    def price_of(self, gpu_type: str) -> int:
        """Micro-dollars per GPU hour; PriceNotFoundError lists the types that have a price."""
        try:
            return self.micros_per_hour[gpu_type]
        except KeyError:
            raise PriceNotFoundError(gpu_type, self.micros_per_hour) from None
