"""A problem definition's description of itself, checked: its answers come from code that we do not trust."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from problems.kit.signature import DTYPES, Initial, Parameter
from services.executor.core.problem_host.host import ProblemHost, definition_failure

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_MOST_PARAMETERS = 40
_MOST_DIMENSIONS = 16
_MOST_AMOUNT = 1e300
_MOST_ELEMENTS = 1 << 40
_ROLES = ("input", "output", "extra")
_LAST_RESORT_FACTOR = 6
"""A published class needs it: its smallest case, products of 2,048 x 2,048 triangles, has 2.9e9 operations, not 5e8."""

_SMALLER_FACTOR = 5
"""With it a product has sides of 256, which are several tiles, and is checked in some tenths of a second."""


@dataclass(frozen=True)
class CaseSize:
    """The size of a case: the bytes of its inputs, and its operations. None stands for an unknown value.

    `flops` are as the definition counts them, or 0 if it does not; then `operations` are those of its reference.
    """

    input_bytes: float | None
    operations: float | None
    flops: float = 0.0

    @classmethod
    def asked(cls, host: ProblemHost, case: int, seconds: float) -> Self:
        """Have the host measure a case without making its inputs, for at most `seconds`."""
        return cls.from_answer(host.ask("size", case=case, seconds=seconds)[0])

    def contains(self, other: CaseSize) -> bool:
        """True if it is known to have as many bytes as `other`, and not known to have fewer operations."""
        if self.input_bytes is None or other.input_bytes is None or self.input_bytes < other.input_bytes:
            return False
        return self.operations is None or other.operations is None or self.operations >= other.operations

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> Self:
        """Reads the size from an answer of the host; raises Failure."""
        known = [_unless_unknown(answer.get(what)) for what in ("bytes", "operations")]
        return cls(*known, flops=_amount(answer.get("flops")))


@dataclass(frozen=True)
class CaseLimits:
    """The largest case that is taken; inputs and reference together may use `seconds` of a processor.

    After `looking_seconds` for all cases together no further case is tried.
    """

    input_bytes: float
    operations: float
    seconds: float
    looking_seconds: float = 30.0

    def at_last_resort(self, most_bytes: int) -> CaseLimits:
        """Wider limits, for a definition without any other case; the host can send `most_bytes` at once."""
        input_bytes = min(_LAST_RESORT_FACTOR * self.input_bytes, most_bytes)
        return replace(self, input_bytes=input_bytes, operations=_LAST_RESORT_FACTOR * self.operations)

    @property
    def for_smaller_cases(self) -> CaseLimits:
        """The limits of cases that are made smaller: they only have to show that the answers are right."""
        parts = {"input_bytes": self.input_bytes, "operations": self.operations, "seconds": self.seconds}
        return replace(self, **{name: limit / _SMALLER_FACTOR for name, limit in parts.items()})

    def exceeded_by(self, size: CaseSize) -> str:
        """Says to people what is too large; empty if nothing is known to be."""
        if size.input_bytes is not None and size.input_bytes > self.input_bytes:
            return f"{_mebibytes(size.input_bytes)} of inputs, of at most {_mebibytes(self.input_bytes)}"
        if size.operations is not None and size.operations > self.operations:
            counted = "" if size.flops else " by its reference, as there is no get_flops"
            return f"{size.operations:.2g} operations{counted}, of at most {self.operations:.2g}"
        return ""


@dataclass(frozen=True)
class Description:
    """The parameters of `solution`, and the output shapes of the cases that were kept."""

    parameters: tuple[Parameter, ...]
    data: tuple[int, ...] = ()
    """The places of those parameters that are a contest's data, in its order; empty if that is not known."""
    shapes: dict[int, list[tuple[int, ...]]] = field(default_factory=dict[int, list[tuple[int, ...]]])

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> Self:
        """Reads the parameters from an answer of the host; raises Failure."""
        listed = answer.get("parameters")
        if not isinstance(listed, list) or not 0 < len(cast("list[Any]", listed)) <= _MOST_PARAMETERS:
            raise definition_failure(f"must have 1 to {_MOST_PARAMETERS} parameters", "answer")
        parameters = tuple(_parameter(item) for item in cast("list[Any]", listed))
        if len({parameter.name for parameter in parameters}) != len(parameters):
            raise definition_failure("has two parameters of one name", "answer")
        return cls(parameters, _data(answer.get("data"), len(parameters)))

    @property
    def outputs(self) -> list[Parameter]:
        """The output parameters, in order."""
        return [parameter for parameter in self.parameters if parameter.output]

    def shapes_of(self, case: int) -> dict[str, tuple[int, ...]]:
        """The shape of each output of a case that was kept."""
        return {p.name: shape for p, shape in zip(self.outputs, self.shapes[case], strict=True)}

    def keep(self, case: int, shapes: object, most_bytes: int) -> str:
        """Keep the output shapes of a case; if they take more than `most_bytes`, return a text that says so instead.

        Raises Failure if the answer is malformed.
        """
        listed = cast("list[Any]", shapes) if isinstance(shapes, list) else []
        if len(listed) != len(self.outputs):
            raise definition_failure("has another number of outputs than its signature", "answer")
        extents = [_shape(shape) for shape in listed]
        size = sum(math.prod(shape) * p.dtype.itemsize for shape, p in zip(extents, self.outputs, strict=True))
        if size > most_bytes:
            return f"{_mebibytes(size)} of outputs, of at most {_mebibytes(most_bytes)}"
        self.shapes[case] = extents
        return ""


