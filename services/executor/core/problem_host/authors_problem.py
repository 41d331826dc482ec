"""A problem definition that came with a submission, as a `Problem`. The host's answers are all checked.

After our rules for shapes, NaN and infinity, the definition's own `verify_result` decides whether an answer is right.
Such a run never ranks: its times mean nothing to people with another definition.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from problems.kit.chaining import FIXED
from problems.kit.definition import Case, Difficulty, Problem, Sizes, SizeSet, Tolerance
from problems.kit.element_types import is_floating
from problems.kit.signature import Parameter
from services.executor.core.call.runner_claims import NEVER_ENDING
from services.executor.core.model.failure import Failure
from services.executor.core.problem_host.description import (
    CaseLimits,
    CaseSize,
    Description,
    case_values,
    tensors_as_they_lie,
)
from services.executor.core.problem_host.host import ProblemHost, TooMuchError, definition_failure, shown

_SEED_LIMIT = 1 << 31
_MOST_CASES = 64
_MOST_NAME = 200
_LONGEST_SECONDS = 100.0
"""The longest time limit of a call, whatever the definition grants."""
_SAMPLE = -1
_MOST_NAMED = 5
_LEAST_SECONDS = 0.001
_ALIGNMENTS = (128, 32)
"""Multiples that sizes remain, if they are. The second is for sizes that otherwise cannot become small enough."""
_FACTORS = tuple(1 << power for power in range(1, 21))
_ANY_FINITE = Tolerance(math.inf, "Every finite number, for the definition's verify_result to judge.")


@dataclass(frozen=True)
class LeftOut:
    """A case that is not run here, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class Shrunk:
    """A case that is run with smaller numbers, those numbers, and the reason."""

    name: str
    numbers: str
    reason: str


class SeededInputs(dict[str, Any]):
    """The inputs of a call, with the seed that they were drawn from.

    `lying` has the sizes and strides of each tensor by name. An array has the shape that its bytes lie in.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seed = 0
        self.lying: dict[str, tuple[list[int], list[int]]] = {}


class AuthorsProblem(Problem):
    """A problem from an author's definition; `authors_problem` makes it."""

    slug = ""
    title = "The author's problem definition"
    difficulty = Difficulty.EASY
    nondeterministic = True
    tolerance = _ANY_FINITE

    host: ProblemHost
    description: Description
    declared: tuple[Parameter, ...]
    given: int
    """The number of parameters before the outputs: the inputs of the reference."""
    data: Sequence[int]
    """The parameters that are the tensors of a contest's data, by their places, in its order; empty if unknown."""
    sample_case: Case | None
    case_sizes: dict[int, CaseSize]
    left_out: Sequence[LeftOut] = ()
    shrunk: Sequence[Shrunk] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters as the definition declares them."""
        return self.declared

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        """One of the public cases: only the author knows which others make sense."""
        cases = self.sizes.of(size_set)
        return cases[int(rng.integers(len(cases)))]

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """Fresh inputs from the definition's `create_inputs`, and its extra parameters; raises Failure."""
        values = SeededInputs()
        values.seed = int(rng.integers(_SEED_LIMIT))
        answer, payload = self.host.ask("inputs", case=_index(case), seed=values.seed)
        wanted = [parameter for parameter in self.declared if not parameter.output]
        values.update(case_values(wanted, answer.get("values"), payload))
        values.lying = tensors_as_they_lie(wanted, answer.get("values"))
        return values

    def sized_inputs(self, case: Case, bits: np.random.BitGenerator) -> None:
        """Returns None: only the definition knows the sizes, and it must draw the values to tell them."""

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """The shapes that the reference's outputs had when the case was chosen."""
        return self.description.shapes_of(_index(case))

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """The outputs of `reference_solution` for these inputs; raises Failure."""
        answer, payload = self.answered(case, inputs)
        outputs = self.description.outputs
        arrays = case_values(outputs, [{"shape": shape} for shape in _list(answer.get("shapes"))], payload)
        shapes = self.output_shapes(case)
        if {name: np.shape(array) for name, array in arrays.items()} != shapes:
            raise definition_failure("gives outputs of other shapes for other inputs of one case", "answer")
        return {name: array.astype(np.float64) if is_floating(array.dtype) else array for name, array in arrays.items()}

    def answered(self, case: Case, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], bytearray]:
        """The host's answer about the reference of these inputs, which it keeps; raises Failure."""
        seed = inputs.seed if isinstance(inputs, SeededInputs) else 0
        return self.host.ask("reference", case=_index(case), seed=seed)

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Returns ones: nothing is scaled, as every finite number passes."""
        del case, inputs
        return {name: np.ones(()) for name in expected}

    def flops(self, case: Case) -> float:
        """Operations by the definition's `get_flops`; 0 if it has none."""
        return self.case_sizes[_index(case)].flops

    def bytes(self, case: Case) -> float:
        """The bytes of inputs and outputs."""
        sizes = {parameter.name: parameter.dtype.itemsize for parameter in self.declared}
        written = sum(math.prod(shape) * sizes[name] for name, shape in self.output_shapes(case).items())
        return (self.case_sizes[_index(case)].input_bytes or 0.0) + written

    def advice_when_slow(self, case: Case) -> str:
        """Advice to the author of a call that took too long: without get_flops, the case may just be that much work."""
        size = self.case_sizes[_index(case)]
        if size.flops:
            return NEVER_ENDING
        return (
            f"The definition has no get_flops that says how much work this case is; its reference does "
            f"{size.operations or 0.0:.2g} operations. Make the case smaller, or the kernel faster."
        )

    def verdict(self, case: Case, inputs: Mapping[str, Any], outputs: Mapping[str, NDArray[Any]]) -> Any:  # noqa: ANN401
        """The host's answer from `verify_result`: whether the outputs are right, and its other words (untrusted)."""
        self.answered(case, inputs)
        arrays = [
            np.ascontiguousarray(outputs[p.name]).reshape(-1).view(np.uint8).data for p in self.description.outputs
        ]
        return self.host.ask("verify", *arrays)[0]


