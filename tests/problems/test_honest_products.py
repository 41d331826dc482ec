"""Matrix products as people write them: one fp32 accumulator per element, or numpy's own blocks of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.problems.honest import (
    Answer,
    F,
    Inputs,
    are_right,
    fail,
    product,
    running_sum,
    sigmoid,
    to_bfloat16,
)


def swish(z: NDArray[Any]) -> NDArray[Any]:
    return z * sigmoid(z)


def linear(v: Inputs) -> NDArray[Any]:
    return product(v["input_matrix"], v["weight_matrix"].T) + v["bias"]


def leaky_product(v: Inputs) -> NDArray[Any]:
    z = product(v["A"], v["B"]) * v["C"]
    return np.where(z > 0, z, F(v["alpha"]) * z)


def power_by_factors(v: Inputs) -> NDArray[Any]:
    power = v["input_matrix"]
    for _ in range(v["n"] - 1):
        power = product(power, v["input_matrix"])
    return power


def accumulated_in_bfloat16(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    total = np.zeros((a.shape[0], b.shape[1]), F)
    for column, row in zip(a.T, b, strict=True):
        total = to_bfloat16(total + column[:, None] * row)
    return total


def coarsely(answer: Answer) -> Answer:
    """The answer of a kernel that converts its inputs to bfloat16."""

    def coarse(v: Inputs) -> Any:
        return answer(
            {name: to_bfloat16(value) if isinstance(value, np.ndarray) else value for name, value in v.items()}
        )

    return coarse


PRODUCTS: list[tuple[str, Answer]] = [
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
    ("matmul-sigmoid-sum", lambda v: running_sum(F(1) / (F(1) + np.exp(-product(v["A"], v["B"]))).reshape(-1))),
    ("matrix-power", power_by_factors),
    ("matrix-power", lambda v: np.linalg.matrix_power(v["input_matrix"], v["n"])),
]

test_honest_products = are_right(
    *PRODUCTS,
    ("matrix-vector", lambda v: product(v["input_a"], v["input_b"][:, None])[:, 0]),
    ("matrix-multiplication", lambda v: product(v["input_a"], v["input_b"])),
    ("matrix-multiplication", lambda v: v["input_a"] @ v["input_b"]),
)
test_products_of_inputs_in_bfloat16 = fail(*((slug, 1, coarsely(answer)) for slug, answer in PRODUCTS))
test_cheaper_products = fail(
    ("matrix-vector", 1, lambda v: accumulated_in_bfloat16(v["input_a"], v["input_b"][:, None])[:, 0]),
    ("matrix-multiplication", 1, lambda v: accumulated_in_bfloat16(v["input_a"], v["input_b"])),
)
