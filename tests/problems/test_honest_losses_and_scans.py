"""Losses and scans as people write them in fp32: one operation after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from problems.library.lazy import Call
from tests.problems.honest import Inputs, mismatches, wrong_cases

Answer = Callable[[Inputs], NDArray[Any]]

F = np.float32


def running_sum(terms: NDArray[Any]) -> NDArray[Any]:
    return np.cumsum(terms, axis=-1, dtype=F)[..., -1]


def huber_by_branches(v: Inputs) -> NDArray[Any]:
    d = v["predictions"] - v["targets"]
    size = np.abs(d)
    return np.where(size <= 1, F(0.5) * d * d, size - F(0.5))


def kl_with_clamps(v: Inputs) -> NDArray[Any]:
    p, t = (np.maximum(v[name], F(1e-10)) for name in ("predictions", "targets"))
    return t * (np.log(t) - np.log(p))


def kl_by_quotient(v: Inputs) -> NDArray[Any]:
    p, t = v["predictions"], v["targets"]
    return np.where(t > 0, t * np.log(np.where(t > 0, t, F(1)) / (p + F(1e-10))), F(0))


def kl_with_shifts(v: Inputs) -> NDArray[Any]:
    p, t = (v[name] + F(1e-10) for name in ("predictions", "targets"))
    return t * (np.log(t) - np.log(p))


def mse_by_one_thread(v: Inputs) -> NDArray[Any]:
    squares = np.square(v["predictions"] - v["targets"]).reshape(-1)
    return (running_sum(squares) / F(squares.size)).reshape(1)


def mse(v: Inputs) -> NDArray[Any]:
    # As threads do: each sums its share, and then the sums are added.
    squares = np.square(v["predictions"] - v["targets"]).reshape(-1)
    shares = np.array([running_sum(squares[start::256]) for start in range(256)])
    return (running_sum(shares) / F(squares.size)).reshape(1)


def triplet(v: Inputs, shift: float) -> NDArray[Any]:
    near, far = (np.sqrt(running_sum(np.square(v["anchor"] - v[name] + F(shift)))) for name in ("positive", "negative"))
    return (running_sum(np.maximum(near - far + F(v["margin"]), F(0))) / F(v["B"])).reshape(1)


def cosine(v: Inputs) -> NDArray[Any]:
    p, t = v["predictions"], v["targets"]
    lengths = np.sqrt(running_sum(p * p)) * np.sqrt(running_sum(t * t))
    return F(1) - running_sum(p * t) / np.maximum(lengths, F(1e-8))


def cumprod_in_blocks(v: Inputs) -> NDArray[Any]:
    blocks = np.array_split(v["input"], 300)
    before = np.cumprod([1, *(np.multiply.reduce(block, dtype=F) for block in blocks)], dtype=F)
    return np.concatenate([carry * np.cumprod(block, dtype=F) for carry, block in zip(before, blocks, strict=False)])


def windows(v: Inputs) -> NDArray[Any]:
    padded = np.pad(v["input"], v["W"] // 2)
    return np.lib.stride_tricks.sliding_window_view(padded, v["W"])


def prefix_differences(v: Inputs) -> NDArray[Any]:
    prefix = np.cumsum(np.pad(v["input"], (v["W"] // 2 + 1, v["W"] // 2)), dtype=F)
    return prefix[v["W"] :] - prefix[: -v["W"]]


HONEST: list[tuple[str, Answer]] = [
    ("hinge-loss", lambda v: np.maximum(F(0), F(1) - v["targets"] * v["predictions"])),
    ("huber-loss", huber_by_branches),
    ("kl-loss", kl_with_clamps),
    ("kl-loss", kl_by_quotient),
    ("kl-loss", kl_with_shifts),
    ("mse-loss", mse),
    ("mse-loss", mse_by_one_thread),
    ("triplet-margin", lambda v: triplet(v, 0.0)),
    ("triplet-margin", lambda v: triplet(v, 1e-6)),
    ("cosine-similarity", cosine),
    ("cumprod", lambda v: np.cumprod(v["input"], dtype=F)),
    ("cumprod", cumprod_in_blocks),
    ("running-sum-1d", lambda v: running_sum(windows(v))),
    ("running-sum-1d", lambda v: windows(v).sum(axis=1, dtype=F)),
]
CHEAP: list[tuple[str, Answer]] = [
    ("hinge-loss", lambda v: F(1) - v["targets"] * v["predictions"]),
    ("huber-loss", lambda v: np.abs(v["predictions"] - v["targets"])),
    ("kl-loss", lambda v: v["targets"] - v["predictions"]),
    ("mse-loss", lambda v: F(0.999) * mse(v)),
    ("triplet-margin", lambda v: triplet(v, 0.0) + F(v["margin"] / v["B"])),
    ("cosine-similarity", lambda v: F(1) - cosine(v)),
    ("cumprod", lambda v: np.cumprod(v["input"].astype(ml_dtypes.bfloat16).astype(F), dtype=F)),
    ("running-sum-1d", lambda v: running_sum(windows(v)[:, 1:])),
]


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_honest_losses_and_scans_pass(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    assert wrong_cases(catalogue, slug, answer) == []


@pytest.mark.parametrize(("slug", "answer"), CHEAP)
def test_cheaper_losses_and_scans_fail(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    problem = catalogue.get(slug).problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert all(mismatches(call, answer) > 0 for call in calls[:2])


def test_differences_of_prefix_sums_lose_too_many_digits(catalogue: Catalogue) -> None:
    problem = catalogue.get("running-sum-1d").problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert any(mismatches(call, prefix_differences) > 0 for call in calls)