@dataclass
class _Choice:
    """Chooses the cases of a definition that can be run here.

    `sizes`, `left_out` (with reasons), and the `numbers` of cases that were made smaller (with reasons) are by index.
    """

    host: ProblemHost
    limits: CaseLimits
    description: Description | None = None
    sizes: dict[int, CaseSize] = field(default_factory=dict[int, CaseSize])
    left_out: dict[int, str] = field(default_factory=dict[int, str])
    numbers: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    reason: str = "size"
    """The reason why the last case that failed was too much."""

    @property
    def taken(self) -> list[int]:
        """The cases that can be run."""
        return [at for at in sorted(self.sizes) if at not in self.left_out]

    def look_at(self, count: int) -> None:
        """Measure all cases, then try those that may fit, the smallest first."""
        end = time.monotonic() + self.limits.looking_seconds
        unknown = CaseSize(None, None)
        for at in range(count):
            self.sizes[at] = CaseSize.asked(self.host, at, self.limits.seconds) if time.monotonic() < end else unknown
        hopeless: list[CaseSize] = []
        for at in sorted(self.sizes, key=lambda at: (self.sizes[at].input_bytes is None, self.sizes[at].input_bytes)):
            if reason := self.limits.exceeded_by(self.sizes[at]):
                self.left_out[at] = reason
            elif time.monotonic() > end:
                self.left_out[at] = f"not tried within {self.limits.looking_seconds:g} s"
            elif any(self.sizes[at].contains(size) for size in hopeless):
                self.left_out[at] = "not tried, as a smaller one is too much"
            elif not self.try_case(at, self.limits):
                hopeless.append(self.sizes[at])

    def shrink(self) -> None:
        """Make the cases that are too much smaller, by the numbers that `create_inputs` takes, and try those."""
        end = time.monotonic() + self.limits.looking_seconds
        for at, reason in sorted(self.left_out.items()):
            whole = self.sizes[at]
            try:
                numbers = self._shrunk(at, end)
            except Failure:
                # A reference that cannot do other sizes is no fault of the definition.
                numbers = ""
            if numbers:
                self.numbers[at] = numbers, reason
                del self.left_out[at]
            else:
                self.host.ask("shrink", case=at, factor=1, alignment=1, seconds=_LEAST_SECONDS)
                self.left_out[at], self.sizes[at] = reason, whole

    def _shrunk(self, at: int, end: float) -> str:
        """The numbers of the largest smaller case that can be run; empty if there is none."""
        smaller, numbers = self.limits.for_smaller_cases, ""
        for alignment, factor in product(_ALIGNMENTS, _FACTORS):
            answer, _ = self.host.ask("shrink", case=at, factor=factor, alignment=alignment, seconds=smaller.seconds)
            fewer = shown(answer.get("numbers", ""), _MOST_NAME)
            if time.monotonic() > end:
                break
            if not fewer or fewer == numbers:
                continue
            numbers, self.sizes[at] = fewer, CaseSize.from_answer(answer)
            if not smaller.exceeded_by(self.sizes[at]) and self.try_case(at, smaller):
                return numbers
        # Some cannot become that small.
        can_be_run = numbers and not self.limits.exceeded_by(self.sizes[at]) and self.try_case(at, self.limits)
        return numbers if can_be_run else ""

    def try_smallest(self) -> bool:
        """Try the smallest case that is not far beyond the limits; returns True if it can be run."""
        wider = self.limits.at_last_resort(self.host.most_array_bytes)
        near = [
            (size.input_bytes or 0.0, size.operations or 0.0, at)
            for at, size in self.sizes.items()
            if at != _SAMPLE and self.limits.exceeded_by(size) and not wider.exceeded_by(size)
        ]
        if not near or not self.try_case(smallest := min(near)[-1], wider):
            return False
        del self.left_out[smallest]
        return True

    def try_case(self, at: int, limits: CaseLimits) -> bool:
        """Try to make a case's inputs and outputs; returns True if that works within the limits."""
        try:
            answer, _ = self.host.ask("describe", case=at, seed=0, seconds=limits.seconds)
        except TooMuchError as failure:
            self.reason = failure.reason.partition(":")[2]
            seconds = f"its inputs and reference take more than {limits.seconds:g} s"
            self.left_out[at] = {"time": seconds}.get(self.reason, "its inputs or reference take too much memory")
            return False
        self.sizes[at] = CaseSize.from_answer(answer)
        self.description = self.description or Description.from_answer(answer)
        reason = limits.exceeded_by(self.sizes[at]) or self.description.keep(
            at, answer.get("shapes"), self.host.most_array_bytes
        )
        if reason:
            self.left_out[at] = reason
        return not reason


