"""Which values an input may take, beyond those that its problem happens to draw."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """Any value from `low` to `high`, both included, is legal at any place of an input of floats that is not 0 there.

    With `spikes` the judge may plant such values (zeros stay, so that what is triangular or sparse remains so). With
    `scales` it may multiply the whole input by a power of two as well, alone among the inputs.
    """

    low: float = -math.inf
    high: float = math.inf
    spikes: bool = True
    scales: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"domain: {self.low}..{self.high} is empty; give `low` below `high`")
        if self.scales and (math.isfinite(self.low) or math.isfinite(self.high)):
            raise ValueError("domain: an input with bounds cannot take every scale; leave out `scales` or the bounds")


ANY = Domain()
"""Values as large as those that are drawn may lie anywhere."""
ANY_SCALE = Domain(scales=True)
"""The same, at scales from 1e-3 to 1e3."""
AS_A_WHOLE = Domain(spikes=False, scales=True)
"""Elements hang together, but all of them may be larger or smaller."""
