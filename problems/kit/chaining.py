"""How an input may change from call to call of a chained audit, so that each call needs the answer of the one before.

Whatever comes out must be a valid input. A problem that says nothing gets a rule for each parameter that keeps what can
be seen of it (see `services/executor/core/check/chain_rules.py`); one that knows better says so in `Problem.chain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Change(StrEnum):
    """What becomes of an array."""

    FIXED = "fixed"
    """Nothing: the same in every call of a chain."""
    MANTISSAS = "mantissas"
    """The mantissas of floats are drawn again. Sign, exponent, zeros, infinities and NaNs stay."""
    SIGNS = "signs"
    """The signs of floats are drawn again, but not those of zeros, infinities and NaNs."""
    INTEGERS = "integers"
    """Whole numbers are drawn from a range, for integers and float32."""
    SYMMETRIC = "symmetric"
    """As MANTISSAS, of a square matrix, alike on both sides of its diagonal."""
    WEIGHTS = "weights"
    """Whole numbers are drawn from a range where a square matrix of float32 is not 0, alike on both sides of it."""
    ROLL = "roll"
    """The elements move along, in memory order, and around the end, by whole blocks if there is a `block`."""


@dataclass(frozen=True)
class ChainRule:
    """A change; `low` and `high` are the range of INTEGERS and WEIGHTS, without `high` and of at most 2^32 values.

    `block` is how many elements stay together as they ROLL; the array has a whole number of blocks.
    """

    change: Change
    low: int = 0
    high: int = 0
    block: int = 1

    def __post_init__(self) -> None:
        if self.change in {Change.INTEGERS, Change.WEIGHTS} and not 0 < self.high - self.low <= 1 << 32:
            raise ValueError(f"chain: the range {self.low}..{self.high} is empty or too wide; give at most 2^32 values")
        if self.block < 1:
            raise ValueError(f"chain: a block has {self.block} elements; give at least 1")


FIXED = ChainRule(Change.FIXED)
MANTISSAS = ChainRule(Change.MANTISSAS)
SIGNS = ChainRule(Change.SIGNS)
SYMMETRIC = ChainRule(Change.SYMMETRIC)
ROLL = ChainRule(Change.ROLL)


def rolled(block: int) -> ChainRule:
    """ROLL by whole blocks of so many elements."""
    return ChainRule(Change.ROLL, block=block)


def integers(low: int, high: int) -> ChainRule:
    """Integers from `low` on, below `high`."""
    return ChainRule(Change.INTEGERS, low, high)


def weights(low: int, high: int) -> ChainRule:
    """Weights of edges from `low` on, below `high`; no edge comes or goes."""
    return ChainRule(Change.WEIGHTS, low, high)
