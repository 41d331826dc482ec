"""What a runner of ours tells of an answer as soon as its call has ended, and whether another to its inputs is like it.

Of a deterministic problem it is a digest of the outputs, and two answers are alike if their digests are the same. Where
floats may be added up in any order, it is an excerpt: elements at places that the judge tells when the call has ended,
half of them in the part by which the answer can be compared with the reference, half of them anywhere. What is wrong in
a share of an answer is wrong in that share of the latter, as nobody can have known the places, and two right answers to
the same inputs differ by twice what an element may be off, at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problems.kit.comparison import difference_of
from problems.kit.element_types import is_floating

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

_MOST_SHARE = 0.5
"""Of an element's size; whatever else it may be off is alike for all elements."""


@dataclass(frozen=True)
class Excerpt:
    """Which elements of each output are reported: their places in the flattened array, as many of each.

    The runner finds the places in the shared memory from `offset` on, output after output, and puts the element in the
    low bytes of each.
    """

    offset: int
    places: Mapping[str, NDArray[np.uint64]]
    dtypes: Mapping[str, np.dtype[Any]]

    @property
    def count(self) -> int:
        """Of the places in an output."""
        return len(next(iter(self.places.values())))

    def slots(self) -> bytearray:
        """The places as they are reported."""
        return bytearray(b"".join(places.tobytes() for places in self.places.values()))

    def reported(self, slots: bytearray) -> dict[str, NDArray[Any]]:
        """The elements as they are reported."""
        words = np.frombuffer(slots, np.uint64).reshape(len(self.places), -1)
        return {
            name: row.astype(f"u{dtype.itemsize}").view(dtype)
            for row, (name, dtype) in zip(words, self.dtypes.items(), strict=True)
        }

    def of(self, outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The elements of outputs."""
        return {name: outputs[name].reshape(-1)[places] for name, places in self.places.items()}

    def put(self, reported: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]) -> None:
        """Make the outputs those that were reported."""
        for name, places in self.places.items():
            outputs[name].reshape(-1)[places] = reported[name]


@dataclass(frozen=True)
class Needed:
    """Which bytes of the arrays an answer is judged by: for each range, where it begins in the memory, and its size.

    The runner finds them in the shared memory from `offset` on.
    """

    offset: int
    ranges: NDArray[np.uint64]


@dataclass(frozen=True)
class Question:
    """What a runner is asked about the outputs of a call whose inputs a device drew from `key`; `call` is its number.

    It is asked for an excerpt, or for a digest if there is none.
    """

    key: int
    call: int = 0
    excerpt: Excerpt | None = None


@dataclass(frozen=True)
class Commitment:
    """What was reported of a call: the halves of a digest, or the elements of an excerpt by output."""

    key: int
    call: int
    reported: tuple[int, int] | Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Allowance:
    """What a right element of an output may be off: `least`, and a `share` of its size below 1."""

    least: float = 0.0
    share: float = 0.0

    def __or__(self, other: Allowance) -> Allowance:
        """The larger bounds of both."""
        return Allowance(max(self.least, other.least), max(self.share, other.share))

    def apart(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far apart two right elements may be, of which the smaller is so large."""
        return 2.0 * (self.least + self.share * sizes) / (1.0 - self.share)


def allowance_of(expected: NDArray[Any], granted: NDArray[np.float64]) -> Allowance:
    """The line through what is granted to the largest element, and above what is granted to any other.

    Some problems grant all elements about the same, some a share of each, however many of them are small.
    """
    sizes = np.abs(expected, dtype=np.float64).reshape(-1)
    granted = np.broadcast_to(granted, expected.shape).reshape(-1)
    # Of what is no number only the class counts.
    is_number = np.isfinite(sizes) & np.isfinite(granted)
    if not is_number.any():
        return Allowance()
    sizes, granted = sizes[is_number], granted[is_number]
    at = int(np.argmax(sizes))
    share = float(min(_MOST_SHARE * sizes[at], granted[at]) / sizes[at]) if sizes[at] else 0.0
    return Allowance(max(0.0, float((granted - share * sizes).max())), share)


def are_alike(first: Commitment, second: Commitment, allowances: Mapping[str, Allowance]) -> bool:
    """Whether two answers to the same inputs may both be right, as far as is reported; digests have to be the same."""
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
