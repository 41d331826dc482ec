"""A runner's commitment to an answer as soon as its call has ended, and the test whether two answers are alike.

For a deterministic problem the commitment is a digest of the outputs, and two answers are alike if their digests are
the same. If floats may be added up in any order, it is an excerpt: elements at places that the judge reveals when the
call has ended. Half of them lie in the part by which the answer can be compared with the reference, and half of them
anywhere. Nobody can have known the places, so an answer that is wrong in some share is wrong in that share of the
latter half. Two right answers to the same inputs differ by at most twice the error that an element may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import difference_of
from problems.kit.element_types import is_floating

_MOST_SHARE = 0.5
"""The largest `share` of an `Allowance`; any further allowance is the same for all elements."""


@dataclass(frozen=True)
class Excerpt:
    """The elements of each output that are reported: the same number of places in each flattened array.

    The runner finds the places in the shared memory from `offset` on, output after output, and puts each element in the
    low bytes of its place.
    """

    offset: int
    places: Mapping[str, NDArray[np.uint64]]
    dtypes: Mapping[str, np.dtype[Any]]

    @property
    def count(self) -> int:
        """Number of places in each output."""
        return len(next(iter(self.places.values())))

    def slots(self) -> bytearray:
        """Returns the places as the runner reads them: 8 bytes each, output after output."""
        return bytearray(b"".join(places.tobytes() for places in self.places.values()))

    def reported(self, slots: bytearray) -> dict[str, NDArray[Any]]:
        """Returns the elements by output, from the slots that the runner filled."""
        words = np.frombuffer(slots, np.uint64).reshape(len(self.places), -1)
        return {
            name: row.astype(f"u{dtype.itemsize}").view(dtype)
            for row, (name, dtype) in zip(words, self.dtypes.items(), strict=True)
        }

    def of(self, outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the elements of `outputs` at the places."""
        return {name: outputs[name].reshape(-1)[places] for name, places in self.places.items()}

    def put(self, reported: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]) -> None:
        """Puts the reported elements into `outputs`."""
        for name, places in self.places.items():
            outputs[name].reshape(-1)[places] = reported[name]


@dataclass(frozen=True)
class Needed:
    """The bytes of the arrays that an answer is judged by: a row (start in the memory, size) for each range.

    The runner finds the rows in the shared memory from `offset` on.
    """

    offset: int
    ranges: NDArray[np.uint64]


@dataclass(frozen=True)
class Question:
    """A question to a runner about the outputs of call number `call`, whose inputs a device drew from `key`.

    It asks for the excerpt, or for a digest if there is none.
    """

    key: int
    call: int = 0
    excerpt: Excerpt | None = None


@dataclass(frozen=True)
class Commitment:
    """A runner's report on the answer of a call: the halves of a digest, or the elements of an excerpt by output."""

    key: int
    call: int
    reported: tuple[int, int] | Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Allowance:
    """The error that a right element of an output may have: `least`, and a `share` of its size below 1."""

    least: float = 0.0
    share: float = 0.0

    def __or__(self, other: Allowance) -> Allowance:
        """Returns the larger of both bounds."""
        return Allowance(max(self.least, other.least), max(self.share, other.share))

    def apart(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the largest difference of two right elements, by the size of the smaller one."""
        return 2.0 * (self.least + self.share * sizes) / (1.0 - self.share)


def allowance_of(expected: NDArray[Any], granted: NDArray[np.float64]) -> Allowance:
    """Returns a bound that meets the grant of the largest element and is no lower than the grant of any other.

    Some problems grant about the same to all elements, and some grant a share of each, however many of them are small.
    """
    sizes = np.abs(expected, dtype=np.float64).reshape(-1)
    granted = np.broadcast_to(granted, expected.shape).reshape(-1)
    # NaN and infinities are compared by their class alone.
    is_number = np.isfinite(sizes) & np.isfinite(granted)
    if not is_number.any():
        return Allowance()
    sizes, granted = sizes[is_number], granted[is_number]
    at = int(np.argmax(sizes))
    share = float(min(_MOST_SHARE * sizes[at], granted[at]) / sizes[at]) if sizes[at] else 0.0
    return Allowance(max(0.0, float((granted - share * sizes).max())), share)


def are_alike(first: Commitment, second: Commitment, allowances: Mapping[str, Allowance]) -> bool:
    """True if two answers to the same inputs may both be right, as far as is reported; digests have to be equal."""
    if isinstance(first.reported, tuple) or isinstance(second.reported, tuple):
        return first.reported == second.reported
    return all(
        _are_close(reported, second.reported[name], allowances[name]) for name, reported in first.reported.items()
    )


def _are_close(first: NDArray[Any], second: NDArray[Any], allowance: Allowance) -> bool:
    # Poison may be anything, signalling NaN included; a difference of classes is NaN.
    with np.errstate(all="ignore"):
        exact = second.astype(np.float64) if is_floating(second.dtype) else second
        sizes = np.minimum(np.abs(first.astype(np.float64)), np.abs(exact))
        apart = allowance.apart(np.where(np.isfinite(sizes), sizes, 0.0))
        return bool((np.abs(difference_of(first, exact)) <= apart).all())
