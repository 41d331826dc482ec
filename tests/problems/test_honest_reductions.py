"""Reductions, norms, means of losses and scans as people write them: one fp32 addition or product after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.problems.honest import F, Inputs, are_right, fail, fast_exp, running_sum, to_bfloat16


def first_best(v: Inputs, sign: int) -> NDArray[Any]:
    """Where the largest element is, or with -1 the smallest; the first of equal ones."""
    x, dim = sign * v["input"], v["dim"]
    best, where = np.take(x, [0], dim), np.zeros(np.take(x, [0], dim).shape, np.int32)
    for i in range(1, x.shape[dim]):
        value = np.take(x, [i], dim)
        where = np.where(value > best, np.int32(i), where)
        best = np.maximum(value, best)
    return where


def product(v: Inputs) -> NDArray[Any]:
    total = np.ones_like(np.take(v["input"], [0], v["dim"]))
    for i in range(v["input"].shape[v["dim"]]):
        total = total * np.take(v["input"], [i], v["dim"])
    return total


def softmax(v: Inputs) -> NDArray[Any]:
    x, dim = v["input"], v["dim"]
    powers = fast_exp(x - x.max(axis=dim, keepdims=True))
    return powers * (F(1) / running_sum(powers, dim))


def l2_norm(x: NDArray[Any]) -> NDArray[Any]:
    return x * (F(1) / (np.sqrt(running_sum(x * x)) + F(1e-10)))


def log_softmax(v: Inputs) -> NDArray[Any]:
    x = v["input"]
    largest = x.max(axis=1, keepdims=True)
    return x - (largest + np.log(running_sum(np.exp(x - largest))))


def normalized(x: NDArray[Any]) -> NDArray[Any]:
    """Each row less its mean and through its deviation, by its sum and that of its squares."""
    n = F(x.shape[1])
    mean = running_sum(x) / n
    return (x - mean) / np.sqrt(running_sum(x * x) / n - mean * mean + F(1e-5))


def batch_norm(v: Inputs) -> NDArray[Any]:
    features = np.moveaxis(v["X"], 1, 0)
    return np.moveaxis(normalized(features.reshape(v["F"], -1)).reshape(features.shape), 0, 1)


def layer_norm(v: Inputs) -> NDArray[Any]:
    scaled = normalized(v["X"].reshape(v["B"], -1))
    return (scaled * v["gamma"].reshape(-1) + v["beta"].reshape(-1)).reshape(v["X"].shape)


def squares(v: Inputs) -> NDArray[Any]:
    return np.square(v["predictions"] - v["targets"]).reshape(-1)


def mse_by_threads(v: Inputs) -> NDArray[Any]:
    """Each thread sums its share, and then the sums are added."""
    terms = squares(v)
    shares = np.concatenate([running_sum(terms[start::256]) for start in range(256)])
    return running_sum(shares) / F(terms.size)


def triplet(v: Inputs, shift: float) -> NDArray[Any]:
    near, far = (np.sqrt(running_sum(np.square(v["anchor"] - v[name] + F(shift)))) for name in ("positive", "negative"))
    return running_sum(np.maximum(near - far + F(v["margin"]), F(0)).reshape(-1)) / F(v["B"])


def cosine(v: Inputs) -> NDArray[Any]:
    p, t = v["predictions"], v["targets"]
    lengths = np.sqrt(running_sum(p * p)) * np.sqrt(running_sum(t * t))
    return (F(1) - running_sum(p * t) / np.maximum(lengths, F(1e-8)))[..., 0]


def cumsum_in_blocks(v: Inputs) -> NDArray[Any]:
    blocks = np.array_split(v["input"], 300)
    before = np.cumsum([0, *(block.sum(dtype=F) for block in blocks)], dtype=F)
    return np.concatenate([carry + np.cumsum(block, dtype=F) for carry, block in zip(before, blocks, strict=False)])


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


test_honest_reductions = are_right(
    ("argmax", lambda v: first_best(v, 1)),
    ("argmin", lambda v: first_best(v, -1)),
    ("sum-dim", lambda v: running_sum(v["input"], v["dim"])),
    ("max-dim", lambda v: np.maximum.reduce(v["input"], axis=v["dim"], keepdims=True)),
    ("min-dim", lambda v: np.sort(v["input"], axis=v["dim"]).take([0], axis=v["dim"])),
    ("mean-dim", lambda v: running_sum(v["input"], v["dim"]) / F(v["input"].shape[v["dim"]])),
    ("mean-dim", lambda v: running_sum(v["input"] * F(1 / v["input"].shape[v["dim"]]), v["dim"])),
    ("product-dim", product),
    ("softmax", softmax),
    ("log-softmax", log_softmax),
    ("l1-norm", lambda v: v["X"] / (running_sum(np.abs(v["X"])) + F(1e-10))),
    ("l2-norm", lambda v: l2_norm(v["X"])),
    ("rms-norm", lambda v: v["X"] / np.sqrt(running_sum(v["X"] * v["X"]) / F(v["N"]) + F(1e-5))),
    ("frobenius-norm", lambda v: v["X"] / np.sqrt(running_sum(v["X"] * v["X"]))),
    ("batch-norm", batch_norm),
    ("layer-norm", layer_norm),
    ("mse-loss", mse_by_threads),
    ("mse-loss", lambda v: running_sum(squares(v)) / F(squares(v).size)),
    ("triplet-margin", lambda v: triplet(v, 0.0)),
    ("triplet-margin", lambda v: triplet(v, 1e-6)),
    ("cosine-similarity", cosine),
    ("cumsum", lambda v: np.cumsum(v["input"], dtype=F)),
    ("cumsum", cumsum_in_blocks),
    ("cumprod", lambda v: np.cumprod(v["input"], dtype=F)),
    ("cumprod", cumprod_in_blocks),
    ("running-sum-1d", lambda v: running_sum(windows(v))[:, 0]),
    ("running-sum-1d", lambda v: windows(v).sum(axis=1, dtype=F)),
)
test_cheaper_reductions = fail(
    ("sum-dim", 1, lambda v: running_sum(np.float16(0.99) * v["input"], v["dim"])),
    ("mean-dim", 2, lambda v: v["input"].astype(np.float16).mean(axis=v["dim"], keepdims=True).astype(F)),
    ("product-dim", 2, lambda v: np.abs(product(v))),
    ("softmax", 1, lambda v: to_bfloat16(softmax(v))),
    ("log-softmax", 2, lambda v: np.log(np.exp(v["input"].astype(np.float16)).astype(F)) - F(1)),
    ("l1-norm", 2, lambda v: v["X"] / v["X"].sum(axis=1, keepdims=True)),
    ("l2-norm", 2, lambda v: l2_norm(to_bfloat16(v["X"]))),
    ("rms-norm", 2, lambda v: v["X"] / v["X"].std(axis=1, keepdims=True)),
    ("frobenius-norm", 2, lambda v: v["X"] / np.abs(v["X"]).max()),
    ("batch-norm", 2, lambda v: v["X"] - v["X"].mean(axis=(0, 2, 3), keepdims=True)),
    ("layer-norm", 1, lambda v: v["X"] * v["gamma"] + v["beta"]),
    ("mse-loss", 2, lambda v: F(0.999) * mse_by_threads(v)),
    ("triplet-margin", 2, lambda v: triplet(v, 0.0) + F(v["margin"] / v["B"])),
    ("cosine-similarity", 2, lambda v: F(1) - cosine(v)),
    ("cumprod", 2, lambda v: np.cumprod(to_bfloat16(v["input"]), dtype=F)),
    ("running-sum-1d", 2, lambda v: running_sum(windows(v))[:, 0] - windows(v)[:, 0]),
    ("running-sum-1d", 1, prefix_differences),
)
