"""The arithmetic of the chained audit in numpy: how an input follows from the outputs before it.

The runner does the same on the device (`runner/chain_arithmetic.hpp` and `runner/chain_bodies.hpp`), bit for bit, so
all of it is arithmetic on unsigned 64-bit integers that wrap around.

The digest has two halves that mix each other, and a tree of strips above it: no right answer can be bent to a digest
that was promised before it was computed. A sum or an exclusive or of hashed words would not do, as low bits of many
elements could be chosen to make up any sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from services.executor.core.layout import LinkRule, RuleKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

STRIP_WORDS = 32

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# The multipliers of SplitMix64 (Steele, Lea and Flood, 2014).
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_WORD_BYTES = 8


def mixed(x: int) -> int:
    """A bijection of 64-bit integers in which every bit depends on every other."""
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


def first_key(nonce: int) -> int:
    """The key of a chain's first link."""
    return mixed(nonce)


def next_key(digest: tuple[int, int], nonce: int) -> int:
    """The key of the link that follows the one with this digest."""
    return mixed(digest[0] ^ mixed(digest[1] ^ nonce))


def argument_key(link_key: int, argument: int) -> int:
    """The key of one argument's data in a link; `argument` is its place in the signature."""
    return mixed(link_key ^ mixed(argument + 1))


def remade(base: NDArray[Any], rule: LinkRule, link_key: int, argument: int) -> NDArray[Any]:
    """What an array is in the link with this key."""
    key = argument_key(link_key, argument)
    if rule.kind in {RuleKind.SYMMETRIC_BITS, RuleKind.WEIGHTS}:
        return _remade_matrix(base, rule, key)
    if rule.kind is RuleKind.FLIP_BITS:
        words = _random_words(key, -(-base.nbytes // _WORD_BYTES))
        return _flipped(base, rule, words.view(np.uint8)[: base.nbytes].view(f"u{base.dtype.itemsize}"))
    if rule.kind in {RuleKind.INTEGERS, RuleKind.WHOLES}:
        values = _in_range(_random_words(key, base.size), rule)
        if rule.kind is RuleKind.WHOLES:
            return values.view(np.int64).astype(np.float32).reshape(base.shape)
        return values.astype(f"u{base.dtype.itemsize}").view(base.dtype).reshape(base.shape)
    if rule.kind is RuleKind.ROLL:
        distance = 0 if base.size < 2 else 1 + mixed(key) % (base.size - 1)  # noqa: PLR2004  one element cannot move
        return np.roll(base.reshape(-1), -distance).reshape(base.shape)
    return base


def digest_of(outputs: Iterable[tuple[int, NDArray[Any]]], link_key: int) -> tuple[int, int]:
    """The digest of a link's outputs, each with its place in the signature."""
    state = (link_key, mixed(link_key))
    for argument, output in outputs:
        for half in _state_of(_bytes_of(output), argument_key(link_key, argument)):
            state = _fold(state, half)
    return mixed((state[0] + state[1]) & _MASK), mixed(state[1] ^ _rotated(state[0], 32))


def _state_of(data: NDArray[np.uint8], key: int) -> tuple[int, int]:
    level = 0
    while True:
        words = _words_of(data)
        strips = max(1, -(-words.size // STRIP_WORDS))
        states = _fold_strips(words, strips, mixed((key + data.size * _GOLDEN + level) & _MASK))
        if strips == 1:
            return int(states[0]), int(states[1])
        data, level = states.view(np.uint8), level + 1


def _fold_strips(words: Words, strips: int, key: int) -> Words:
    first = _random_words(key, strips)
    second = _mixed_words(first)
    for begin in range(0, words.size, strips):
        row = words[begin : begin + strips]
        count = row.size
        x = (first[:count] ^ row) * np.uint64(_FIRST)
        x ^= x >> np.uint64(32)
        first[:count] = x + _rotated_words(second[:count], 27)
        second[:count] = (_rotated_words(second[:count] + row, 31) * np.uint64(_SECOND)) ^ x
    return np.concatenate((first, second))


def _remade_matrix(base: NDArray[Any], rule: LinkRule, key: int) -> NDArray[Any]:
    """A square matrix, whose noise is the same on both sides of the diagonal."""
    rows, columns = np.indices(base.shape)
    places = np.minimum(rows, columns) * base.shape[0] + np.maximum(rows, columns)
    noise = _random_words(key, base.size)[places.reshape(-1)]
    if rule.kind is RuleKind.SYMMETRIC_BITS:
        return _flipped(base, rule, noise)
    weights = _in_range(noise, rule).view(np.int64).astype(np.float32).reshape(base.shape)
    return np.where(base == 0, base, weights)


def _in_range(words: Words, rule: LinkRule) -> Words:
    """Numbers from `first` on, `second` of them alike likely."""
    return np.uint64(rule.first & _MASK) + (((words >> np.uint64(32)) * np.uint64(rule.second)) >> np.uint64(32))


def _flipped(base: NDArray[Any], rule: LinkRule, noise: NDArray[Any]) -> NDArray[Any]:
    unsigned = np.dtype(f"u{base.dtype.itemsize}")
    elements = _bytes_of(base).view(unsigned)
    noise = noise.astype(unsigned, copy=False) & unsigned.type(rule.first)
    if rule.second:
        exponents = elements & unsigned.type(rule.second)
        noise[(exponents == 0) | (exponents == rule.second)] = 0
    return (elements ^ noise).view(base.dtype).reshape(base.shape)


def _fold(state: tuple[int, int], word: int) -> tuple[int, int]:
    x = ((state[0] ^ word) * _FIRST) & _MASK
    x ^= x >> 32
    first = (x + _rotated(state[1], 27)) & _MASK
    second = ((_rotated((state[1] + word) & _MASK, 31) * _SECOND) & _MASK) ^ x
    return first, second


def _rotated(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def _rotated_words(x: Words, bits: int) -> Words:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


def _random_words(key: int, count: int) -> Words:
    steps = np.arange(1, count + 1, dtype=np.uint64)
    return _mixed_words(np.uint64(key) + steps * np.uint64(_GOLDEN))


def _mixed_words(x: Words) -> Words:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return cast("Words", x ^ (x >> np.uint64(31)))


def _words_of(data: NDArray[np.uint8]) -> Words:
    missing = -data.size % _WORD_BYTES
    whole = np.concatenate((data, np.zeros(missing, np.uint8))) if missing else data
    return whole.view(np.uint64)


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
