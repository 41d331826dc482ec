"""The price list: which GPU types can be asked for, and the price of each at any instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.billing.errors import InvalidFieldError, NoPriceError
from services.billing.prices.price_period import PricePeriod
from vocabulary.names import known_name, none_of


@dataclass(frozen=True)
class PriceList:
    """The GPU types that can be asked for, the default one first, and the periods of all prices."""

    gpu_types: Sequence[str]
    periods: Sequence[PricePeriod]

    def gpu_type(self, name: str) -> str:
        """A GPU type in its one spelling, the default one if `name` is empty; raises InvalidFieldError if unknown."""
        if not name.strip():
            return self.gpu_types[0]
        known = known_name(name, self.gpu_types)
        if not known:
            raise InvalidFieldError("gpu_type", none_of(name, self.gpu_types))
        return known

    def price_at(self, instant: datetime, gpu_type: str, *, spot: bool = False) -> PricePeriod:
        """The price of a GPU type at an instant; on spot machines it is the ordinary one if there is no other.

        Raises NoPriceError before the first price was set.
        """
        found = self.spot_price_at(instant, gpu_type) if spot else None
        found = found or self._found(instant, gpu_type, spot=False)
        if found is None:
            raise NoPriceError(gpu_type, instant)
        return found

    def spot_price_at(self, instant: datetime, gpu_type: str) -> PricePeriod | None:
        """The price of a GPU type on spot machines; None if it has none of its own."""
        return self._found(instant, gpu_type, spot=True)

    def _found(self, instant: datetime, gpu_type: str, *, spot: bool) -> PricePeriod | None:
        return next(
            (
                period
                for period in self.periods
                if period.gpu_type == gpu_type and period.spot == spot and period.contains(instant)
            ),
            None,
        )
