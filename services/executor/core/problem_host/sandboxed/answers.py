"""Answers questions about a problem definition: its cases, a call's inputs and reference, its verdict on outputs."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import ctypes
import importlib
import inspect
import itertools
import json
import random
import re
import sys
from contextlib import nullcontext, suppress
from typing import Any

import host_processor
from author_class import loaded
from deadline import TooLongError, at_most
from operation_count import OperationCount
from problem import DTYPES, Problem
from shrinking import shrunk
from signature import DefinitionError, Parameter, as_passed, parameters_of, passed, settle_type

torch: Any = importlib.import_module("torch")
_DTYPES = {"float32": "float", "float64": "double", "float16": "half", "bfloat16": "__hip_bfloat16"}
_MOST_DEBUG = 16 << 10
_SAMPLE = -1
_ADOPTED = -2, 0
_WITHOUT_DATA_SECONDS = 2.0
"""The longest time to measure a case with tensors that have no elements."""


def prepare() -> None:
    """Make torch ready for definitions; call it before Answers is used."""
    host_processor.install()
    _warm_up()


class Answers:
    """A loaded definition; `to` answers one question."""

    def __init__(self, source: str) -> None:
        self._source = source
        with host_processor.HostProcessorMode():
            self._definition = loaded(source)
        self._without_data: Any = None
        self._dtype: Any = torch.float32
        self._factors: dict[int, tuple[int, int]] = {}
        self._place: tuple[int, int] | None = None
        self._case: dict[str, Any] = {}
        self._inputs: tuple[Any, ...] = ()
        self._expected: Any = None
        self._parameters: list[Parameter] = []
        self._output_count = 0
        self._takes_numbers = True

    def to(self, question: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], list[bytes]]:
        """Answer a question; returns the answer's object and the bytes of its arrays."""
        place = int(question.get("case", 0)), int(question.get("seed", 0))
        if question["ask"] in {"size", "shrink"}:
            return self._sized(place[0], question), []
        with torch.no_grad(), host_processor.HostProcessorMode():
            match question["ask"]:
                case "open":
                    return self._open(str(question["dtype"]), is_timed=bool(question.get("is_timed"))), []
                case "describe":
                    return self._describe(*place, float(question["seconds"])), []
                case "inputs":
                    return self._values(*place)
                case "reference":
                    if values := question.get("values"):
                        place = self._adopt(values, payload)
                    self._work_out(*place)
                    outputs = _tuple(self._expected)
                    shapes = [list(output.shape) for output in outputs]
                    return {"shapes": shapes}, [_bytes_of(output.contiguous()) for output in outputs]
                case "verify":
                    return self._verdict(payload), []
                case other:
                    raise DefinitionError(f"the judge asked {other!r}")

    def _open(self, dtype: str, *, is_timed: bool) -> dict[str, Any]:
        self._dtype = DTYPES[_DTYPES.get(dtype, "float")]
        self._definition.is_timed = is_timed
        cases = self._cases(self._definition, 0)
        names = [str(case.get("name", f"case {at + 1}"))[:200] for at, case in enumerate(cases)]
        return {
            "cases": names,
            "has_sample": hasattr(self._definition, "generate_sample"),
            "time_limit": float(self._definition.time_limit),
        }

    def _size(self, case: int, seconds: float) -> dict[str, Any]:
        """Measures a case with tensors without elements; `bytes` or `operations` are None if that is impossible."""
        size: dict[str, Any] = {"bytes": None, "operations": None, "flops": 0.0}
        try:
            with (
                torch.no_grad(),
                host_processor.HostProcessorMode("meta"),
                at_most(min(seconds, _WITHOUT_DATA_SECONDS)),
            ):
                # A second instance, as it may keep such tensors for later.
                definition = self._without_data = self._without_data or loaded(self._source)
                definition.is_timed = self._definition.is_timed
                drawn = self._drawn(definition, case, 0)
                size["flops"] = _flops(definition, drawn)
                inputs = _inputs_of(definition, drawn)
                size["bytes"] = _bytes_in(inputs)
                size["operations"] = size["flops"] or None
                if not size["flops"]:
                    with OperationCount() as count:
                        definition.reference_solution(*inputs)
                    size["operations"] = count.total
        except (Exception, TooLongError):  # noqa: BLE001  what cannot be done without data is done with it
            return size
        return size

    def _sized(self, case: int, question: dict[str, Any]) -> dict[str, Any]:
        seconds = float(question["seconds"])
        if question["ask"] == "size":
            return self._size(case, seconds)
        return self._shrink(case, (int(question["factor"]), int(question["alignment"])), seconds)

    def _shrink(self, case: int, factor: tuple[int, int], seconds: float) -> dict[str, Any]:
        """Divides the numbers of a case by about a factor from now on; 1 restores them. Gives its size, and them."""
        self._factors[case], self._place = factor, None
        with torch.no_grad(), host_processor.HostProcessorMode():
            _, numbers = shrunk(self._cases(self._definition, 0)[case], *factor)
        return {**self._size(case, seconds), "numbers": numbers} if numbers else {"numbers": ""}

    def _describe(self, case: int, seed: int, seconds: float) -> dict[str, Any]:
        """Make a case's inputs and reference outputs within `seconds`, and describe them."""
        with at_most(seconds):
            self._create(case, seed)
            flops = _flops(self._definition, self._case)
            with nullcontext() if flops else OperationCount() as count:
                self._work_out(case, seed)
        first, outputs = len(self._given()), _tuple(self._expected)
        return {
            "parameters": [
                {
                    "name": p.name,
                    "ctype": p.ctype,
                    "pointer": p.pointer,
                    "const": p.const,
                    "role": "input" if at < first else "output" if at < first + len(outputs) else "extra",
                }
                for at, p in enumerate(self._parameters)
            ],
            "shapes": [list(output.shape) for output in outputs],
            "data": self._definition.data_places(len(self._inputs)),
            "bytes": _bytes_in(self._inputs),
            "flops": flops,
            "operations": flops if count is None else count.total,
        }

    def _drawn(self, definition: Any, case: int, seed: int) -> dict[str, Any]:  # noqa: ANN401
        """A test case, made smaller if it was shrunk, or the sample."""
        if case == _SAMPLE:
            return self._sample(definition, seed)
        drawn = self._cases(definition, seed)[case]
        factor, alignment = self._factors.get(case, (1, 1))
        return shrunk(drawn, factor, alignment)[0] if factor > 1 else drawn

    def _cases(self, definition: Any, seed: int) -> list[dict[str, Any]]:  # noqa: ANN401
        _seed_all(seed)
        cases = self._with_dtype(definition.generate_test_cases)
        if not isinstance(cases, list | tuple) or not cases or not all(isinstance(case, dict) for case in cases):
            raise DefinitionError("generate_test_cases must return a list of dicts, at least one")
        return list(cases)

    def _sample(self, definition: Any, seed: int) -> dict[str, Any]:  # noqa: ANN401
        _seed_all(seed)
        sample = self._with_dtype(definition.generate_sample)
        sample = sample[0] if isinstance(sample, list | tuple) and sample else sample
        if not isinstance(sample, dict):
            raise DefinitionError("generate_sample must return a dict, or a list of one")
        return sample

    def _create(self, case: int, seed: int) -> None:
        """Make the inputs of a call, unless they are there already."""
        if self._place == (case, seed):
            return
        self._place, self._expected = None, None
        self._case = self._drawn(self._definition, case, seed)
        self._inputs = _inputs_of(self._definition, self._case)
        self._place = case, seed

    def _work_out(self, case: int, seed: int) -> None:
        """Compute the reference outputs of a call, unless they are there already."""
        self._create(case, seed)
        if self._expected is not None:
            return
        answer = self._definition.reference_solution(*self._inputs)
        outputs = _tuple(answer)
        if not outputs or not all(torch.is_tensor(output) for output in outputs):
            raise DefinitionError("reference_solution must return a tensor, or a tuple of tensors")
        self._definition.settle(self._case)
        if not self._parameters:
            self._parameters = self._resolved(outputs)
        declared = self._parameters[len(self._given()) :]
        outputs = tuple(as_passed(o, p.ctype).cpu() for p, o in zip(declared, outputs, strict=False))
        self._expected = outputs if isinstance(answer, tuple | list) else outputs[0]

    def _adopt(self, values: list[Any], payload: bytearray) -> tuple[int, int]:
        """Take inputs that the judge has drawn, and return their place."""
        if not self._takes_numbers:
            raise DefinitionError("the reference takes numbers that `solution` does not take")
        inputs: list[Any] = []
        at = 0
        for parameter, value in zip(self._parameters, values, strict=False):
            if "shape" not in value:
                inputs.append(value["value"])
                continue
            like = torch.empty(value["shape"], dtype=DTYPES[parameter.ctype])
            inputs.append(_tensor_of(payload, at, like).clone().cuda())
            at += like.numel() * like.element_size()
        self._inputs, self._place, self._expected = tuple(inputs), _ADOPTED, None
        return _ADOPTED

    def _resolved(self, outputs: tuple[Any, ...]) -> list[Parameter]:
        parameters, passed_values = self._matched(outputs, takes_numbers=True)
        if not _fits(parameters, passed_values):
            # Some definitions pass the numbers among their inputs only to their reference.
            with suppress(DefinitionError):
                other = self._matched(outputs, takes_numbers=False)
                self._takes_numbers = not _fits(*other)
                parameters, passed_values = (parameters, passed_values) if self._takes_numbers else other
        if len(parameters) != len(passed_values):
            extras = len(passed_values) - len(self._given()) - len(outputs)
            raise DefinitionError(
                f"the signature has {len(parameters)} parameters, but there are {len(self._inputs)} inputs, "
                f"{len(outputs)} outputs and {extras} extra parameters"
            )
        for parameter, value in zip(parameters, passed_values, strict=True):
            settle_type(parameter, value)
        self._output_count = len(outputs)
        return parameters

    def _matched(self, outputs: tuple[Any, ...], *, takes_numbers: bool) -> tuple[list[Parameter], list[Any]]:
        """The parameters, and the values that would be passed for them."""
        given = self._is_given(takes_numbers=takes_numbers)
        parameters = parameters_of(self._definition, given, len(outputs))
        values = [*itertools.compress(self._inputs, given), *outputs]
        return parameters, [*values, *self._extras(parameters[len(values) :])]

    def _given(self) -> tuple[Any, ...]:
        """The inputs that `solution` takes too."""
        return tuple(itertools.compress(self._inputs, self._is_given(takes_numbers=self._takes_numbers)))

    def _is_given(self, *, takes_numbers: bool) -> list[bool]:
        """For each input of the reference, whether `solution` takes it as an input too."""
        returned = self._definition.returned_inputs
        return [
            at not in returned and (takes_numbers or torch.is_tensor(value)) for at, value in enumerate(self._inputs)
        ]

    def _values(self, case: int, seed: int) -> tuple[dict[str, Any], list[bytes]]:
        """All values that are passed to `solution` but the outputs."""
        self._create(case, seed)
        given = self._given()
        rest = self._parameters[len(given) + self._output_count :]
        named = [*self._parameters[: len(given)], *rest]
        values = [passed(p, v) for p, v in zip(named, [*given, *self._extras(rest)], strict=True)]
        listed = [_described(v) if torch.is_tensor(v) else {"value": v} for v in values]
        return {"values": listed}, [_bytes_of(v) for v in values if torch.is_tensor(v)]

    def _extras(self, rest: list[Parameter]) -> list[Any]:
        """Values of the parameters after the outputs: from the definition's method, or by name from the case."""
        if type(self._definition).get_extra_params is not Problem.get_extra_params:
            return list(self._definition.get_extra_params(self._case) or [])
        by_name = {str(name).lower(): value for name, value in self._case.items()}
        for parameter in rest:
            if parameter.name.lower() not in by_name:
                raise DefinitionError(f"there is no get_extra_params, and a test case has no `{parameter.name}`")
        return [self._case.get(p.name, by_name[p.name.lower()]) for p in rest]

    def _verdict(self, payload: bytearray) -> dict[str, Any]:
        outputs: list[Any] = []
        at = 0
        for expected in _tuple(self._expected):
            outputs.append(_tensor_of(payload, at, expected))
            at += expected.numel() * expected.element_size()
        actual = tuple(outputs) if isinstance(self._expected, tuple) else outputs[0]
        verdict = self._with_dtype(self._definition.verify_result, self._expected, actual)
        right, debug = verdict if isinstance(verdict, tuple) else (verdict, {})
        return {"right": bool(right), "debug": _plain(debug)}

    def _with_dtype(self, method: Any, *args: Any) -> Any:  # noqa: ANN401
        """Calls a method; older definitions take the element type as one more argument."""
        names = list(inspect.signature(method).parameters)
        return method(*args, self._dtype) if len(names) > len(args) and names[len(args)] == "dtype" else method(*args)