def authors_problem(
    host: ProblemHost, dtype: str, limits: CaseLimits, *, sample_only: bool = False, is_timed: bool = False
) -> AuthorsProblem:
    """Ask for everything that is the same for all calls; raises Failure.

    Takes those cases of the definition that `limits` allow, and the others with smaller numbers if `create_inputs`
    takes them. If there is none, or only the sample is wanted, it takes the sample; and if that cannot be run either,
    the smallest case that is not far beyond the limits.
    """
    answer, _ = host.ask("open", dtype=dtype, is_timed=is_timed)
    names = [shown(name, _MOST_NAME) for name in _list(answer.get("cases"))]
    if len(names) > _MOST_CASES:
        raise definition_failure(f"has {len(names)} test cases; at most {_MOST_CASES} are taken", "size")
    has_sample = answer.get("has_sample") is True
    choice = _Choice(host, limits)
    if not (sample_only and has_sample):
        choice.look_at(len(names))
        choice.shrink()
    if not choice.taken and not (has_sample and choice.try_case(_SAMPLE, limits)):
        choice.try_smallest()
    called = {**dict(enumerate(names)), _SAMPLE: "sample"}
    shrunk = [Shrunk(names[at], *choice.numbers[at]) for at in sorted(choice.numbers)]
    called |= {at: f"{names[at]}, made smaller: {numbers}" for at, (numbers, _) in choice.numbers.items()}
    cases = [Case(called[at], {"case": at}) for at in choice.taken]
    # The sample is not one of the cases, and is mentioned only if there is nothing else.
    reported = {at: name for at, name in called.items() if at != _SAMPLE or not cases}
    left_out = [LeftOut(name, choice.left_out[at]) for at, name in reported.items() if at in choice.left_out]
    if not cases or choice.description is None:
        what = "; ".join(f"`{one.name}`: {one.reason}" for one in left_out[-_MOST_NAMED:])
        raise definition_failure(f"has no test case that can be run here ({what})", choice.reason)
    description = choice.description
    figures = {
        "sizes": Sizes(cases, cases),
        "time_limit_seconds": _time_limit(answer.get("time_limit")),
        "signature": ", ".join(parameter.declaration for parameter in description.parameters),
        "outputs": {parameter.name: parameter.initial for parameter in description.outputs},
        "dtype": dtype,
        "left_out": left_out,
        "shrunk": shrunk,
        "host": host,
        "description": description,
        "declared": description.parameters,
        "data": description.data,
        "given": next(at for at, parameter in enumerate(description.parameters) if parameter.output),
        # The host can answer only for inputs that it drew itself, so there can be no chain.
        "chain": {parameter.name: FIXED for parameter in description.parameters},
        "sample_case": next((case for case in cases if _index(case) == _SAMPLE), None),
        "case_sizes": choice.sizes,
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
