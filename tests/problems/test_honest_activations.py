"""Activations as people write them in fp32, with the exponential as the hardware computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from problems.library.lazy import Call
from tests.problems.honest import Inputs, mismatches, wrong_cases

Answer = Callable[[Inputs], NDArray[Any]]

F = np.float32
SELU_ALPHA, SELU_SCALE = F(1.6732632), F(1.0507010)


def fast_exp(x: NDArray[Any]) -> NDArray[Any]:
    """Two to the power of x times log2(e), both rounded to fp32."""
    return np.exp2((x * F(1.4426950408889634)).astype(F))


def elu_by_difference(v: Inputs) -> NDArray[Any]:
    return np.where(v["input"] > 0, v["input"], F(v["alpha"]) * (fast_exp(v["input"]) - F(1)))


def selu_by_difference(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    return SELU_SCALE * (np.maximum(x, F(0)) + np.minimum(F(0), SELU_ALPHA * (fast_exp(x) - F(1))))


def selu_by_published_constants(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    return F(1.0507) * (np.maximum(x, F(0)) + np.minimum(F(0), F(1.67326) * (fast_exp(x) - F(1))))


def softplus_in_two_branches(v: Inputs) -> NDArray[Any]:
    return np.where(v["input"] > 20, v["input"], np.log(F(1) + fast_exp(v["input"])))


def tanh_by_exponentials(v: Inputs) -> NDArray[Any]:
    up, down = fast_exp(v["input"]), fast_exp(-v["input"])
    return (up - down) / (up + down)


HONEST: list[tuple[str, Answer]] = [
    ("elu", elu_by_difference),
    ("elu", lambda v: np.where(v["input"] > 0, v["input"], F(v["alpha"]) * np.expm1(v["input"]))),
    ("selu", selu_by_difference),
    ("selu", selu_by_published_constants),
    ("selu", lambda v: F(1.0507) * np.where(v["input"] > 0, v["input"], F(1.67326) * np.expm1(v["input"]))),
    ("soft-plus", lambda v: np.log(F(1) + fast_exp(v["input"]))),
    ("soft-plus", softplus_in_two_branches),
    ("swish", lambda v: v["input"] * (F(1) / (F(1) + fast_exp(-v["input"])))),
    ("tanh", lambda v: np.tanh(v["input"])),
    ("tanh", tanh_by_exponentials),
    ("tanh", lambda v: F(2) / (F(1) + fast_exp(F(-2) * v["input"])) - F(1)),
    ("hard-sigmoid", lambda v: np.minimum(np.maximum((v["input"] + F(3)) / F(6), F(0)), F(1))),
    ("hard-sigmoid", lambda v: np.clip(v["input"] * F(1 / 6) + F(0.5), F(0), F(1))),
    ("matrix-scalar", lambda v: F(v["scalar"]) * v["input_matrix"]),
    ("threshold", lambda v: np.where(v["input_image"] >= v["threshold_value"], F(255), F(0))),
]
CHEAP: list[tuple[str, Answer]] = [
    ("elu", lambda v: np.maximum(v["input"], F(0))),
    ("selu", lambda v: F(1.05) * np.where(v["input"] > 0, v["input"], F(1.67) * np.expm1(v["input"]))),
    ("soft-plus", lambda v: np.maximum(v["input"], F(0))),
    ("swish", lambda v: v["input"] * np.clip((v["input"] + F(3)) / F(6), F(0), F(1))),
    ("tanh", lambda v: np.clip(v["input"] - v["input"] ** 3 / F(3), F(-1), F(1))),
    ("hard-sigmoid", lambda v: np.clip(F(0.2) * v["input"] + F(0.5), F(0), F(1))),
]


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_honest_activations_pass(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    assert wrong_cases(catalogue, slug, answer) == []


@pytest.mark.parametrize(("slug", "answer"), CHEAP)
def test_cheaper_functions_fail(catalogue: Catalogue, slug: str, answer: Answer) -> None:
    problem = catalogue.get(slug).problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert all(mismatches(call, answer) > 0 for call in calls[:2])
