"""Fp32 implementations as people write them, one addition after another, pass; cheaper arithmetic does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi, prod, sqrt
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import SizeSet
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call

F = np.float32
Inputs = dict[str, Any]


def to_bfloat16(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(ml_dtypes.bfloat16).astype(F)


def running_sum(terms: NDArray[Any], axis: int) -> NDArray[Any]:
    """Sums with one fp32 accumulator: `cumsum` adds in order; `sum` would add in pairs."""
    return np.take(np.cumsum(terms, axis=axis, dtype=F), -1, axis=axis)


def fast_exp(x: NDArray[Any]) -> NDArray[Any]:
    """The hardware's exponential: two to the power of x times log2(e), both rounded to fp32."""
    return np.exp2((x * F(1.4426950408889634)).astype(F))


def sigmoid(v: Inputs) -> NDArray[Any]:
    return F(1) / (F(1) + fast_exp(-v["input"]))


def leaky_relu(v: Inputs) -> NDArray[Any]:
    x: NDArray[Any] = v["input"]
    return np.where(x > 0, x, F(v["alpha"]) * x)


def gelu_tanh(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    inner = F(sqrt(2 / pi)) * (x + F(0.044715) * x * x * x)
    return F(0.5) * x * (F(1) + np.tanh(inner))


def gelu_erf(v: Inputs) -> NDArray[Any]:
    from scipy.special import erf  # noqa: PLC0415 - only this test needs it

    x = v["input"]
    return F(0.5) * x * (F(1) + np.asarray(erf(x * F(sqrt(0.5))), F))


def gelu_sigmoid(v: Inputs) -> NDArray[Any]:
    return v["input"] * sigmoid({"input": F(1.702) * v["input"]})


def product(v: Inputs) -> NDArray[Any]:
    a, b = v["input_a"], v["input_b"].reshape(v["input_a"].shape[1], -1)
    total = np.zeros((a.shape[0], b.shape[1]), F)
    for column, row in zip(a.T, b, strict=True):
        total += column[:, None] * row
    return total if v["input_b"].ndim == 2 else total[:, 0]


def product_in_bfloat16(v: Inputs) -> NDArray[Any]:
    a, b = v["input_a"], v["input_b"].reshape(v["input_a"].shape[1], -1)
    total = np.zeros((a.shape[0], b.shape[1]), F)
    for column, row in zip(a.T, b, strict=True):
        total = to_bfloat16(total + column[:, None] * row)
    return total if v["input_b"].ndim == 2 else total[:, 0]


def softmax(v: Inputs) -> NDArray[Any]:
    x, dim = v["input"], v["dim"]
    powers = fast_exp(x - x.max(axis=dim, keepdims=True))
    return powers * (F(1) / np.expand_dims(running_sum(powers, dim), dim))


def sum_dim(v: Inputs) -> NDArray[Any]:
    return np.expand_dims(running_sum(v["input"], v["dim"]), v["dim"])


def argmax(v: Inputs) -> NDArray[Any]:
    x, dim = v["input"], v["dim"]
    best, where = np.take(x, 0, dim), np.zeros(np.take(x, 0, dim).shape, np.int32)
    for i in range(1, x.shape[dim]):
        value = np.take(x, i, dim)
        where = np.where(value > best, i, where)
        best = np.maximum(value, best)
    return np.expand_dims(where, dim).astype(np.int32)


def cumsum_of_blocks(v: Inputs) -> NDArray[Any]:
    blocks = np.array_split(v["input"], 300)
    before = np.cumsum([0, *(block.sum(dtype=F) for block in blocks)], dtype=F)
    return np.concatenate([carry + np.cumsum(block, dtype=F) for carry, block in zip(before, blocks, strict=False)])


def histogram(v: Inputs) -> NDArray[Any]:
    counts = np.zeros(v["num_bins"], F)
    np.add.at(counts, v["image"].astype(np.int32).reshape(-1), F(1))
    return counts


def conv_1d(v: Inputs) -> NDArray[Any]:
    # numpy would swap the two if the filter were longer than the signal.
    padded = np.pad(v["A"], v["K"] // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, v["K"])
    return np.concatenate([running_sum(part * v["B"], 1) for part in np.array_split(windows, 16)])


def conv_2d(v: Inputs) -> NDArray[Any]:
    padded = np.pad(v["A"], ((v["Kh"] // 2,) * 2, (v["Kw"] // 2,) * 2))
    total = np.zeros_like(v["A"])
    for y in range(v["Kh"]):
        for x in range(v["Kw"]):
            total += padded[y : y + v["H"], x : x + v["W"]] * v["B"][y, x]
    return total


def max_pool_2d(v: Inputs) -> NDArray[Any]:
    from scipy.ndimage import maximum_filter  # noqa: PLC0415 - only this test needs it

    side, reach = v["kernel_size"], v["dilation"] * (v["kernel_size"] - 1) + 1
    footprint = np.zeros((reach, reach), np.bool_)
    footprint[:: v["dilation"], :: v["dilation"]] = True
    assert footprint.sum() == side * side
    padded = np.pad(v["input"], v["padding"], constant_values=-np.inf)
    # The filter looks around a pixel; a window starts at one.
    origin = -((reach - 1) // 2) if reach % 2 else -(reach // 2)
    best = maximum_filter(padded, footprint=footprint, origin=origin, mode="constant", cval=-np.inf)
    rows, columns = padded.shape[0] - reach + 1, padded.shape[1] - reach + 1
    return best[: rows : v["stride"], : columns : v["stride"]]


def layer_norm(v: Inputs) -> NDArray[Any]:
    x = v["X"].reshape(v["B"], -1)
    n = F(x.shape[1])
    mean, mean_square = running_sum(x, 1)[:, None] / n, running_sum(x * x, 1)[:, None] / n
    scaled = (x - mean) / np.sqrt(mean_square - mean * mean + F(1e-5))
    return (scaled * v["gamma"].reshape(-1) + v["beta"].reshape(-1)).reshape(v["X"].shape)


HONEST: list[tuple[str, Callable[[Inputs], NDArray[Any]]]] = [
    ("vector-addition", lambda v: v["d_input1"] + v["d_input2"]),
    ("relu", lambda v: np.maximum(v["input"], F(0))),
    ("leaky-relu", leaky_relu),
    ("sigmoid", sigmoid),
    ("gelu", gelu_tanh),
    ("gelu", gelu_erf),
    ("matrix-vector", product),
    ("matrix-multiplication", product),
    ("matrix-multiplication", lambda v: v["input_a"] @ v["input_b"]),
    ("softmax", softmax),
    ("sum-dim", sum_dim),
    ("argmax", argmax),
    ("cumsum", lambda v: np.cumsum(v["input"], dtype=F)),
    ("cumsum", cumsum_of_blocks),
    ("histogram", histogram),
    ("conv-1d", conv_1d),
    ("conv-2d", conv_2d),
    ("max-pool-2d", max_pool_2d),
    ("layer-norm", layer_norm),
]
CHEAP: list[tuple[str, Callable[[Inputs], NDArray[Any]]]] = [
    ("gelu", gelu_sigmoid),
    ("matrix-multiplication", product_in_bfloat16),
    ("matrix-vector", product_in_bfloat16),
    ("softmax", lambda v: to_bfloat16(softmax(v))),
    ("sum-dim", lambda v: sum_dim({**v, "input": np.float16(0.99) * v["input"]})),
    ("layer-norm", lambda v: v["X"] * v["gamma"] + v["beta"]),
]


def mismatches_of(call: Call, answer: Callable[[Inputs], NDArray[Any]]) -> int:
    (name,) = call.problem.outputs
    with np.errstate(all="ignore"):  # a naive exponential may overflow on its way to 0
        actual = answer(dict(call.inputs))
    expected: Mapping[str, NDArray[Any]] = call.expected
    condition = call.problem.condition(call.case, call.inputs, expected)[name]
    assert actual.dtype == next(p.dtype for p in call.problem.parameters if p.output)
    return compare(actual, expected[name], condition, call.problem.tolerance).mismatches


@pytest.mark.parametrize(("slug", "answer"), HONEST)
def test_honest_fp32_answers_pass_public_and_hidden_cases(
    catalogue: Catalogue, slug: str, answer: Callable[[Inputs], NDArray[Any]]
) -> None:
    problem = catalogue.get(slug).problem
    hidden = [problem.hidden_case(SizeSet.CPU, np.random.default_rng(seed)) for seed in range(8)]
    for case in (*problem.sizes.cpu, *hidden):
        call = Call.draw(problem, case, np.random.default_rng(prod(case.name.encode()) % 2**32))
        assert mismatches_of(call, answer) == 0, case.name


@pytest.mark.parametrize(("slug", "answer"), CHEAP)
def test_cheaper_arithmetic_fails(catalogue: Catalogue, slug: str, answer: Callable[[Inputs], NDArray[Any]]) -> None:
    problem = catalogue.get(slug).problem
    calls = [Call.draw(problem, case, np.random.default_rng(4)) for case in problem.sizes.cpu]
    assert any(mismatches_of(call, answer) > 0 for call in calls)
