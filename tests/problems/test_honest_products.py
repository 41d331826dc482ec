"""Matrix products as people write them: one fp32 accumulator per element, or numpy's own blocks of them."""

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


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """All sums side by side, each one in order."""
    total = np.zeros((a.shape[0], b.shape[1]), F)
    for column, row in zip(a.T, b, strict=True):
        total += column[:, None] * row
    return total


def swish(z: NDArray[Any]) -> NDArray[Any]:
    return z * (F(1) / (F(1) + np.exp2((-z * F(1.4426950408889634)).astype(F))))


def linear(v: Inputs) -> NDArray[Any]:
    return product(v["input_matrix"], v["weight_matrix"].T) + v["bias"]


def leaky_product(v: Inputs) -> NDArray[Any]:
    z = product(v["A"], v["B"]) * v["C"]
    return np.where(z > 0, z, F(v["alpha"]) * z)


def sigmoid_sum(v: Inputs) -> NDArray[Any]:
    z = product(v["A"], v["B"])
    return np.cumsum((F(1) / (F(1) + np.exp(-z))).reshape(-1), dtype=F)[-1:]


def power_by_factors(v: Inputs) -> NDArray[Any]:
    power = v["input_matrix"]
    for _ in range(v["n"] - 1):
        power = product(power, v["input_matrix"])
    return power


def power_by_squares(v: Inputs) -> NDArray[Any]:
    return np.linalg.matrix_power(v["input_matrix"], v["n"])


HONEST: list[tuple[str, Answer]] = [
    ("square-matmul", lambda v: product(v["input_a"], v["input_b"])),
    ("symmetric-matmul", lambda v: product(v["input_a"], v["input_b"].T)),
    ("lower-trig-matmul", lambda v: np.tril(product(v["input_a"], v["input_b"]))),
    ("upper-trig-matmul", lambda v: np.triu(v["input_a"] @ v["input_b"])),
    ("diagonal-matmul", lambda v: v["diagonal_a"][:, None] * v["input_b"]),
    ("matmul-3d", lambda v: np.stack([product(a, v["B"]) for a in v["A"]])),
    ("matmul-4d", lambda v: np.einsum("bijl,lk->bijk", v["A"], v["B"])),
    ("gemm-relu", lambda v: np.maximum(product(v["A"], v["W"].T) + v["b"], F(0))),
    ("gemm-multiply-leakyrelu", leaky_product),
    ("matmul-swish", lambda v: F(v["scaling_factor"]) * swish(linear(v))),
    ("matmul-swish-scaling", lambda v: F(v["scale"]) * swish(product(v["A"], v["B"]))),
    ("matmul-sigmoid-sum", sigmoid_sum),
    ("matrix-power", power_by_factors),
    ("matrix-power", power_by_squares),
]


def coarse(v: Inputs) -> Inputs:
    """Inputs as seen by a kernel that converts to bfloat16."""
    return {
        name: value.astype(ml_dtypes.bfloat16).astype(F) if isinstance(value, np.ndarray) else value
        for name, value in v.items()
    }


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_honest_products_pass(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    assert wrong_cases(catalogue, slug, answer) == []


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_products_of_bfloat16_fail(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    problem = catalogue.get(slug).problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert any(mismatches(call, lambda v: answer(coarse(v))) > 0 for call in calls)
