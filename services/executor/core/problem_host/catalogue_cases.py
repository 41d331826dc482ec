"""The catalogue's cases for a definition of which only the sample could be run.

They are used if the catalogue has a problem of that name with the same parameters, and if the definition's reference
agrees with the catalogue's on them: then both are the same problem. The definition still judges all answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from problems.kit.comparison import compare
from problems.kit.definition import Case, Problem, Sizes, SizeSet
from problems.kit.signature import Parameter
from services.executor.core.call.runner_claims import NEVER_ENDING
from services.executor.core.model.failure import Failure
from services.executor.core.problem_host.authors_problem import AuthorsProblem

_FIRST = -2
"""The index of the first such case; the definition's own have 0 and more, and its sample -1."""
_SEED = 0


class _WithCatalogueCases(AuthorsProblem):
    """A definition with cases of the catalogue beside its sample."""

    catalogue: Problem
    adopted: Sequence[Case]

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """Fresh inputs as the catalogue draws them, or the definition for its sample; raises Failure."""
        if (adopted := self._adopted(case)) is None:
            return super().inputs(case, rng)
        drawn = self.catalogue.inputs(adopted, rng)
        pairs = zip(self.declared, self.catalogue.parameters, strict=True)
        return {own.name: drawn[theirs.name] for own, theirs in pairs if not own.output}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """The outputs' shapes by the catalogue, or of the sample."""
        if (adopted := self._adopted(case)) is None:
            return super().output_shapes(case)
        shapes = self.catalogue.output_shapes(adopted)
        pairs = zip(self.declared, self.catalogue.parameters, strict=True)
        return {own.name: shapes[theirs.name] for own, theirs in pairs if own.output}

    def answered(self, case: Case, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], bytearray]:
        """The host's answer about the reference, for inputs that may be the catalogue's; raises Failure."""
        if self._adopted(case) is None:
            return super().answered(case, inputs)
        given = [inputs[parameter.name] for parameter in self.declared[: self.given]]
        arrays = [np.ascontiguousarray(value) for value in given if np.ndim(value)]
        listed = [{"shape": np.shape(value)} if np.ndim(value) else {"value": _plain(value)} for value in given]
        payloads = [array.reshape(-1).view(np.uint8).data for array in arrays]
        return self.host.ask("reference", *payloads, values=listed)

    def flops(self, case: Case) -> float:
        """Operations by the catalogue, or by the definition for its sample."""
        adopted = self._adopted(case)
        return super().flops(case) if adopted is None else self.catalogue.flops(adopted)

    def bytes(self, case: Case) -> float:
        """Bytes by the catalogue, or by the definition for its sample."""
        adopted = self._adopted(case)
        return super().bytes(case) if adopted is None else self.catalogue.bytes(adopted)

    def advice_when_slow(self, case: Case) -> str:
        """Advice to the author of a call that took too long."""
        return super().advice_when_slow(case) if self._adopted(case) is None else NEVER_ENDING

    def agrees(self, case: Case) -> bool:
        """True if the definition's reference gives what the catalogue's gives; raises Failure if it gives nothing."""
        adopted = cast("Case", self._adopted(case))
        drawn = self.catalogue.inputs(adopted, np.random.default_rng(_SEED))
        expected = self.catalogue.reference(adopted, drawn)
        condition = self.catalogue.condition(adopted, drawn, expected)
        found = self.reference(case, self.inputs(case, np.random.default_rng(_SEED)))
        pairs = [
            (own, theirs) for own, theirs in zip(self.declared, self.catalogue.parameters, strict=True) if own.output
        ]
        return all(
            compare(
                found[own.name].astype(own.dtype).reshape(-1),
                expected[theirs.name].reshape(-1),
                np.broadcast_to(condition[theirs.name], expected[theirs.name].shape).reshape(-1),
                self.catalogue.tolerance,
            ).mismatches
            == 0
            for own, theirs in pairs
        )

    def _adopted(self, case: Case) -> Case | None:
        at = _FIRST - int(case.values["case"])
        return self.adopted[at] if at >= 0 else None


def with_catalogue_cases(problem: AuthorsProblem, catalogue: Problem, size_set: SizeSet) -> AuthorsProblem | None:
    """The problem with the catalogue's cases beside its sample; None if they are for another problem."""
    if not _have_same_parameters(problem.parameters, catalogue.parameters):
        return None
    adopted = catalogue.sizes.of(size_set)
    cases = [Case(f"{case.name}, of the catalogue", {"case": _FIRST - at}) for at, case in enumerate(adopted)]
    every = [*problem.sizes.of(size_set), *cases]
    figures = {"catalogue": catalogue, "adopted": adopted, "sizes": Sizes(every, every), "sample_case": None}
    widened = cast(
        "_WithCatalogueCases", type("AuthorsProblem", (_WithCatalogueCases,), {**vars(type(problem)), **figures})()
    )
    try:
        return widened if all(map(widened.agrees, cases)) else None
    except Failure:
        # A reference that cannot do these sizes is for another problem.
        return None


def _have_same_parameters(own: Sequence[Parameter], theirs: Sequence[Parameter]) -> bool:
    def kind(one: Parameter) -> tuple[object, bool, bool]:
        return one.dtype, one.pointer, one.output

    return [*map(kind, own)] == [*map(kind, theirs)]


def _plain(value: Any) -> float | int:  # noqa: ANN401  numpy's and Python's numbers
    return value.item() if hasattr(value, "item") else value
