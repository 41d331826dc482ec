"""Attention as people write it: piece by piece, or without subtracting a maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.problems.honest import F, Inputs, are_right, fail, to_half

PIECE = 16


def scores(v: Inputs) -> NDArray[Any]:
    """One running fp32 sum of products for each pair."""
    total = np.zeros((v["B"], v["H"], v["S"], v["S"]), F)
    for i in range(v["E"]):
        total += v["Q"][..., i, None] * v["K"][..., None, :, i]
    return total * F(1 / np.sqrt(v["E"]))


def in_pieces(v: Inputs, s: NDArray[Any]) -> NDArray[Any]:
    """Grows the weights and their sum by a few keys at a time."""
    largest = np.full((*s.shape[:-1], 1), -np.inf, F)
    weights, total = np.zeros_like(largest), np.zeros_like(v["V"])
    for first in range(0, v["S"], PIECE):
        piece, values = s[..., first : first + PIECE], v["V"][..., first : first + PIECE, :]
        peak = np.maximum(largest, piece.max(axis=-1, keepdims=True))
        powers = np.exp2((piece - peak) * F(np.log2(np.e)))
        kept = np.exp2((largest - peak) * F(np.log2(np.e)))
        weights = weights * kept + powers.sum(axis=-1, keepdims=True, dtype=F)
        total = total * kept + powers @ values
        largest = peak
    return total / weights


def without_a_maximum(v: Inputs) -> NDArray[Any]:
    powers = np.exp(scores(v))
    return (powers / powers.sum(axis=-1, keepdims=True)) @ v["V"]


def with_a_causal_mask(v: Inputs) -> NDArray[Any]:
    hidden = np.triu(np.ones((v["S"], v["S"]), np.bool_), 1)
    return in_pieces(v, np.where(hidden, F(-1e30), scores(v)))


test_honest_attention = are_right(
    ("scaled-dot-attention", lambda v: in_pieces(v, scores(v))),
    ("scaled-dot-attention", without_a_maximum),
)
test_other_scores = fail(
    ("scaled-dot-attention", 10, lambda v: in_pieces(v, scores(v) * F(1.01))),
    ("scaled-dot-attention", 6, lambda v: in_pieces(v, to_half(scores(v)))),
    ("scaled-dot-attention", 10, with_a_causal_mask),
)
