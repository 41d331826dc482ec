"""How inputs are drawn: mixtures of scales and shapes with spikes at random places, so that lazy kernels are found out.

Spikes are a few values far above the rest. One always lies in the last tile of an array, where kernels that round
their grid down, or skip a remainder, do not look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, prod, sqrt
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from problems.kit.threads import on_threads

TILE_ELEMENTS = 64
"""One wavefront: the last tile of an array is its last 64 elements."""

SPIKE_FACTOR = 4096.0
"""How far spikes stand out: one outweighs a whole row of ordinary terms, so that its low bits can be checked."""

_ELEMENTS_PER_SPIKE = 8192
_NIBBLE_BITS = 4
_MOST_WHOLE = 1 << 32
"""What a device draws integers from is half of a random word."""
_DRAWN_AT_ONCE = 1 << 14
"""Elements, so few that what is made on the way stays in the processor's cache, in memory that was filled before."""

DRAWN_IN_STRETCHES = 1 << 24
_STRETCH_ELEMENTS = 1 << 21
"""Arrays of so many elements are drawn in stretches of so many, each by a generator of its own: several threads make
what one would."""


class Distribution(StrEnum):
    """What ordinary values look like, before spikes."""

    UNIFORM = "uniform"
    """Even in [-1, 1)."""
    POSITIVE = "positive"
    """Even in [0, 1): sums grow, so that a skipped part shows."""
    NORMAL = "normal"
    """Standard normal."""
    SMALL = "small"
    """Normal at a scale of 1e-3, which half precision cannot hold."""
    LARGE = "large"
    """Normal at a scale of 1e3."""
    WIDE = "wide"
    """Either sign, and magnitudes of all scales from 1e-3 to 1e3."""


@dataclass(frozen=True)
class Span:
    """The scales of SMALL and LARGE, how many powers of two WIDE reaches to either side, and the largest spike."""

    small: float
    large: float
    octaves: float
    spike: float


WHOLE_SPAN = Span(1e-3, 1e3, 10.0, inf)
SPANS: Mapping[str, Span] = {"float16": Span(2.0**-4, 4.0, 4.0, 32.0)}
"""By element type, where the whole span is too much for it: squares and sums of halfs must stay below 65,504, and few
results may be so small (6e-5) that devices flush them."""


class Form(StrEnum):
    """What is made of drawn values."""

    LOWER = "lower"
    """A square matrix with nothing above its diagonal."""
    UPPER = "upper"
    """One with nothing below it."""
    SYMMETRIC = "symmetric"
    """One that is what it has on and below its diagonal, on both sides."""
    SIGNS = "signs"
    """The scale, with the values' signs."""


@dataclass(frozen=True)
class Recipe:
    """What an array was drawn by, so that others like it can be drawn elsewhere.

    `scale` multiplies the plain values, whose magnitudes are at most `2^octaves` if they are WIDE. `spike` is the
    largest spike, with the scale in it, and no value is further from 0 than `limit`.
    """

    kind: Distribution
    octaves: float
    scale: float
    spike: float
    limit: float = inf
    form: Form | None = None
    turned_rows: int = 0
    """The length of rows that `turned` made of it, about; 0 if it did not."""

    @property
    def root_mean_square(self) -> float:
        """Of values without a limit; spikes, which are even from half of the largest up, have most of it."""
        if self.form is Form.SIGNS:
            return self.scale
        plain = {Distribution.UNIFORM: 1 / 3, Distribution.POSITIVE: 1 / 3}.get(self.kind, 1.0)
        if self.kind is Distribution.WIDE:
            plain = 7 / 18 * (4**self.octaves - 4**-self.octaves) / self.octaves
        used = 0.5 if self.form in {Form.LOWER, Form.UPPER} else 1.0
        return sqrt(used * (plain * self.scale**2 + 7 / 12 * self.spike**2 / _ELEMENTS_PER_SPIKE))


@dataclass(frozen=True)
class Whole:
    """The recipe of integers from `low` on, `count` of them alike likely."""

    low: int
    count: int


