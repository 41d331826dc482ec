"""Reductions, norms and scans as people write them: one fp32 addition or product after another."""

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


def running_sum(terms: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """Sums with one fp32 accumulator: `cumsum` adds in order; `sum` would add in pairs."""
    return np.expand_dims(np.take(np.cumsum(terms, axis=axis, dtype=F), -1, axis=axis), axis)


def argmin(v: Inputs) -> NDArray[Any]:
    x, dim = v["input"], v["dim"]
    best, where = np.take(x, 0, dim), np.zeros(np.take(x, 0, dim).shape, np.int32)
    for i in range(1, x.shape[dim]):
        value = np.take(x, i, dim)
        where = np.where(value < best, np.int32(i), where)
        best = np.minimum(value, best)
    return np.expand_dims(where, dim).astype(np.int32)


def product(v: Inputs) -> NDArray[Any]:
    total = np.ones_like(np.take(v["input"], [0], v["dim"]))
    for i in range(v["input"].shape[v["dim"]]):
        total = total * np.take(v["input"], [i], v["dim"])
    return total


def l1_norm(v: Inputs) -> NDArray[Any]:
    return v["X"] / (running_sum(np.abs(v["X"])) + F(1e-10))


def l2_norm(v: Inputs) -> NDArray[Any]:
    return v["X"] * (F(1) / (np.sqrt(running_sum(v["X"] * v["X"])) + F(1e-10)))


def rms_norm(v: Inputs) -> NDArray[Any]:
    return v["X"] / np.sqrt(running_sum(v["X"] * v["X"]) / F(v["N"]) + F(1e-5))


def log_softmax(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    largest = x.max(axis=1, keepdims=True)
    return x - (largest + np.log(running_sum(np.exp(x - largest))))


def batch_norm(v: Inputs) -> NDArray[Any]:
    features = np.moveaxis(v["X"], 1, 0)
    x = features.reshape(v["F"], -1)
    n = F(x.shape[1])
    mean = running_sum(x) / n
    variance = running_sum(x * x) / n - mean * mean
    scaled = (x - mean) / np.sqrt(variance + F(1e-5))
    return np.moveaxis(scaled.reshape(features.shape), 0, 1)


HONEST: list[tuple[str, Answer]] = [
    ("argmin", argmin),
    ("max-dim", lambda v: np.maximum.reduce(v["input"], axis=v["dim"], keepdims=True)),
    ("min-dim", lambda v: np.sort(v["input"], axis=v["dim"]).take([0], axis=v["dim"])),
    ("mean-dim", lambda v: running_sum(v["input"], v["dim"]) / F(v["input"].shape[v["dim"]])),
    ("mean-dim", lambda v: running_sum(v["input"] * F(1 / v["input"].shape[v["dim"]]), v["dim"])),
    ("product-dim", product),
    ("l1-norm", l1_norm),
    ("l2-norm", l2_norm),
    ("rms-norm", rms_norm),
    ("frobenius-norm", lambda v: v["X"] / np.sqrt(running_sum(v["X"] * v["X"]))),
    ("log-softmax", log_softmax),
    ("batch-norm", batch_norm),
]
CHEAP: list[tuple[str, Answer]] = [
    ("mean-dim", lambda v: v["input"].astype(np.float16).mean(axis=v["dim"], keepdims=True).astype(F)),
    ("product-dim", lambda v: np.abs(product(v))),
    ("l1-norm", lambda v: v["X"] / v["X"].sum(axis=1, keepdims=True)),
    ("l2-norm", lambda v: l2_norm({"X": v["X"].astype(ml_dtypes.bfloat16).astype(F)})),
    ("rms-norm", lambda v: v["X"] / v["X"].std(axis=1, keepdims=True)),
    ("frobenius-norm", lambda v: v["X"] / np.abs(v["X"]).max()),
    ("log-softmax", lambda v: np.log(np.exp(v["input"].astype(np.float16)).astype(F)) - F(1)),
    ("batch-norm", lambda v: v["X"] - v["X"].mean(axis=(0, 2, 3), keepdims=True)),
]


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_honest_reductions_pass(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    assert wrong_cases(catalogue, slug, answer) == []


@pytest.mark.parametrize(("slug", "answer"), CHEAP)
def test_cheaper_reductions_fail(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    problem = catalogue.get(slug).problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert all(mismatches(call, answer) > 0 for call in calls[:2])
