"""The arithmetic of a chain in numpy, as a specification: `runner/chain_bodies.hpp` must make the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from problems.kit.distributions import TILE_ELEMENTS, Codes, Form
from services.executor.core.call.layout import LinkRule, RuleKind

Words = NDArray[np.uint64]

STRIP_WORDS = 32

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# The multipliers of SplitMix64 (Steele, Lea and Flood, 2014).
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_WORD_BYTES = 8
_DRAWS_UNIFORM, _DRAWS_POSITIVE, _DRAWS_SUMS, _DRAWS_WIDE = range(4)
_FORMS_OF_MATRICES = (Form.LOWER, Form.UPPER, Form.SYMMETRIC)
_FORMS = (None, *_FORMS_OF_MATRICES, Form.SIGNS)
_MANTISSA_BITS = 23
_MANTISSA = np.uint64((1 << _MANTISSA_BITS) - 1)
_MEAN_OF_SUM = 2 * (2**32 - 1)
_ELEMENTS_PER_SPIKE = 8192
# Few enough that intermediate arrays fit in a cache and reuse memory that is already mapped.
_MADE_AT_ONCE = 1 << 14


def mixed(x: int) -> int:
    """A bijection of 64-bit integers in which every bit depends on every other."""
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


class Key(NamedTuple):
    """The key of an array in a link."""

    first: int
    second: int


def argument_key(link_key: int, argument: int) -> Key:
    """The key of one argument's data in a link; `argument` is its place in the signature."""
    return Key(mixed(link_key ^ mixed(argument + 1)), mixed(link_key ^ mixed(~argument & _MASK)))


def remade(base: NDArray[Any], rule: LinkRule, link_key: int, argument: int) -> NDArray[Any]:
    """The array in the link with this key."""
    key = argument_key(link_key, argument)
    if rule.kind is RuleKind.DRAW:
        before = argument_key(link_key, argument - 1)
        return _drawn(np.arange(base.size, dtype=np.uint64), base.size, rule, (key, before)).reshape(base.shape)
    return _changed(base, rule, key)