@dataclass(frozen=True)
class Codes:
    """The recipe of small floats of `bits` bits, 4 (two in a byte) or 8: a sign and a magnitude, all alike likely.

    `mask` says which bits a code has: without the sign, all are positive. 0 has no sign, and the magnitude `nan`, if it
    is not 0, gives way to the one below it.
    """

    bits: int
    mask: int
    nan: int = 0

    def of(self, random: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The codes that random bytes become."""
        if self.bits == _NIBBLE_BITS:
            return self._of_elements(random & np.uint8(15)) | self._of_elements(random >> np.uint8(4)) << np.uint8(4)
        return self._of_elements(random)

    def _of_elements(self, random: NDArray[np.uint8]) -> NDArray[np.uint8]:
        codes = random & np.uint8(self.mask)
        magnitudes = codes & np.uint8((1 << (self.bits - 1)) - 1)
        below = np.where(magnitudes == self.nan, codes - np.uint8(1), codes) if self.nan else codes
        return np.where(magnitudes == 0, np.uint8(0), below)


@dataclass(frozen=True)
class Blocks:
    """The recipe of floats of 16 or 32 bits for formats in which blocks of `length`, a power of two, share a scale.

    The magnitudes of a block lie below a power of two of its own, twice as many in each octave as in the next. The
    exponent of the upper one, as it is stored, is one of `count` from `lowest` on: at least 8, of float32 at least 23.
    Every half has its last bit set. Of float32 one in eight is smaller by up to fifteen octaves more, no magnitude is
    within 2^-11 below a power of two, and one in 32 has four bits of mantissa at most. If they are `signed`, half of
    those are negative that are at least a sixteenth of the block's power of two.
    """

    length: int
    lowest: int
    count: int
    signed: bool

    def fill(self, values: NDArray[Any], rng: np.random.Generator) -> None:
        """Draw whole blocks, given as unsigned integers that have the floats' bits."""
        bits = values.dtype.type
        words, more = (rng.integers(0, 1 << 8 * n, values.size, f"u{n}") for n in (4, 2))
        octaves = rng.integers(self.lowest, self.lowest + self.count, (values.size // self.length, 1)).astype(bits)
        below = _OCTAVES_BELOW[more & np.uint16(0xFF)]
        if values.itemsize == np.dtype(np.float16).itemsize:
            width, mantissas = 10, words & np.uint32(0x3FF) | np.uint32(1)
        else:
            below += np.where(more >> np.uint16(13) == 0, more >> np.uint16(8) & np.uint16(15), 0).astype(np.uint8)
            is_short = words >> np.uint32(27) == 0
            width, mantissas = 23, words & np.where(is_short, np.uint32(0x780000), np.uint32(0x7FDFFF))
        exponents = octaves - below.reshape(-1, self.length)
        values[:] = mantissas.astype(bits) | exponents.reshape(-1) << bits(width)
        if self.signed:
            is_negative = (words >> np.uint32(26) & np.uint32(1) != 0) & (below < _SIGNED_OCTAVES)
            values |= is_negative.astype(bits) << bits(8 * values.itemsize - 1)


_OCTAVES_BELOW = np.array([8 - (byte | 1).bit_length() for byte in range(256)], np.uint8)
"""How far an element's exponent is below that of its block, by a random byte."""
_SIGNED_OCTAVES = 4

AnyRecipe = Recipe | Whole | Codes | Blocks


class Drawn(np.ndarray):  # pyright: ignore[reportMissingTypeArgument] - numpy's own subclasses are written so
    """Values as they were drawn, which cannot be written to. What is made from them is an array without a recipe."""

    recipe: AnyRecipe | None = None

    def __array_finalize__(self, obj: NDArray[Any] | None, /) -> None:
        self.recipe = None

    def __array_wrap__(  # pyright: ignore[reportIncompatibleMethodOverride] - numpy's stubs know arrays alone
        self,
        array: NDArray[Any],
        context: object = None,
        return_scalar: bool = False,  # noqa: FBT001, FBT002 - numpy passes it so
        /,
    ) -> object:
        """Sums and other results are numpy's own."""
        del context
        return array[()] if return_scalar else np.asarray(array)


def as_drawn(values: NDArray[Any], recipe: AnyRecipe | None) -> NDArray[Any]:
    """The values with a recipe by which others like them can be drawn; the same array if there is none."""
    if recipe is None:
        return values
    drawn = values.view(Drawn)
    drawn.recipe = recipe
    drawn.flags.writeable = False
    return drawn


class SizesOnly(np.random.Generator):
    """A generator with which `sample` makes arrays that have no values (`Unmade`)."""


@dataclass(frozen=True, eq=False)
class Unmade:
    """An array before it is drawn by its recipe; to ask for values is a TypeError or AttributeError."""

    shape: tuple[int, ...]
    recipe: AnyRecipe | None
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))

    __array_ufunc__ = None

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        raise TypeError("this array has no values")

    def __array_function__(self, *_: object) -> object:
        raise TypeError("this array has no values")

    def __eq__(self, other: object) -> bool:
        raise TypeError("this array has no values")

    def __bool__(self) -> bool:
        raise TypeError("this array has no values")

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as arrays have none


def recipe_of(values: object) -> AnyRecipe | None:
    """What the values were drawn by, if nothing else was done to them."""
    return values.recipe if isinstance(values, Drawn | Unmade) else None


def root_mean_square(values: NDArray[Any]) -> float:
    """Of values that `sample` drew, or would draw, by their recipe; raises TypeError for others."""
    recipe = recipe_of(values)
    if not isinstance(recipe, Recipe):
        raise TypeError("root_mean_square: give values as `sample` drew them")
    return recipe.root_mean_square


def sample(
    distribution: Distribution | str,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    spike: float = SPIKE_FACTOR,
    span: Span = WHOLE_SPAN,
) -> NDArray[np.float32]:
    """Draw float32 values of one distribution, with spikes of about `spike` times its scale."""
    kind = Distribution(distribution)
    scale = {Distribution.SMALL: span.small, Distribution.LARGE: span.large}.get(kind, 1.0)
    largest = min(spike, span.spike) * scale
    recipe = Recipe(kind, span.octaves, scale, largest)
    if isinstance(rng, SizesOnly):
        return cast("NDArray[np.float32]", Unmade(shape, recipe))
    values = np.empty(prod(shape), np.float32)
    _draw_all(values, rng, lambda some, own: _draw_some(kind, some, own, scale, span.octaves))
    signs = 1.0 if kind is Distribution.POSITIVE else rng.choice((-1.0, 1.0), spike_count(values.size))
    places = spike_places(values.size, rng)
    values[places] = signs * largest * rng.uniform(0.5, 1.0, places.size)
    return as_drawn(values.reshape(shape), recipe)


def whole_numbers(
    low: int, count: int, shape: tuple[int, ...], rng: np.random.Generator, dtype: DTypeLike
) -> NDArray[Any]:
    """Draw integers from `low` on, `count` of them alike likely, as the bits of elements of this type.

    They have a recipe if there are at most 2^32.
    """
    recipe, wanted = Whole(low, count) if count <= _MOST_WHOLE else None, np.dtype(dtype)
    if recipe and isinstance(rng, SizesOnly):
        return cast("NDArray[Any]", Unmade(shape, recipe, wanted))
    return as_drawn(rng.integers(low, low + count, shape, f"u{wanted.itemsize}").view(wanted), recipe)


def some_codes(recipe: Codes, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw bytes of small floats."""
    if isinstance(rng, SizesOnly):
        return cast("NDArray[np.uint8]", Unmade(shape, recipe, np.dtype(np.uint8)))
    random = np.frombuffer(rng.bytes(prod(shape)), np.uint8)
    return as_drawn(recipe.of(random).reshape(shape), recipe)


def some_blocks(recipe: Blocks, shape: tuple[int, ...], rng: np.random.Generator, dtype: DTypeLike) -> NDArray[Any]:
    """Draw floats in blocks; the last side of the shape is a whole number of them."""
    wanted = np.dtype(dtype)
    if isinstance(rng, SizesOnly):
        return cast("NDArray[Any]", Unmade(shape, recipe, wanted))
    bits = np.empty(prod(shape), f"u{wanted.itemsize}")
    _draw_all(bits, rng, recipe.fill)
    return as_drawn(bits.view(wanted).reshape(shape), recipe)


def scaled(values: NDArray[Any], factor: float, limit: float = inf) -> NDArray[Any]:
    """The values times a positive factor, and cut off at `limit` to either side."""
    if factor == 1.0 and limit == inf:
        return values
    recipe = recipe_of(values)
    if isinstance(recipe, Recipe):
        least = min(limit, recipe.limit * factor)
        recipe = replace(recipe, scale=recipe.scale * factor, spike=recipe.spike * factor, limit=least)
    if isinstance(values, Unmade):
        return cast("NDArray[Any]", replace(cast("Unmade", values), recipe=recipe))
    times = np.asarray(values) * values.dtype.type(factor)
    return as_drawn(times if limit == inf else np.clip(times, -np.float32(limit), np.float32(limit)), recipe)


def formed(values: NDArray[np.float32], form: Form) -> NDArray[np.float32]:
    """What is made of values that `sample` drew; matrices are square."""
    recipe = recipe_of(values)
    if not isinstance(recipe, Recipe):
        raise TypeError("formed: give values as `sample` drew them")
    if isinstance(values, Unmade):
        return cast("NDArray[np.float32]", replace(cast("Unmade", values), recipe=replace(recipe, form=form)))
    plain, scale = np.asarray(values), np.float32(recipe.scale)
    if form is Form.SIGNS:
        made = np.where(plain < 0, -scale, scale)
    elif form is Form.SYMMETRIC:
        made = np.tril(plain) + np.tril(plain, -1).T
    else:
        made = np.tril(plain) if form is Form.LOWER else np.triu(plain)
    return as_drawn(made, replace(recipe, form=form))


def changed(
    values: NDArray[np.float32], change: Callable[[NDArray[np.float32], slice], object], length: int = 1
) -> NDArray[np.float32]:
    """A copy that `change` has changed, a few rows of `length` elements at a time: given these, and which they are.

    Nobody but the judge can draw others like it.
    """
    if isinstance(values, Unmade):
        return cast("NDArray[np.float32]", replace(cast("Unmade", values), recipe=None))
    copy = np.array(values, subok=False)
    rows, at_once = copy.reshape(-1, length), max(1, _DRAWN_AT_ONCE // length)
    for first in range(0, len(rows), at_once):
        some = slice(first, min(first + at_once, len(rows)))
        change(rows[some], some)
    return copy


def turned(values: NDArray[np.float32], towards: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Rows at all angles to those of `towards`, the argument before; both were drawn by `sample` alike.

    A random share of each row is taken from the other, or from its negative.
    """
    recipe = recipe_of(values)
    if not isinstance(recipe, Recipe) or recipe != recipe_of(towards):
        raise TypeError("turned: give values as `sample` drew them, both alike")
    rows, length = values.shape
    recipe = replace(recipe, turned_rows=length)
    if isinstance(values, Unmade):
        return cast("NDArray[np.float32]", replace(cast("Unmade", values), recipe=recipe))
    shares, signs = rng.random((rows, 1), np.float32), rng.choice((np.float32(-1), np.float32(1)), (rows, 1))

    def turn(some: NDArray[np.float32], which: slice) -> None:
        np.copyto(some, signs[which] * towards[which], where=rng.random(some.shape, np.float32) < shares[which])

    made = changed(values, turn, length)
    # With the spike of the last tile.
    made.reshape(-1)[-TILE_ELEMENTS:] = values.reshape(-1)[-TILE_ELEMENTS:]
    return as_drawn(made, recipe)


def any_distribution(rng: np.random.Generator) -> Distribution:
    """Any of the distributions, all alike likely."""
    return tuple(Distribution)[rng.integers(len(Distribution))]


def spike_count(size: int) -> int:
    """How many spikes an array of this size gets."""
    return min(size, 2 + size // _ELEMENTS_PER_SPIKE)


def spike_places(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random flat positions; the last of them lies in the last tile."""
    places = rng.integers(0, size, spike_count(size))
    places[-1:] = rng.integers(max(0, size - TILE_ELEMENTS), size)
    return places


def _draw_all(
    values: NDArray[Any], rng: np.random.Generator, draw: Callable[[NDArray[Any], np.random.Generator], None]
) -> None:
    """Fill the array, some elements at a time, on several threads if it is large."""

    def fill(some: NDArray[Any], own: np.random.Generator) -> None:
        for begin in range(0, some.size, _DRAWN_AT_ONCE):
            draw(some[begin : begin + _DRAWN_AT_ONCE], own)

    if values.size < DRAWN_IN_STRETCHES:
        fill(values, rng)
        return
    key = int(rng.integers(1 << 63))

    def stretch(begin: int) -> None:
        own = np.random.Generator(np.random.SFC64((key, begin)))
        fill(values[begin : begin + _STRETCH_ELEMENTS], own)

    on_threads(stretch, range(0, values.size, _STRETCH_ELEMENTS))


def _draw_some(
    kind: Distribution, values: NDArray[np.float32], rng: np.random.Generator, scale: float, octaves: float
) -> None:
    if kind in {Distribution.UNIFORM, Distribution.POSITIVE}:
        rng.random(dtype=np.float32, out=values)
        if kind is Distribution.UNIFORM:
            values *= np.float32(2)
            values -= np.float32(1)
    elif kind is Distribution.WIDE:
        # Even within each power of two, as a device draws them.
        words = rng.integers(0, 1 << 32, values.size, np.uint32)
        exponents = (words >> np.uint32(24)) * np.uint32(2 * octaves) >> np.uint32(8)
        bits = (exponents + np.uint32(127 - octaves)) << np.uint32(23) | words & np.uint32(0x7FFFFF)
        values[:] = (bits | (words & np.uint32(1 << 23)) << np.uint32(8)).view(np.float32)
    else:
        rng.standard_normal(dtype=np.float32, out=values)
        values *= np.float32(scale)
