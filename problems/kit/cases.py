"""Cases that are named by their values."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Any

import numpy as np

from problems.kit.definition import Case


class CaseTemplate:
    """Makes cases by a template of their names, such as `N={N}, K={K}, {distribution}`.

    Its fields are values of the case. `CaseTemplate("{m}x{k}, {distribution}")(256, 192, Distribution.WIDE)` is
    `Case("256x192, wide", {"m": 256, "k": 192, "distribution": Distribution.WIDE})`.
    """

    def __init__(self, template: str) -> None:
        self._template = template
        fields = (field for _, field, _, _ in Formatter().parse(template) if field)
        self._names = tuple(dict.fromkeys(fields))

    def __call__(self, *values: Any, **others: Any) -> Case:  # noqa: ANN401 - sizes, scalars, distributions
        """A case of these values: the template's fields in the order in which they first appear, and others by name.

        Raises TypeError if a field has no value, or more than one.
        """
        named = dict(zip(self._names, values, strict=False)) | others
        if len(values) + len(others) != len(named) or not named.keys() >= set(self._names):
            raise TypeError(f"a case `{self._template}` takes {', '.join(self._names)}; it was given {values} {others}")
        return Case(self._template.format(**named), named)

    def draw(self, rng: np.random.Generator, *choices: Iterable[Any], **others: Any) -> Case:  # noqa: ANN401 - as above
        """A case with one of the choices for each field, drawn in the fields' order, all alike likely.

        Raises TypeError as a call does.
        """
        each = [tuple(some) for some in choices]
        return self(*(some[rng.integers(len(some))] for some in each), **others)
