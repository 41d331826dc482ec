from __future__ import annotations

import pytest

from problems.library.aliases import ALIASES, nearest_slugs, resolved_slug, squeezed
from problems.library.catalogue import Catalogue


@pytest.fixture(scope="module")
def slugs() -> frozenset[str]:
    return frozenset(Catalogue.load().problems)


def test_every_alias_stands_for_one_problem_of_the_catalogue(slugs: frozenset[str]) -> None:
    assert set(ALIASES) <= slugs
    keys = [squeezed(name) for name in slugs] + [squeezed(alias) for aliases in ALIASES.values() for alias in aliases]
    assert sorted(set(keys)) == sorted(keys), "no name stands for two problems, nor twice for one"
    for slug, aliases in ALIASES.items():
        assert {resolved_slug(alias, slugs) for alias in aliases} == {slug}


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("matmul", "matrix-multiplication"),
        ("vectoradd", "vector-addition"),
        ("Conv2D", "conv-2d"),
        ("leaky_relu", "leaky-relu"),
        ("Log Softmax", "log-softmax"),
        ("AvgPool1d", "avg-pool-1d"),
        ("softplus", "soft-plus"),
        ("gemm-multiply-leaky-relu", "gemm-multiply-leakyrelu"),
        ("scaled_dot_product_attention", "scaled-dot-attention"),
        ("relu", "relu"),
    ],
)
def test_names_in_use_elsewhere_are_known(slugs: frozenset[str], name: str, slug: str) -> None:
    assert resolved_slug(name, slugs) == slug


@pytest.mark.parametrize("name", ["", "-", "gemm", "matmull", "no-such-problem"])
def test_a_name_that_may_be_another_problem_is_not_guessed(slugs: frozenset[str], name: str) -> None:
    assert resolved_slug(name, slugs) is None


def test_an_alias_of_a_problem_that_is_not_in_the_catalogue_is_unknown() -> None:
    assert resolved_slug("matmul", {"relu"}) is None
    assert nearest_slugs("matmul", {"relu"}) == []


def test_each_nearest_problem_is_named_once(slugs: frozenset[str]) -> None:
    nearest = nearest_slugs("matmull", slugs)
    assert nearest[0] == "matrix-multiplication"
    assert len(nearest) == len(set(nearest)) <= 3
