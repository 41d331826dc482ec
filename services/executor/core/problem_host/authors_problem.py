"""A problem definition that came with a submission, as a `Problem`: the host answers, and every answer is checked.

Right and wrong is for the definition's own `verify_result` to say, after our rules for shapes and for NaN and infinity.
Times of such a run say nothing to others, who have another definition: it never ranks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from problems.chaining import FIXED
from problems.definition import Case, Difficulty, Problem, Sizes, SizeSet, Tolerance
from problems.element_types import is_floating
from problems.signature import Initial, Parameter
from services.executor.core.problem_host.description import CaseSize, Description, case_values
from services.executor.core.problem_host.host import definition_failure, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from services.executor.core.problem_host.host import ProblemHost

_SEED_LIMIT = 1 << 31
_MOST_CASES = 64
_MOST_NAME = 200
_LONGEST_SECONDS = 60.0
"""Of a call, whatever the definition grants."""
_ANY_FINITE = Tolerance(math.inf, "Every finite number, for the definition's verify_result to judge.")


class SeededInputs(dict[str, Any]):
    """Inputs that know which call they are of."""

    seed: int = 0


class AuthorsProblem(Problem):
    """Made by `authors_problem`."""

    slug = ""
    title = "The author's problem definition"
    difficulty = Difficulty.EASY
    nondeterministic = True
    tolerance = _ANY_FINITE

    host: ProblemHost
    description: Description
    declared: tuple[Parameter, ...]
    sample_case: Case | None
    case_sizes: dict[int, CaseSize]
    left_out: Sequence[str] = ()
    """The names of cases that are too large here."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """As the definition declares them."""
        return self.declared

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        """One of the public cases: only the author knows which others make sense."""
        cases = self.sizes.of(size_set)
        return cases[int(rng.integers(len(cases)))]

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """Fresh inputs by the definition's `create_inputs`, and its extra parameters; raises Failure."""
        values = SeededInputs()
        values.seed = int(rng.integers(_SEED_LIMIT))
        answer, payload = self.host.ask("inputs", case=_index(case), seed=values.seed)
        wanted = [parameter for parameter in self.declared if not parameter.output]
        values.update(case_values(wanted, answer.get("values"), payload))
        self._shapes_for(case, values.seed)
        return values

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """Known from the last call's reference on."""
        return self._shapes_for(case, 0)

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """What `reference_solution` gives for these inputs; raises Failure."""
        seed = inputs.seed if isinstance(inputs, SeededInputs) else 0
        answer, payload = self.host.ask("reference", case=_index(case), seed=seed)
        outputs = self.description.outputs
        arrays = case_values(outputs, [{"shape": shape} for shape in _list(answer.get("shapes"))], payload)
        shapes = self._shapes_for(case, seed)
        if {name: np.shape(array) for name, array in arrays.items()} != shapes:
            raise definition_failure("gives outputs of other shapes for other inputs of one case", "answer")
        return {name: array.astype(np.float64) if is_floating(array.dtype) else array for name, array in arrays.items()}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """One: nothing is scaled, as every finite number passes."""
        del case, inputs
        return {name: np.ones(()) for name in expected}

    def flops(self, case: Case) -> float:
        """By the definition's `get_flops`; 0 where it has none."""
        return self._size(case).flops

    def bytes(self, case: Case) -> float:
        """Inputs and outputs."""
        sizes = {parameter.name: parameter.dtype.itemsize for parameter in self.declared}
        written = sum(math.prod(shape) * sizes[name] for name, shape in self.output_shapes(case).items())
        return self._size(case).input_bytes + written

    def verdict(self, case: Case, inputs: Mapping[str, Any], outputs: Mapping[str, NDArray[Any]]) -> Any:  # noqa: ANN401
        """`verify_result` of the last call: whether it is right, and what else it says (untrusted)."""
        seed = inputs.seed if isinstance(inputs, SeededInputs) else 0
        self.host.ask("reference", case=_index(case), seed=seed)
        arrays = [
            np.ascontiguousarray(outputs[p.name]).reshape(-1).view(np.uint8).data for p in self.description.outputs
        ]
        return self.host.ask("verify", *arrays)[0]

    def _size(self, case: Case) -> CaseSize:
        index = _index(case)
        if index not in self.case_sizes:
            self.case_sizes[index] = CaseSize.asked(self.host, index)
        return self.case_sizes[index]

    def _shapes_for(self, case: Case, seed: int) -> dict[str, tuple[int, ...]]:
        return self.description.shapes_of(self.host, _index(case), seed)


def authors_problem(host: ProblemHost, dtype: str, most_case: CaseSize) -> AuthorsProblem:
    """Ask for everything that is the same for all calls; raises Failure.

    Of the definition's cases those are taken that are no larger than `most_case`, and its sample where none is.
    """
    answer, _ = host.ask("open", dtype=dtype)
    names = [shown(name, _MOST_NAME) for name in _list(answer.get("cases"))]
    if len(names) > _MOST_CASES:
        raise definition_failure(f"has {len(names)} test cases; at most {_MOST_CASES} are taken", "size")
    sizes: dict[int, CaseSize] = {}
    cases: list[Case] = []
    for at, name in enumerate(names):
        sizes[at] = CaseSize.asked(host, at)
        if sizes[at].fits(most_case):
            cases.append(Case(name, {"case": at}))
    sample = Case("sample", {"case": -1}) if answer.get("has_sample") is True else None
    cases = cases or ([sample] if sample else [])
    if not cases:
        raise definition_failure(f"has no test case that fits this machine: at most {most_case}", "size")
    description = Description.asked(host, _index(cases[0]))
    figures = {
        "sizes": Sizes(cases, cases),
        "time_limit_seconds": _time_limit(answer.get("time_limit")),
        "signature": ", ".join(parameter.declaration for parameter in description.parameters),
        "outputs": {parameter.name: Initial.POISON for parameter in description.outputs},
        "dtype": dtype,
        "left_out": [name for at, name in enumerate(names) if not sizes[at].fits(most_case)],
        "host": host,
        "description": description,
        "declared": description.parameters,
        # The host has the answers to inputs that it drew itself, and to no others: there can be no chain.
        "chain": {parameter.name: FIXED for parameter in description.parameters},
        "sample_case": sample,
        "case_sizes": sizes,
    }
    return cast("AuthorsProblem", type("AuthorsProblem", (AuthorsProblem,), figures)())


def _time_limit(value: object) -> float:
    if isinstance(value, int | float) and 0 < value < _LONGEST_SECONDS:
        return float(value)
    return _LONGEST_SECONDS


def _index(case: Case) -> int:
    return int(case.values["case"])


def _list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise definition_failure("gave an answer that cannot be taken", "answer")
    return cast("list[Any]", value)