def _warm_up() -> None:
    """Have torch load everything that it loads on first use, so that this counts in no case's time."""
    for place in ("cpu", "meta"):
        with OperationCount():
            square = torch.rand(2, 2, device=place) * 2 - 1
            torch.relu(square @ square).sum()


def _fits(parameters: list[Parameter], values: list[Any]) -> bool:
    """True if there is a parameter for every value, and a pointer for every tensor."""
    return len(parameters) == len(values) and all(
        p.pointer or not torch.is_tensor(value) for p, value in zip(parameters, values, strict=True)
    )


def _seed_all(seed: int) -> None:
    Problem.call_seed = seed
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def _inputs_of(definition: Any, case: dict[str, Any]) -> tuple[Any, ...]:  # noqa: ANN401
    if not callable(case.get("create_inputs")):
        raise DefinitionError("a test case needs `create_inputs`, which gives a tuple of tensors and numbers")
    return definition.inputs_of(case)


def _flops(definition: Any, case: dict[str, Any]) -> float:  # noqa: ANN401
    """The operations that the definition counts; 0 if it does not."""
    return float(definition.get_flops(case) or 0.0)


def _bytes_in(inputs: tuple[Any, ...]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in inputs if torch.is_tensor(tensor))


def _bytes_of(tensor: Any) -> bytes:  # noqa: ANN401
    flat = _as_it_lies(tensor.detach())
    return ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()) if flat.numel() else b""


