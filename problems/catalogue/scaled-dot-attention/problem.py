"""Scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.parts import Stretch, some_pieces, within

_SCORE_SPIKE = 8.0
"""Queries and keys stand out so little that no power of e overflows, even where no maximum is subtracted."""
_VALUE_SPIKE = 64.0
_QUERIES = 64
"""Of each head in a part."""

_named = CaseTemplate("Batch={B}, Heads={H}, Seq_len={S}, Embed_dim={E}, {distribution}")


def _case(shape: tuple[int, int, int, int], distribution: Distribution) -> Case:
    """A case whose values are of this distribution; queries and keys are normal."""
    return _named(*shape, distribution, shape=shape)


class ScaledDotAttention(Problem):
    """`softmax(Q K^T / sqrt(E)) V` for each head of each batch, with no mask."""

    slug = "scaled-dot-attention"
    title = "Scaled Dot-Product Attention"
    difficulty = Difficulty.HARD
    tags = ("attention", "fusion")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* Q, const float* K, const float* V, float* output, size_t B, size_t H, size_t S, size_t E"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = dict.fromkeys(("Q", "K", "V", "output"), "B, H, S, E")
    nondeterministic = True
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (sqrt(S) * sum of p_j |v_j| + sum of p_j (|v_j| + |output|) (a_j + |s_j|)), where s_j is a "
        "score, p_j its weight and a_j the sum of its E products' absolute values: sums in any order of fp32 "
        "additions, a score's own error of sqrt(E) * a_j / sqrt(E), and a fast power of e that errs with its exponent.",
    )
    sizes = Sizes(
        cpu=(
            _case((2, 4, 128, 64), Distribution.NORMAL),
            _case((1, 3, 97, 32), Distribution.WIDE),
            _case((1, 2, 131, 128), Distribution.POSITIVE),
            _case((3, 1, 61, 64), Distribution.SMALL),
        ),
        gpu=(
            _case((8, 16, 512, 64), Distribution.NORMAL),
            _case((16, 32, 256, 64), Distribution.UNIFORM),
            _case((4, 32, 1024, 32), Distribution.POSITIVE),
            _case((32, 8, 512, 128), Distribution.SMALL),
            _case((8, 16, 512, 256), Distribution.WIDE),
            _case((8, 16, 2048, 64), Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (37, 67, 101, 127) if size_set is SizeSet.CPU else (251, 509, 1021, 1031)
        batches = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        return _case((*batches, int(rng.choice(lengths)), int(rng.choice((32, 64, 128)))), any_distribution(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        shape = case["shape"]
        return {
            "Q": self.sample(Distribution.NORMAL, shape, rng, _SCORE_SPIKE),
            "K": self.sample(Distribution.NORMAL, shape, rng, _SCORE_SPIKE),
            "V": self.sampled("V", case, rng, _VALUE_SPIKE),
            **self.scalars(case),
        }

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        weights = _weights(_scores(inputs))
        return {"output": weights @ inputs["V"].astype(np.float64)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        queries, keys, values = (np.abs(inputs[name], dtype=np.float64) for name in ("Q", "K", "V"))
        scores = _scores(inputs)
        weights = _weights(scores)
        uncertain = weights * (queries @ np.swapaxes(keys, -1, -2) + np.abs(scores))
        of_scores = uncertain @ values + uncertain.sum(axis=-1, keepdims=True) * np.abs(expected["output"])
        return {"output": sqrt(case["S"]) * (weights @ values) + of_scores}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        batches, heads, length, size = self.output_shapes(case)["output"]
        chosen = None if isinstance(rng, Stretch) else some_pieces(batches * heads, 2 * length * size, rng)
        if chosen is None:
            return None  # Of a stretch all queries would have to be compared.
        keys = within(chosen, 1, length, size)
        queries = keys[:, :, np.sort(rng.choice(length, min(length, _QUERIES), replace=False))]
        return Part(case, {"Q": queries, "K": keys, "V": keys, "output": queries})

    def flops(self, case: Case) -> float:
        return 4.0 * prod(case["shape"]) * case["S"]


def _scores(inputs: Mapping[str, Any]) -> NDArray[np.float64]:
    queries, keys = inputs["Q"].astype(np.float64), inputs["K"].astype(np.float64)
    return queries @ np.swapaxes(keys, -1, -2) / sqrt(queries.shape[-1])


def _weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


PROBLEM = ScaledDotAttention()
