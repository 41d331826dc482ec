"""Attention as people write it: piece by piece, or without subtracting a maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

F = np.float32
PIECE = 16


def scores(v: Inputs) -> NDArray[Any]:
    """One running fp32 sum of products for each pair."""
    total = np.zeros((v["B"], v["H"], v["S"], v["S"]), F)
    for i in range(v["E"]):
        total += v["Q"][..., i, None] * v["K"][..., None, :, i]
    return total * F(1 / np.sqrt(v["E"]))


def running(v: Inputs, s: NDArray[Any]) -> NDArray[Any]:
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


def plain(v: Inputs, s: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(s)
    return (powers / powers.sum(axis=-1, keepdims=True)) @ v["V"]


def test_attention_in_pieces_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "scaled-dot-attention", lambda v: running(v, scores(v))) == []


def test_attention_without_a_maximum_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "scaled-dot-attention", lambda v: plain(v, scores(v))) == []


def test_scores_that_are_not_scaled_are_wrong(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "scaled-dot-attention", lambda v: running(v, scores(v) * F(1.01)))) == 10


def test_scores_of_half_precision_are_wrong(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        return running(v, scores(v).astype(np.float16).astype(F))

    assert len(wrong_cases(catalogue, "scaled-dot-attention", answer)) > 5


def test_a_causal_mask_is_wrong(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        hidden = np.triu(np.ones((v["S"], v["S"]), np.bool_), 1)
        return running(v, np.where(hidden, F(-1e30), scores(v)))

    assert len(wrong_cases(catalogue, "scaled-dot-attention", answer)) == 10
