"""Other names of problems: slugs that clients use elsewhere, and spellings that differ in case, hyphens or blanks."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

ALIASES: dict[str, tuple[str, ...]] = {
    "all-pairs-shortest-path": ("apsp", "all-pairs-shortest-paths", "floyd-warshall"),
    "argmax": ("argmax-dim", "argmax-over-dimension"),
    "argmin": ("argmin-dim", "argmin-over-dimension"),
    "array-sort": ("sort", "sorting", "sort-array"),
    "avg-pool-1d": ("average-pool-1d", "average-pooling-1d", "1d-average-pooling", "avg-pooling-1d"),
    "avg-pool-2d": ("average-pool-2d", "average-pooling-2d", "2d-average-pooling", "avg-pooling-2d"),
    "avg-pool-3d": ("average-pool-3d", "average-pooling-3d", "3d-average-pooling", "avg-pooling-3d"),
    "batch-norm": ("batch-normalization",),
    "box-blur": ("box-filter",),
    "conv-1d": ("convolution-1d", "1d-conv"),
    "conv-2d": ("convolution-2d", "2d-conv"),
    "conv-square-3d": ("conv-3d", "conv-3d-square", "convolution-3d", "3d-conv"),
    "cosine-similarity": ("cosine-sim", "cos-sim"),
    "cumprod": ("cumulative-product", "prefix-product"),
    "cumsum": ("cumulative-sum", "prefix-sum", "inclusive-scan"),
    "diagonal-matmul": ("diag-matmul", "matmul-diagonal", "diagonal-matrix-multiplication"),
    "ecc-point-negation": ("ecc-point-neg", "elliptic-curve-point-negation"),
    "edge-detect": ("edge-detection",),
    "frobenius-norm": ("frobenius-normalization",),
    "gelu": ("gelu-activation",),
    "gemm-relu": ("gemm-bias-relu",),
    "grayscale": ("greyscale", "rgb-to-grayscale", "grayscale-conversion"),
    "hinge-loss": ("hinge",),
    "huber-loss": ("huber", "smooth-l1", "smooth-l1-loss"),
    "kl-loss": ("kl-div", "kl-div-loss", "kl-divergence", "kl-divergence-loss"),
    "l1-norm": ("l1-normalization",),
    "l2-norm": ("l2-normalization",),
    "layer-norm": ("layer-normalization",),
    "leaky-relu": ("lrelu", "leaky-relu-activation"),
    "lower-trig-matmul": ("lower-triangular-matmul", "lower-triangular-matrix-multiplication", "tril-matmul"),
    "matmul-3d": ("3d-matmul", "3d-tensor-matrix-multiplication"),
    "matmul-4d": ("4d-matmul", "4d-tensor-matrix-multiplication"),
    "matrix-multiplication": ("matmul", "matrix-multiply", "matrix-mul", "matrix-product", "mm"),
    "matrix-power": ("mat-pow", "matrix-exponentiation"),
    "matrix-scalar": ("matrix-scalar-multiplication", "scalar-multiplication"),
    "matrix-vector": ("mat-vec", "matrix-vector-multiplication", "matrix-vector-multiply", "gemv"),
    "max-dim": ("reduce-max", "max-reduction", "max-over-dimension"),
    "max-pool-1d": ("max-pooling-1d", "1d-max-pooling"),
    "max-pool-2d": ("max-pooling-2d", "2d-max-pooling"),
    "max-pool-3d": ("max-pooling-3d", "3d-max-pooling"),
    "mean-dim": ("reduce-mean", "mean-reduction", "mean-over-dimension"),
    "min-dim": ("reduce-min", "min-reduction", "min-over-dimension"),
    "min-spanning-tree": ("mst", "minimum-spanning-tree"),
    "mse-loss": ("mse", "mean-squared-error", "mean-squared-error-loss"),
    "mxfp4-dequantize": ("mxfp4-dequant", "mxfp4-dequantization"),
    "mxfp4-gemm": ("mxfp4-matmul",),
    "mxfp4-quantize": ("mxfp4-quant", "mxfp4-quantization"),
    "mxfp8-dequantize": ("mxfp8-dequant", "mxfp8-dequantization"),
    "mxfp8-gemm": ("mxfp8-matmul",),
    "mxfp8-quantize": ("mxfp8-quant", "mxfp8-quantization"),
    "nvfp4-dequantize": ("nvfp4-dequant", "nvfp4-dequantization"),
    "nvfp4-gemm": ("nvfp4-matmul",),
    "nvfp4-quantize": ("nvfp4-quant", "nvfp4-quantization"),
    "poly-multiply-ff": ("poly-mul-ff", "polynomial-multiplication-ff"),
    "product-dim": ("prod-dim", "reduce-prod", "product-over-dimension"),
    "relu": ("relu-activation", "rectified-linear-unit"),
    "rms-norm": ("rms-normalization",),
    "running-sum-1d": ("running-sum", "1d-running-sum"),
    "scaled-dot-attention": ("attention", "sdpa", "scaled-dot-product-attention", "dot-product-attention"),
    "shortest-path": ("sssp", "single-source-shortest-path"),
    "sigmoid": ("sigmoid-activation",),
    "square-matmul": ("matmul-square", "square-matrix-multiplication", "square-matrix-multiply"),
    "sum-dim": ("reduce-sum", "sum-reduction", "sum-over-dimension"),
    "swish": ("silu", "swish-activation"),
    "symmetric-matmul": ("matmul-symmetric", "symmetric-matrix-multiplication"),
    "tanh": ("tanh-activation", "hyperbolic-tangent"),
    "threshold": ("thresholding", "image-threshold"),
    "triplet-margin": ("triplet-loss", "triplet-margin-loss"),
    "upper-trig-matmul": ("upper-triangular-matmul", "upper-triangular-matrix-multiplication", "triu-matmul"),
    "vector-addition": ("vector-add", "vec-add", "add-vectors", "vadd"),
    "vector-multiply-ff": ("vector-mul-ff", "vec-multiply-ff"),
}
"""Aliases by slug. A name that means another problem elsewhere, with other parameters, is left out (such as `gemm`)."""

MOST_NEAREST = 3


def squeezed(name: str) -> str:
    """A name without case, hyphens, underscores and blanks, so that `Conv2D` and `conv-2d` are equal."""
    return re.sub(r"[-_\s]+", "", name).lower()


_SLUGS = {squeezed(alias): slug for slug, aliases in ALIASES.items() for alias in aliases}


def resolved_slug(name: str, known: Collection[str]) -> str | None:
    """The known slug that a name stands for; None if there is none."""
    if name in known:
        return name
    key = squeezed(name)
    slug = next((slug for slug in known if squeezed(slug) == key), _SLUGS.get(key))
    return slug if slug in known else None


def nearest_slugs(name: str, known: Collection[str]) -> list[str]:
    """The known slugs that look like `name`, or have an alias that does, nearest first."""
    names = {slug: slug for slug in known}
    names |= {alias: slug for slug, aliases in ALIASES.items() if slug in known for alias in aliases}
    wanted = re.sub(r"[_\s]+", "-", name.strip().lower())
    close = get_close_matches(wanted, sorted(names), n=2 * MOST_NEAREST, cutoff=0.5)
    return list(dict.fromkeys(names[one] for one in close))[:MOST_NEAREST]
