"""Multiplication of symmetric matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import SquareProduct
from problems.kit.chaining import SYMMETRIC, ChainRule
from problems.kit.definition import Case
from problems.kit.distributions import Form, formed
from problems.kit.domain import AS_A_WHOLE, Domain


class SymmetricMatmul(SquareProduct):
    """`C = A B` with A and B equal to their transposes; C need not be."""

    slug = "symmetric-matmul"
    title = "Symmetric Matrix Multiplication"
    chain: ClassVar[Mapping[str, ChainRule]] = {"input_a": SYMMETRIC, "input_b": SYMMETRIC}
    domains: ClassVar[Mapping[str, Domain]] = {"input_a": AS_A_WHOLE, "input_b": AS_A_WHOLE}

    def draw(self, name: str, case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        return formed(super().draw(name, case, rng), Form.SYMMETRIC)


PROBLEM = SymmetricMatmul()
