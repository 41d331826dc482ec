"""Sums, activations and losses of single elements as people write them, with the hardware's exponential."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.problems.honest import F, Inputs, are_right, fail, fast_exp, sigmoid

SELU_ALPHA, SELU_SCALE = F(1.6732632), F(1.0507010)


def gelu_tanh(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    inner = F(sqrt(2 / pi)) * (x + F(0.044715) * x * x * x)
    return F(0.5) * x * (F(1) + np.tanh(inner))


def gelu_erf(v: Inputs) -> NDArray[Any]:
    from scipy.special import erf  # noqa: PLC0415 - only this test needs it

    x = v["input"]
    return F(0.5) * x * (F(1) + np.asarray(erf(x * F(sqrt(0.5))), F))


def selu_by_difference(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    return SELU_SCALE * (np.maximum(x, F(0)) + np.minimum(F(0), SELU_ALPHA * (fast_exp(x) - F(1))))


def selu_by_published_constants(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    return F(1.0507) * (np.maximum(x, F(0)) + np.minimum(F(0), F(1.67326) * (fast_exp(x) - F(1))))


def tanh_by_exponentials(v: Inputs) -> NDArray[Any]:
    up, down = fast_exp(v["input"]), fast_exp(-v["input"])
    return (up - down) / (up + down)


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


test_honest_elements = are_right(
    ("vector-addition", lambda v: v["d_input1"] + v["d_input2"]),
    ("relu", lambda v: np.maximum(v["input"], F(0))),
    ("leaky-relu", lambda v: np.where(v["input"] > 0, v["input"], F(v["alpha"]) * v["input"])),
    ("sigmoid", lambda v: sigmoid(v["input"])),
    ("gelu", gelu_tanh),
    ("gelu", gelu_erf),
    ("elu", lambda v: np.where(v["input"] > 0, v["input"], F(v["alpha"]) * (fast_exp(v["input"]) - F(1)))),
    ("elu", lambda v: np.where(v["input"] > 0, v["input"], F(v["alpha"]) * np.expm1(v["input"]))),
    ("selu", selu_by_difference),
    ("selu", selu_by_published_constants),
    ("selu", lambda v: F(1.0507) * np.where(v["input"] > 0, v["input"], F(1.67326) * np.expm1(v["input"]))),
    ("soft-plus", lambda v: np.log(F(1) + fast_exp(v["input"]))),
    ("soft-plus", lambda v: np.where(v["input"] > 20, v["input"], np.log(F(1) + fast_exp(v["input"])))),
    ("swish", lambda v: v["input"] * sigmoid(v["input"])),
    ("tanh", lambda v: np.tanh(v["input"])),
    ("tanh", tanh_by_exponentials),
    ("tanh", lambda v: F(2) / (F(1) + fast_exp(F(-2) * v["input"])) - F(1)),
    ("hard-sigmoid", lambda v: np.minimum(np.maximum((v["input"] + F(3)) / F(6), F(0)), F(1))),
    ("hard-sigmoid", lambda v: np.clip(v["input"] * F(1 / 6) + F(0.5), F(0), F(1))),
    ("matrix-scalar", lambda v: F(v["scalar"]) * v["input_matrix"]),
    ("threshold", lambda v: np.where(v["input_image"] >= v["threshold_value"], F(255), F(0))),
    ("hinge-loss", lambda v: np.maximum(F(0), F(1) - v["targets"] * v["predictions"])),
    ("huber-loss", huber_by_branches),
    ("kl-loss", kl_with_clamps),
    ("kl-loss", kl_by_quotient),
    ("kl-loss", kl_with_shifts),
)
test_cheaper_functions = fail(
    ("gelu", 1, lambda v: v["input"] * sigmoid(F(1.702) * v["input"])),
    ("elu", 2, lambda v: np.maximum(v["input"], F(0))),
    ("selu", 2, lambda v: F(1.05) * np.where(v["input"] > 0, v["input"], F(1.67) * np.expm1(v["input"]))),
    ("soft-plus", 2, lambda v: np.maximum(v["input"], F(0))),
    ("swish", 2, lambda v: v["input"] * np.clip((v["input"] + F(3)) / F(6), F(0), F(1))),
    ("tanh", 2, lambda v: np.clip(v["input"] - v["input"] ** 3 / F(3), F(-1), F(1))),
    ("hard-sigmoid", 2, lambda v: np.clip(F(0.2) * v["input"] + F(0.5), F(0), F(1))),
    ("hinge-loss", 2, lambda v: F(1) - v["targets"] * v["predictions"]),
    ("huber-loss", 2, lambda v: np.abs(v["predictions"] - v["targets"])),
    ("kl-loss", 2, lambda v: v["targets"] - v["predictions"]),
)
