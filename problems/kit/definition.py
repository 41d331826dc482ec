"""The problem format: what a `problems/catalogue/<slug>/problem.py` defines as `PROBLEM`, a Problem."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.kit.chaining import ChainRule
from problems.kit.distributions import SPANS, SPIKE_FACTOR, WHOLE_SPAN, Distribution, SizesOnly, sample
from problems.kit.domain import Domain
from problems.kit.element_types import ELEMENT_TYPES, source_with_element_type
from problems.kit.factors import Factors
from problems.kit.integer_expression import Shape, parse_list
from problems.kit.signature import Initial, Parameter, parse_signature
from vocabulary.limits import DEFAULT_DTYPE


class SizeSet(StrEnum):
    """Which sizes a run uses: `CPU` takes seconds on two cores, `GPU` is the full set of the catalogue."""

    CPU = "cpu"
    GPU = "gpu"


class Difficulty(StrEnum):
    """How hard the problem is to solve well."""

    EASY = "EASY"
    MEDIUM = "MEDIUM"
    HARD = "HARD"


@dataclass(frozen=True)
class Case:
    """One test: a name for people and the values that its inputs are made from (sizes, scalars, distribution)."""

    name: str
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - sizes, scalars and whatever else a problem needs
        """One of the values, by name."""
        return self.values[name]


@dataclass(frozen=True)
class Part:
    """A case that is a part of another: what its arrays are made of.

    `places` has, by parameter, the places of an array's elements in the flattened array of the whole case, in the shape
    of the part's array. All outputs are named; inputs that are not are needed whole, and scalars are what they were.
    """

    case: Case
    places: Mapping[str, NDArray[np.int64]]

    def of(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The part's arrays, from those of the whole case."""
        return {
            name: np.asarray(value).reshape(-1)[self.places[name]] if name in self.places else value
            for name, value in arrays.items()
        }


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from the fp64 reference.

    An element is right when |actual - expected| <= units * eps(output dtype) * condition, where `condition` is the
    array that Problem.condition gives (`kit/comparison.py` has the whole rule). `rule` states in one sentence where
    `units` and `condition` come from. Integer outputs and outputs of exact problems have `units` 0: they must be equal.
    `one_sided` says that a formula which must pass lies to one side of the reference, so that errors may do so as well.
    """

    units: float
    rule: str
    one_sided: bool = False


@dataclass(frozen=True)
class Sizes:
    """The public cases of each size set."""

    cpu: Sequence[Case]
    gpu: Sequence[Case]

    def of(self, size_set: SizeSet) -> Sequence[Case]:
        """The cases of one set."""
        return self.cpu if size_set is SizeSet.CPU else self.gpu


class Problem(ABC):
    """One problem. Methods are pure: all randomness comes from the generator that is passed in."""

    slug: ClassVar[str]
    title: ClassVar[str]
    difficulty: ClassVar[Difficulty]
    tags: ClassVar[Sequence[str]] = ()
    dtypes: ClassVar[Sequence[str]] = (DEFAULT_DTYPE,)
    """The element types that the problem is defined in, the default first; `library/variants.py` makes the others."""
    dtype: ClassVar[str] = DEFAULT_DTYPE
    """The one that this instance is defined in."""
    signature: ClassVar[str]
    """The C parameter list as in the catalogue, e.g. `const float* input, float* output, size_t n, size_t m`."""
    outputs: ClassVar[Mapping[str, Initial]]
    """The output parameters and what each holds before a call."""
    arrays: ClassVar[Mapping[str, str]] = {}
    """The shape of each array, e.g. `{"a": "m, k", "b": "k, n", "c": "m, n"}`: integer expressions of a case's values.
    `input_shapes` or `output_shapes` says it instead if a shape is not such a list."""
    nondeterministic: ClassVar[bool] = False
    """Two runs on the same input may differ within the tolerance (sums by floating-point atomics)."""
    fixed_algorithm: ClassVar[bool] = False
    """No right kernel does fewer operations than `flops`, nor in a faster type: then they are part of the time's floor.
    False wherever a cleverer algorithm, or products put together from those of narrower types, may do with less."""
    chain: ClassVar[Mapping[str, ChainRule]] = {}
    """How inputs may change along a chained audit, by name; those that are not named are judged by their looks."""
    domains: ClassVar[Mapping[str, Domain]] = {}
    """Which values inputs of floats may take, by name: the judge plants some of them (problems/kit/planting.py).
    Those that are not named are never touched."""
    narrow_outputs: ClassVar[bool] = False
    """Right outputs are numbers of half precision already, so that rounding to it gives no lazy answer away."""
    host_readable: ClassVar[frozenset[str]] = frozenset()
    """Pointer parameters (shapes) that host and device code may both read."""
    forbidden: ClassVar[Sequence[str]] = ()
    """Rules of forbidden.toml that hold for this problem beside those that hold for all, e.g. `sorting`."""
    tolerance: ClassVar[Tolerance]
    sizes: ClassVar[Sizes]
    time_limit_seconds: ClassVar[float] = 10.0
    """The longest that one call of `solution` may take, on any size."""

    @abstractmethod
    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        """A case whose sizes lie near the public ones: odd, prime and unaligned ones among them."""

    @abstractmethod
    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        """Every parameter but the outputs, by name: arrays of the parameter's dtype, and Python scalars."""

    def sized_inputs(self, case: Case, bits: np.random.BitGenerator) -> Mapping[str, Any] | None:
        """The inputs with `Unmade` arrays in place of drawn ones; None if only the values tell the sizes."""
        try:
            return self.inputs(case, SizesOnly(bits))
        except (AttributeError, TypeError):
            return None

    def scalars(self, case: Case) -> dict[str, Any]:
        """Those parameters that are values of the case, as a kernel gets them: a `float` is rounded to one."""
        parameters = (p for p in self.parameters if not p.pointer and p.name in case.values)
        return {p.name: p.dtype.type(case[p.name]).item() for p in parameters}

    def sampled(
        self, name: str, case: Case, rng: np.random.Generator, spike: float = SPIKE_FACTOR
    ) -> NDArray[np.float32]:
        """An input in its shape, of the case's value `distribution`."""
        return self.sample(case["distribution"], self.input_shapes(case)[name], rng, spike)

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the signature; a launch plan adds its scratch buffers to `parameters`."""
        return self.parameters

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """The shape of each input, by name, in the signature's order; arrays that host code may read are left out."""
        own = [p for p in self.own_parameters if p.pointer and not (p.output or p.valid_on_host)]
        return {p.name: self._array_shape(p.name, case) for p in own}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        """The shape of each output, by name."""
        return {p.name: self._array_shape(p.name, case) for p in self.parameters if p.output}

    def shapes(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shape of every input, with values or without, and of every output, by name; () of scalars."""
        return {name: getattr(value, "shape", ()) for name, value in inputs.items()} | self.output_shapes(case)

    @abstractmethod
    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """The right outputs, by name: float64 for floating-point outputs, the exact integers else."""

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """Other answers that must pass, in fp64 like the reference, by what makes them.

        They are formulas, and constants of fewer digits, that the statement allows or that are published elsewhere for
        this problem. The linter holds each against the tolerance, and a statement names no constant but theirs and the
        reference's.
        """
        del case, inputs
        return {}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """The magnitude that rounding errors of each output element scale with; by default the expected value's own.

        A sum of n products returns sqrt(n) times the sum of the products' absolute values, as rounding errors of a sum
        grow with its length whatever its order. The result broadcasts against the output.
        """
        del case, inputs
        return {name: abs(values) for name, values in expected.items()}

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors | None:
        """The factors of the only output where that is a plain product of two matrices; None where it is not.

        Such outputs can be checked where their reference would take too long (problems/kit/freivalds.py).
        """
        del case, inputs
        return None

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        """A part of the case, chosen by lot, by which an answer can be judged; None if it has to be judged whole.

        `reference` and `condition` of the part, given its arrays, are the part of those of the whole.
        """
        del case, rng
        return None

    @abstractmethod
    def flops(self, case: Case) -> float:
        """Floating-point (or integer) operations that the algorithm needs."""

    def bytes(self, case: Case) -> float:
        """Compulsory traffic: every input read once, every output written once."""
        shapes = self.input_shapes(case) | self.output_shapes(case)
        return float(sum(prod(shapes[p.name]) * p.dtype.itemsize for p in self.parameters if p.name in shapes))

    def sample(
        self,
        distribution: Distribution | str,
        shape: tuple[int, ...],
        rng: np.random.Generator,
        spike: float = SPIKE_FACTOR,
    ) -> NDArray[np.float32]:
        """Values of one distribution, of scales that suit this instance's element type."""
        return sample(distribution, shape, rng, spike, SPANS.get(self.dtype, WHOLE_SPAN))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The signature, parsed."""
        return _parsed(self.signature, tuple(self.outputs.items()), self.host_readable)

    def _array_shape(self, name: str, case: Case) -> tuple[int, ...]:
        if name not in self.arrays:
            method = "output_shapes" if name in self.outputs else "input_shapes"
            raise NotImplementedError(f"`{self.slug}`: say the shape of `{name}` in `arrays`, or define `{method}`")
        sizes = Shape({size: value for size, value in case.values.items() if isinstance(value, int)})
        return tuple(side.value(sizes) for side in _sides(self.arrays[name]))


@cache
def _parsed(
    signature: str, outputs: tuple[tuple[str, Initial], ...], host_readable: frozenset[str]
) -> tuple[Parameter, ...]:
    """Asked for with every call that is judged."""
    return parse_signature(signature, dict(outputs), host_readable)


_sides = cache(parse_list)
_MEANING = re.compile(r"^- `(\w+)`: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class CatalogueEntry:
    """A problem with its texts: what the loader gives.

    `overrides` are the sources of files such as `solution.float16.hip`, by name; the others follow from float's.
    """

    problem: Problem
    statement: str
    starter: str
    solution: str
    folder: str = field(repr=False)
    overrides: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @cached_property
    def meanings(self) -> Mapping[str, str]:
        """The meaning of each parameter, by name, as the statement lists it; the linter demands one of each."""
        return dict(_MEANING.findall(self.statement))

    def starter_in(self, dtype: str) -> str:
        """The source to begin from, in one of the problem's element types."""
        return self._source("starter", self.starter, dtype)

    def solution_in(self, dtype: str) -> str:
        """The honest solution in one of the problem's element types."""
        return self._source("solution", self.solution, dtype)

    def _source(self, stem: str, source: str, dtype: str) -> str:
        if dtype == DEFAULT_DTYPE:
            return source
        override = self.overrides.get(f"{stem}.{dtype}.hip")
        return source_with_element_type(source, ELEMENT_TYPES[dtype]) if override is None else override