def remade_at(
    base: NDArray[Any], rule: LinkRule, link_key: int, argument: int, places: NDArray[np.int64]
) -> NDArray[Any]:
    """The elements at these places of the flattened array, in the link with this key."""
    flat, key = base.reshape(-1), argument_key(link_key, argument)
    match rule.kind:
        case RuleKind.DRAW:
            before = argument_key(link_key, argument - 1)
            return _drawn(places.reshape(-1).view(np.uint64), base.size, rule, (key, before)).reshape(places.shape)
        case RuleKind.FLIP_BITS:
            unsigned, at = np.dtype(f"u{base.dtype.itemsize}"), places * base.dtype.itemsize
            words = _words_at(key, (at // _WORD_BYTES).view(np.uint64))
            noise = (words >> (at % _WORD_BYTES * 8).view(np.uint64)).astype(unsigned)
            return _flipped(flat[places], rule, noise.reshape(-1))
        case RuleKind.ROLL:
            return flat[(places + _distance(base.size // rule.first, key) * rule.first) % base.size]
        case RuleKind.INTEGERS | RuleKind.WHOLES:
            return _numbers(_words_at(key, places.view(np.uint64)), rule, base.dtype)
        case RuleKind.CODES:
            words = _words_at(key, (places // _WORD_BYTES).view(np.uint64))
            random = (words >> (places % _WORD_BYTES * 8).view(np.uint64)).astype(np.uint8)
            return _codes_of(rule).of(random).view(base.dtype)
        case _:
            return remade(base, rule, link_key, argument).reshape(-1)[places]


def _changed(base: NDArray[Any], rule: LinkRule, key: Key) -> NDArray[Any]:
    if rule.kind in {RuleKind.SYMMETRIC_BITS, RuleKind.WEIGHTS}:
        return _remade_matrix(base, rule, key)
    if rule.kind is RuleKind.FLIP_BITS:
        return _flipped_by_words(base, rule, key)
    if rule.kind in {RuleKind.INTEGERS, RuleKind.WHOLES}:
        return _numbers(_random_words(key, base.size), rule, base.dtype).reshape(base.shape)
    if rule.kind is RuleKind.BLOCKS:
        return _blocks(base, rule, key)
    if rule.kind is RuleKind.CODES:
        words = _random_words(key, -(-base.nbytes // _WORD_BYTES))
        return _codes_of(rule).of(_bytes_of(words)[: base.nbytes]).view(base.dtype).reshape(base.shape)
    rolled_by = _distance(base.size // rule.first, key) * rule.first if rule.kind is RuleKind.ROLL else 0
    return np.roll(base.reshape(-1), -rolled_by).reshape(base.shape)


def _blocks(base: NDArray[Any], rule: LinkRule, key: Key) -> NDArray[Any]:
    """Floats in blocks of `second`; `first` holds the lowest octave, their number, and whether there are signs."""
    at = np.arange(base.size, dtype=np.uint64)
    words, of_block = _words_at(key, 2 * at), _words_at(key, 2 * (at // np.uint64(rule.second)) + np.uint64(1))
    octaves = np.uint64(rule.first & 0xFF) + (
        (of_block >> np.uint64(32)) * np.uint64(rule.first >> 8 & 0xFF) >> np.uint64(32)
    )
    below = np.uint64(8) - np.frexp((words & np.uint64(0xFF) | np.uint64(1)).astype(np.float64))[1].astype(np.uint64)
    if base.itemsize == 2:
        width, mantissas = 10, words >> np.uint64(8) & np.uint64(0x3FF) | np.uint64(1)
    else:
        is_deep, is_short = words >> np.uint64(37) & np.uint64(7) == 0, words >> np.uint64(32) & np.uint64(31) == 0
        below += np.where(is_deep, words >> np.uint64(40) & np.uint64(15), np.uint64(0))
        kept = np.where(is_short, np.uint64(0x780000), np.uint64(0x7FDFFF))
        width, mantissas = _MANTISSA_BITS, words >> np.uint64(8) & kept
    signs = np.where((below < 4) & (rule.first >> 16 & 1 != 0), words >> np.uint64(63), np.uint64(0))
    bits = signs << np.uint64(8 * base.itemsize - 1) | (octaves - below) << np.uint64(width) | mantissas
    return bits.astype(f"u{base.itemsize}").view(base.dtype).reshape(base.shape)


def _distance(blocks: int, key: Key) -> int:
    """The number of blocks by which an array is rolled."""
    return 0 if blocks < 2 else 1 + _word_of_array(key) % (blocks - 1)


def digest_of(outputs: Iterable[tuple[int, NDArray[Any]]], link_key: int) -> tuple[int, int]:
    """The digest of a link's outputs, each with its place in the signature."""
    state = (link_key, mixed(link_key))
    for argument, output in outputs:
        for half in _state_of(_bytes_of(output), argument_key(link_key, argument).first):
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
    first = _stepped(key, np.arange(strips, dtype=np.uint64))
    second = _mixed_words(first)
    for begin in range(0, words.size, strips):
        row = words[begin : begin + strips]
        count = row.size
        x = (first[:count] ^ row) * np.uint64(_FIRST)
        x ^= x >> np.uint64(32)
        first[:count] = x + _rotated_words(second[:count], 27)
        second[:count] = (_rotated_words(second[:count] + row, 31) * np.uint64(_SECOND)) ^ x
    return np.concatenate((first, second))


def _remade_matrix(base: NDArray[Any], rule: LinkRule, key: Key) -> NDArray[Any]:
    """A square matrix with the same noise on both sides of the diagonal."""
    rows, columns = np.indices(base.shape)
    places = np.minimum(rows, columns) * base.shape[0] + np.maximum(rows, columns)
    noise = _random_words(key, base.size)[places.reshape(-1)]
    if rule.kind is RuleKind.SYMMETRIC_BITS:
        return _flipped(base, rule, noise)
    weights = _in_range(noise, rule).view(np.int64).astype(np.float32).reshape(base.shape)
    return np.where(base == 0, base, weights)


def _codes_of(rule: LinkRule) -> Codes:
    return Codes(rule.second >> 8, rule.first, rule.second & 0xFF)


def _scale_of(rule: LinkRule) -> np.float32:
    return np.uint32(rule.second & 0xFFFFFFFF).view(np.float32)


def _form_of(rule: LinkRule) -> Form | None:
    return _FORMS[rule.first >> 16 & 0xFF]


def _drawn(places: Words, size: int, rule: LinkRule, keys: tuple[Key, Key]) -> NDArray[np.float32]:
    """Draws with the keys of the array and of the argument before it; turned rows use some elements of the latter."""
    key, before = keys
    own, bits = _drawn_at(places, size, rule, key), rule.first >> 24 & 0xFF
    if not bits:
        return own
    turns = _words_at(key, ~(np.uint64(2) * (places >> np.uint64(bits - 1))))
    lots = _words_at(key, ~(np.uint64(2) * places + np.uint64(1)))
    taken = (lots >> np.uint64(32) < turns >> np.uint64(32)) & (places != _last_spike(size, key))
    others = _drawn_at(places, size, rule, before)
    return np.where(taken, np.where(turns & np.uint64(1), -others, others), own)


def _last_spike(size: int, key: Key) -> int:
    """The last tile always has a spike, however few elements it has."""
    return size - 1 - _word_of_array(key) % max(1, min(size, TILE_ELEMENTS))


def _drawn_at(places: Words, size: int, rule: LinkRule, key: Key) -> NDArray[np.float32]:
    form, side = _form_of(rule), np.uint64(math.isqrt(size))
    rows, columns = np.divmod(places, side) if form in _FORMS_OF_MATRICES else (places, places)
    if form is Form.SYMMETRIC:
        # Below the diagonal: the spike of the last tile lies there.
        places = np.maximum(rows, columns) * side + np.minimum(rows, columns)
    values = np.empty(places.size, np.float32)
    for begin in range(0, places.size, _MADE_AT_ONCE):
        values[begin : begin + _MADE_AT_ONCE] = _plain(places[begin : begin + _MADE_AT_ONCE], rule, key)
    is_spike = _mixed_words(_words_at(key, 2 * places)) % np.uint64(_ELEMENTS_PER_SPIKE) == 0
    is_spike |= places == _last_spike(size, key)
    values[is_spike] = _spikes(places[is_spike], rule, key)
    values = _finished(values, rule)
    if form in {Form.LOWER, Form.UPPER}:
        values[columns > rows if form is Form.LOWER else columns < rows] = 0
    return values


def _spikes(places: Words, rule: LinkRule, key: Key) -> NDArray[np.float32]:
    words = _words_at(key, 2 * places)
    spikes = ((words & _MANTISSA) + np.uint64(1 << _MANTISSA_BITS)).astype(np.float32) * np.float32(2.0**-24)
    spikes *= np.uint32(rule.second >> 32).view(np.float32)
    is_negative = (words >> np.uint64(63)) != 0
    return np.where(is_negative & (rule.first & 0xFF != _DRAWS_POSITIVE), -spikes, spikes)


def _finished(values: NDArray[np.float32], rule: LinkRule) -> NDArray[np.float32]:
    if _form_of(rule) is Form.SIGNS:
        scale = _scale_of(rule)
        values = np.where(values < 0, -scale, scale)
    limit = np.uint32(rule.first >> 32).view(np.float32)
    return np.clip(values, -limit, limit, out=values)


def _plain(places: Words, rule: LinkRule, key: Key) -> NDArray[np.float32]:
    """Elements without spikes."""
    at = places * np.uint64(2)
    words, kind, scale = _words_at(key, at), rule.first & 0xFF, _scale_of(rule)
    if kind == _DRAWS_WIDE:
        octaves = rule.first >> 8 & 0xFF
        exponents = ((words >> np.uint64(32)) * np.uint64(2 * octaves) >> np.uint64(32)) + np.uint64(127 - octaves)
        sign = (words >> np.uint64(_MANTISSA_BITS)) & np.uint64(1)
        bits = sign << np.uint64(31) | exponents << np.uint64(_MANTISSA_BITS) | words & _MANTISSA
        return bits.astype(np.uint32).view(np.float32) * scale
    if kind == _DRAWS_SUMS:
        more = _words_at(key, at + np.uint64(1))
        halves = [word & np.uint64(0xFFFFFFFF) for word in (words, more)] + [
            word >> np.uint64(32) for word in (words, more)
        ]
        sums = (halves[0] + halves[1] + halves[2] + halves[3]).view(np.int64) - _MEAN_OF_SUM
        return sums.astype(np.float32) * scale
    wholes = (words >> np.uint64(40)).view(np.int64)
    if kind == _DRAWS_POSITIVE:
        return wholes.astype(np.float32) * np.float32(2.0**-24) * scale
    return (wholes - (1 << _MANTISSA_BITS)).astype(np.float32) * np.float32(2.0**-_MANTISSA_BITS) * scale


def _word_of_array(key: Key) -> int:
    return (mixed(key.first ^ _MASK) + mixed(key.second ^ _MASK)) & _MASK


def _words_at(key: Key, at: Words) -> Words:
    return _stepped(key.first, at) + _stepped(key.second, at)


def _stepped(key: int, at: Words) -> Words:
    return _mixed_words(np.uint64(key) + (at + np.uint64(1)) * np.uint64(_GOLDEN))


def _numbers(words: Words, rule: LinkRule, dtype: np.dtype[Any]) -> NDArray[Any]:
    values = _in_range(words, rule)
    if rule.kind is RuleKind.WHOLES:
        return values.view(np.int64).astype(np.float32)
    return values.astype(f"u{dtype.itemsize}").view(dtype)


def _in_range(words: Words, rule: LinkRule) -> Words:
    """Equally likely numbers from `first` on, `second` of them."""
    return np.uint64(rule.first & _MASK) + (((words >> np.uint64(32)) * np.uint64(rule.second)) >> np.uint64(32))


def _flipped_by_words(base: NDArray[Any], rule: LinkRule, key: Key) -> NDArray[Any]:
    flat, unsigned = np.ascontiguousarray(base).reshape(-1), np.dtype(f"u{base.dtype.itemsize}")
    made = np.empty_like(flat)
    for begin in range(0, flat.size, _MADE_AT_ONCE):
        part = flat[begin : begin + _MADE_AT_ONCE]
        first = begin * base.dtype.itemsize // _WORD_BYTES
        words = _words_at(key, np.arange(first, first - (-part.nbytes // _WORD_BYTES), dtype=np.uint64))
        made[begin : begin + _MADE_AT_ONCE] = _flipped(part, rule, words.view(unsigned)[: part.size])
    return made.reshape(base.shape)


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


def _random_words(key: Key, count: int) -> Words:
    return _words_at(key, np.arange(count, dtype=np.uint64))


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
