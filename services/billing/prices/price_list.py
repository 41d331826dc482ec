"""The list of prices for GPU time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError
from vocabulary.names import none_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class PriceList:
    """Micro-dollars per hour of one whole GPU, for each GPU type that can be asked for, the default type first."""

    micros_per_hour: Mapping[str, int]

    def of(self, gpu_types: Iterable[str]) -> dict[str, int]:
        """The prices of some GPU types; raises InvalidFieldError for one that is not in the list."""
        for gpu_type in gpu_types:
            if gpu_type not in self.micros_per_hour:
                raise InvalidFieldError("gpu_types", none_of(gpu_type, list(self.micros_per_hour)))
        return {gpu_type: self.micros_per_hour[gpu_type] for gpu_type in gpu_types}
