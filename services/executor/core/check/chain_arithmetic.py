"""The arithmetic of the chained audit on the host, which makes an input from the outputs before it.

The runner does the same on the device, bit for bit: both are compiled from `runner/chain_arithmetic.hpp` and
`runner/chain_bodies.hpp`, whose arithmetic is on unsigned 64-bit integers that wrap around.

The digest has two halves that mix each other, and a tree of strips above it. So no right answer can be bent to a digest
that was promised before it was computed. A sum or an exclusive or of hashed words would not do, because the low bits of
many elements could be chosen to make up any sum.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipcpu.build_folder import ToolchainError
from hipcpu.prepare import refresh
from problems.kit.distributions import AnyRecipe, Blocks, Codes, Distribution, Form, Whole
from problems.kit.threads import on_threads
from services.executor.core.call.layout import LinkRule, RuleKind

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# The multipliers of SplitMix64 (Steele, Lea and Flood, 2014).
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_WORD_BYTES, _STRIP_WORDS = 8, 32
_STRIPS_OF_A_THREAD = 1 << 14
"""The strips that one thread folds: 4 MiB of data."""
_MADE_BYTES = 4 << 20
"""Bytes of an array that one thread makes."""
# Kinds of drawn values, by their numbers in `runner/chain_bodies.hpp`; a distribution without a number is a sum.
_DRAW_KINDS = {Distribution.UNIFORM: 0, Distribution.POSITIVE: 1, Distribution.WIDE: 3}
_DRAWS_SUMS = 2
_FORMS = (None, Form.LOWER, Form.UPPER, Form.SYMMETRIC, Form.SIGNS)
_NEEDED_FLAGS = frozenset({"avx2", "bmi2", "fma", "movbe"})
"""CPU flags of x86-64-v3, as Linux names them, that no processor has without the others."""
BROUGHT = Path(__file__).with_name("judge-library.so")
"""Path of the compiled part in a kit. With the name of a module it would be taken for one."""
_DEVIATION_OF_SUM = math.sqrt((2.0**64 - 1) / 3)


class _Array(ctypes.Structure):
    """The structure `WavepoolArray` of chain_arithmetic.cpp."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("rule", "element_bytes", "first", "second", "link_key", "argument")),
        ("bytes", ctypes.c_uint64),
        ("base", ctypes.c_void_p),
    )


def require_library() -> None:
    """Raises ToolchainError or OSError, with advice, if the compiled part is not to be had here."""
    _library()


@cache
def _library() -> ctypes.CDLL:
    missing = _NEEDED_FLAGS - set(Path("/proc/cpuinfo").read_text("ascii", "replace").split())
    if missing:
        raise ToolchainError(f"the judge needs a processor with AVX2 (x86-64-v3); this one lacks {', '.join(missing)}")
    # A kit has no compiler, so it brings the library.
    library = ctypes.CDLL(str(BROUGHT if BROUGHT.is_file() else refresh().judge_library))
    word, address = ctypes.c_uint64, ctypes.c_void_p
    for function, types in (
        (library.wavepool_make, (ctypes.POINTER(_Array), word, word, address)),
        (library.wavepool_make_at, (ctypes.POINTER(_Array), address, word, address)),
        (library.wavepool_fold_strips, (address, word, word, word, word, word, address)),
    ):
        function.argtypes, function.restype = types, None
    return library


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


def remade(base: NDArray[Any], rule: LinkRule, link_key: int, argument: int) -> NDArray[Any]:
    """Returns an array as it is in the link with this key; `argument` is its place in the signature."""
    if rule.kind is RuleKind.FIXED:
        return base
    base = np.ascontiguousarray(base)
    made = np.empty_like(base)
    array = _array(base, rule, link_key, argument)

    def make(begin: int) -> None:
        _library().wavepool_make(array, begin, begin + _MADE_BYTES, made.ctypes.data)

    on_threads(make, range(0, base.nbytes, _MADE_BYTES))
    return made