def case_values(parameters: Sequence[Parameter], listed: object, payload: bytearray) -> dict[str, Any]:
    """The values of parameters: arrays from `payload`, numbers from `listed`; raises Failure if they do not fit."""
    items = cast("list[Any]", listed) if isinstance(listed, list) else []
    if len(items) != len(parameters):
        raise definition_failure(f"gives {len(items)} values for {len(parameters)} parameters", "answer")
    values: dict[str, Any] = {}
    offset = 0
    for parameter, item in zip(parameters, items, strict=True):
        fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        if parameter.pointer:
            array = _array(parameter, fields.get("shape"), payload, offset)
            offset += array.nbytes
            values[parameter.name] = array
        else:
            values[parameter.name] = _number(parameter, fields.get("value"))
    if offset != len(payload):
        raise definition_failure("gives arrays of other sizes than it says", "answer")
    return values


def tensors_as_they_lie(parameters: Sequence[Parameter], listed: object) -> dict[str, tuple[list[int], list[int]]]:
    """Sizes and strides of the tensors that say so, by name; raises Failure if they leave their array."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    items = cast("list[Any]", listed) if isinstance(listed, list) else []
    for parameter, item in zip(parameters, items, strict=False):
        fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        if parameter.pointer and "strides" in fields:
            sizes, strides = _shape(fields.get("sizes")), _shape(fields["strides"])
            last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=False))
            elements = math.prod(_shape(fields.get("shape")))
            if len(sizes) != len(strides) or math.prod(sizes) != elements or (elements and last >= elements):
                raise definition_failure(f"gives strides of `{parameter.name}` that leave its array", "answer")
            found[parameter.name] = [*sizes], [*strides]
    return found


def _data(listed: object, count: int) -> tuple[int, ...]:
    places = cast("list[Any]", listed) if isinstance(listed, list) else []
    return tuple(place for place in places if type(place) is int and 0 <= place < count)


def _array(parameter: Parameter, shape: object, payload: bytearray, offset: int) -> NDArray[Any]:
    extents = _shape(shape)
    size = math.prod(extents) * parameter.dtype.itemsize
    if offset + size > len(payload):
        raise definition_failure(f"gives fewer bytes than the shape of `{parameter.name}` needs", "answer")
    return np.frombuffer(payload, parameter.dtype, math.prod(extents), offset).reshape(extents)


def _number(parameter: Parameter, value: object) -> int | float:
    if not isinstance(value, bool | int | float):
        raise definition_failure(f"gives no number for `{parameter.name}`", "answer")
    try:
        np.array(value if parameter.dtype.kind in "fV" else int(value), parameter.dtype)
    except (OverflowError, ValueError) as error:
        raise definition_failure(f"gives {value} for `{parameter.name}`, a {parameter.ctype}", "answer") from error
    return value if parameter.dtype.kind in "fV" else int(value)


def _parameter(item: object) -> Parameter:
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    name, ctype, role = fields.get("name"), fields.get("ctype"), fields.get("role")
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or keyword.iskeyword(name):
        raise definition_failure(f"has a parameter called {str(name)[:60]!r}: give it a C identifier", "answer")
    if not isinstance(ctype, str) or ctype not in DTYPES or role not in _ROLES:
        raise definition_failure(f"has a parameter `{name}` of an unknown type", "answer")
    pointer, output = fields.get("pointer") is True, role == "output"
    if output and not pointer:
        raise definition_failure(f"has the output `{name}` by value: it must be a pointer", "answer")
    return Parameter(
        name=name,
        ctype=ctype,
        pointer=pointer,
        # An input is read-only, whatever the definition says.
        const=pointer and not output,
        output=output,
        # Outputs start as zeros where such classes come from, and people's kernels accumulate into them.
        initial=Initial.ZERO if output else Initial.POISON,
        valid_on_host=pointer and role == "extra",
    )


def _shape(value: object) -> tuple[int, ...]:
    extents = cast("list[Any]", value) if isinstance(value, list) else [None]
    if len(extents) > _MOST_DIMENSIONS or not all(type(extent) is int and extent >= 0 for extent in extents):
        raise definition_failure("gave an answer that cannot be taken", "answer")
    # numpy multiplies the other extents even if one is 0.
    if math.prod(max(1, extent) for extent in cast("list[int]", extents)) > _MOST_ELEMENTS:
        raise definition_failure("gave an array that no machine holds", "size")
    return tuple(cast("list[int]", extents))


def _unless_unknown(value: object) -> float | None:
    return None if value is None else _amount(value)


def _mebibytes(size: float) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_AMOUNT:
        raise definition_failure("counts operations that are no number", "answer")
    return float(value)
