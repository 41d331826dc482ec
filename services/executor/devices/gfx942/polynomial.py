"""Integer polynomials over named unknowns, for addresses.

A polynomial maps products of unknowns (their names, sorted) to their factors; the empty product is the constant. It is
immutable. If a result would be too large to be of use, an operation returns None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

_MAX_TERMS = 48
_MAX_DEGREE = 4
Product = tuple[str, ...]


class Polynomial:
    """A sum of products of unknowns."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Product, int]) -> None:
        self.terms = {product: factor for product, factor in terms.items() if factor}

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """Return the polynomial of a number."""
        return cls({(): value})

    @classmethod
    def unknown(cls, name: str) -> Polynomial:
        """Return the polynomial of one unknown."""
        return cls({(name,): 1})

    def plus(self, other: Polynomial) -> Polynomial | None:
        """Return the sum, or None if it is too large."""
        total = Counter(self.terms)
        for product, factor in other.terms.items():
            total[product] += factor
        return _bounded(total)

    def times(self, other: Polynomial) -> Polynomial | None:
        """Return the product, or None if it is too large."""
        total: Counter[Product] = Counter()
        for left, factor in self.terms.items():
            for right, other_factor in other.terms.items():
                total[tuple(sorted(left + right))] += factor * other_factor
        return _bounded(total)

    def scaled(self, factor: int) -> Polynomial:
        """Return the product with a number."""
        return Polynomial({product: value * factor for product, value in self.terms.items()})

    def coefficient(self, name: str) -> Polynomial | None:
        """Return the factor of `name`; None if the polynomial is not linear in `name`."""
        found: dict[Product, int] = {}
        for product, factor in self.terms.items():
            count = product.count(name)
            if count > 1:
                return None
            if count:
                found[tuple(part for part in product if part != name)] = factor
        return Polynomial(found)

    @property
    def value(self) -> int | None:
        """The constant that the polynomial equals, or None."""
        return self.terms.get((), 0) if all(product == () for product in self.terms) else None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms.get((), 0)

    @property
    def without_offset(self) -> Polynomial:
        """The polynomial without its constant term."""
        return Polynomial({product: factor for product, factor in self.terms.items() if product})

    @property
    def unknowns(self) -> Iterator[str]:
        """Names of the unknowns, some more than once."""
        return (name for product in self.terms for name in product)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return " + ".join("*".join([str(factor), *product]) for product, factor in sorted(self.terms.items())) or "0"


def _bounded(terms: Mapping[Product, int]) -> Polynomial | None:
    result = Polynomial(terms)
    if len(result.terms) > _MAX_TERMS or any(len(product) > _MAX_DEGREE for product in result.terms):
        return None
    return result