def _as_it_lies(tensor: Any) -> Any:  # noqa: ANN401
    """A contiguous tensor with the same bytes in memory, as far as they lie without gaps: `a.T` is not turned."""
    order = sorted(range(tensor.dim()), key=lambda at: (-tensor.stride(at), at))
    lying = tensor.permute(order)
    return lying if lying.is_contiguous() else tensor.contiguous()


def _described(tensor: Any) -> dict[str, Any]:  # noqa: ANN401
    """The shape that the bytes lie in, and the tensor's own sizes and strides."""
    lying = _as_it_lies(tensor)
    seen = tensor if lying.data_ptr() == tensor.data_ptr() else lying
    return {"shape": list(lying.shape), "sizes": list(seen.shape), "strides": list(seen.stride())}


def _tensor_of(payload: bytearray, offset: int, like: Any) -> Any:  # noqa: ANN401
    size = like.numel() * like.element_size()
    if not size:
        return torch.empty_like(like)
    return torch.frombuffer(payload, dtype=torch.uint8, count=size, offset=offset).view(like.dtype).reshape(like.shape)


def _tuple(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _plain(debug: Any) -> Any:  # noqa: ANN401
    text = json.dumps(debug, default=_number)
    text = re.sub(r"\b-?(?:NaN|Infinity)\b", "null", text)
    return json.loads(text) if len(text) <= _MOST_DEBUG else {"message": text[:_MOST_DEBUG]}


def _number(value: Any) -> Any:  # noqa: ANN401
    try:
        return value.item()
    except Exception:  # noqa: BLE001 - whatever it is, it is only shown
        return str(value)[:200]