def remade_at(
    base: NDArray[Any], rule: LinkRule, link_key: int, argument: int, places: NDArray[np.int64]
) -> NDArray[Any]:
    """Returns the elements at these places of the flattened array, as they are in the link with this key."""
    if rule.kind is RuleKind.FIXED:
        return base.reshape(-1)[places]
    base, places = np.ascontiguousarray(base), np.ascontiguousarray(places, np.int64)
    made = np.empty(places.shape, base.dtype)
    array = _array(base, rule, link_key, argument)
    _library().wavepool_make_at(array, places.ctypes.data, places.size, made.ctypes.data)
    return made


def digest_of(outputs: Iterable[tuple[int, NDArray[Any]]], link_key: int) -> tuple[int, int]:
    """The digest of a link's outputs, each with its place in the signature."""
    state = (link_key, mixed(link_key))
    for argument, output in outputs:
        for half in _state_of(np.ascontiguousarray(output), mixed(link_key ^ mixed(argument + 1))):
            state = _fold(state, half)
    return mixed((state[0] + state[1]) & _MASK), mixed(state[1] ^ _rotated(state[0], 32))


def draw_rule(recipe: AnyRecipe) -> LinkRule:
    """Returns the rule by which a device draws values of a recipe.

    For floats, one number has kind, octaves, form, bits of a row's length and limit; the other has scale and spike. A
    sum of four uniform numbers of 32 bits takes the place of a normal one, because its bits are the same on every
    device.
    """
    if isinstance(recipe, Whole):
        return LinkRule(RuleKind.INTEGERS, recipe.low, recipe.count)
    if isinstance(recipe, Codes):
        return LinkRule(RuleKind.CODES, recipe.mask, recipe.bits << 8 | recipe.nan)
    if isinstance(recipe, Blocks):
        signs = int(recipe.signed) << 16
        return LinkRule(RuleKind.BLOCKS, recipe.lowest | recipe.count << 8 | signs, recipe.length)
    kind = _DRAW_KINDS.get(recipe.kind, _DRAWS_SUMS)
    scale = recipe.scale / _DEVIATION_OF_SUM if kind == _DRAWS_SUMS else recipe.scale
    limit, length_bits = _float_bits(recipe.limit), max(0, 2 * recipe.turned_rows - 1).bit_length()
    return LinkRule(
        RuleKind.DRAW,
        kind | round(recipe.octaves) << 8 | (_FORMS.index(recipe.form) << 16) | length_bits << 24 | limit << 32,
        _float_bits(scale) | _float_bits(recipe.spike) << 32,
    )


def _array(base: NDArray[Any], rule: LinkRule, link_key: int, argument: int) -> _Array:
    first = rule.first & _MASK
    return _Array(rule.kind, base.itemsize, first, rule.second, link_key, argument, base.nbytes, base.ctypes.data)


def _state_of(data: NDArray[Any], key: int) -> tuple[int, int]:
    level, size = 0, data.nbytes
    while True:
        strips = max(1, -(-size // (_WORD_BYTES * _STRIP_WORDS)))
        states = np.empty(2 * strips, np.uint64)
        level_key = mixed((key + size * _GOLDEN + level) & _MASK)
        level_of = (data.ctypes.data, size, level_key, strips)

        def fold(first: int, level_of: tuple[int, int, int, int] = level_of, states: NDArray[Any] = states) -> None:
            last = min(first + _STRIPS_OF_A_THREAD, level_of[-1])
            _library().wavepool_fold_strips(*level_of, first, last, states.ctypes.data)

        on_threads(fold, range(0, strips, _STRIPS_OF_A_THREAD))
        if strips == 1:
            return int(states[0]), int(states[1])
        data, level, size = states, level + 1, states.nbytes


def _fold(state: tuple[int, int], word: int) -> tuple[int, int]:
    x = ((state[0] ^ word) * _FIRST) & _MASK
    x ^= x >> 32
    first = (x + _rotated(state[1], 27)) & _MASK
    second = ((_rotated((state[1] + word) & _MASK, 31) * _SECOND) & _MASK) ^ x
    return first, second


def _rotated(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def _float_bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))
