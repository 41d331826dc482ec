"""A problem from KernelBot's files: `task.yml` and `reference.py`, as a problem class.

The files come as one text, each after a line `# file: NAME`. `reference.py` has `generate_input`, `ref_kernel` and
`check_implementation`; `task.yml` has the arguments of `generate_input`, as `tests` and `benchmarks`. The modules
`task` and `utils` may be among the files; otherwise ours stand in for them.

`solution` takes the tensors of the data in order, but those that the reference returns; then what it returns; then the
numbers of the data and of the test. Its inputs lie in memory as they were made: a transposed tensor is column-major.
"""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import ast
import functools
import importlib
import keyword
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from problem import Problem
from signature import DefinitionError, c_type_of

torch: Any = importlib.import_module("torch")
_FILE = re.compile(r"^#[ \t]*file:[ \t]*(?P<name>[\w./-]+)[ \t]*$", re.MULTILINE)
_FUNCTIONS = ("generate_input", "ref_kernel", "check_implementation")
_WORDS = {"true": "True", "false": "False", "null": "None", "yes": "True", "no": "False"}
_ITEM = re.compile(r"^\s*-\s*(?P<rest>.*)$")
_PAIR = re.compile(r"""^\s*['"]?(?P<name>[\w.]+)['"]?\s*:\s*(?P<value>[^#]*)""")
_BARE = re.compile(r"(?<![\w'\"])([A-Za-z_]\w*)(?![\w'\"])")
_SEED = "seed"
_NARROW = ("float8_e8m0fnu", "float4_e2m1fn_x2")
_INT_LIMIT = 1 << 31


def files_in(source: str) -> dict[str, str]:
    """The files of a text by name, each with empty lines before it so that its lines keep their numbers."""
    marks = [*_FILE.finditer(source)]
    ends = [*(mark.start() for mark in marks[1:]), len(source)][: len(marks)]
    return {
        mark["name"].rpartition("/")[2]: "\n" * source.count("\n", 0, mark.end()) + source[mark.end() : end]
        for mark, end in zip(marks, ends, strict=True)
    }


def kernelbot_problem(files: dict[str, str], file_name: str) -> KernelBotProblem:
    """The problem of these files; raises DefinitionError."""
    for name in ("task.yml", "reference.py"):
        if name not in files:
            raise DefinitionError(f"there is no {name}: send it after a line `# file: {name}`")
    for name in ("utils", "task"):
        sys.modules[name] = _module(name, files.get(f"{name}.py", ""), file_name)
    reference = _module("reference", files["reference.py"], file_name)
    for name in _FUNCTIONS:
        if not callable(getattr(reference, name, None)):
            raise DefinitionError(f"reference.py has no function {name}")
    return KernelBotProblem(reference, files["task.yml"], _unpacked_names(files["reference.py"]))


class KernelBotProblem(Problem):
    """A problem of a `reference.py`."""

    def __init__(self, reference: Any, task: str, names: list[str]) -> None:  # noqa: ANN401  a module
        super().__init__("kernelbot")
        self._reference = reference
        self._tests, self._benchmarks = arguments_in(task, "tests"), arguments_in(task, "benchmarks")
        self._names = names
        self._data: Any = None
        self._returned: Any = None
        self._output_of: dict[int, int] = {}
        self.is_timed = False
        self.returned_inputs: frozenset[int] = frozenset()
        """The places of those inputs that the reference returns: they are the outputs."""
        if not self._tests and not self._benchmarks:
            raise DefinitionError("task.yml has neither tests nor benchmarks")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        """The tests and, for a timed run, the benchmarks."""
        chosen = [("", one) for one in self._tests]
        if self.is_timed or not chosen:
            chosen += [("benchmark: ", one) for one in self._benchmarks]
        return [self._case(kind, arguments) for kind, arguments in chosen]

    def _case(self, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
        said = ", ".join(f"{name}={value}" for name, value in arguments.items() if name != _SEED)
        fresh = {**arguments, _SEED: Problem.get_seed(said)} if _SEED in arguments else arguments
        create = functools.partial(self._reference.generate_input, **fresh)
        return {"name": f"{kind}{said}", **arguments, "create_inputs": create}

    def inputs_of(self, case: dict[str, Any]) -> tuple[Any, ...]:
        """The tensors of the case's data."""
        self._data = case["create_inputs"]()
        return tuple(_leaves(self._data, torch.is_tensor))

    def reference_solution(self, *tensors: Any) -> Any:  # noqa: ANN401  torch has no types here
        """What ref_kernel returns for the data; of its answer only tensors count."""
        data, copies = self._copied(tensors)
        self._returned = self._reference.ref_kernel(data)
        outputs = _leaves(self._returned, torch.is_tensor)
        self._output_of = {
            at: place
            for place, output in enumerate(outputs)
            for at, copy in enumerate(copies)
            if _is_same(copy, output)
        }
        self.returned_inputs = frozenset(self._output_of)
        if self.parameters is None and outputs:
            self.parameters = self._declared(copies, outputs)
        return tuple(outputs)

    def verify_result(self, _: Any, actual: Any) -> tuple[bool, dict[str, Any]]:  # noqa: ANN401  as above
        """The answer of check_implementation: a word or a pair, as KernelBot takes it."""
        data, _ = self._copied(_leaves(self._data, torch.is_tensor))
        outputs = iter(actual)
        said = self._reference.check_implementation(data, _rebuilt(self._returned, outputs))
        right, message = said if isinstance(said, tuple) else (not said, said)
        return bool(right), {"message": str(message or "")}

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        """The numbers of the data, then those of the test."""
        return list(self._numbers(test_case).values())

    def _copied(self, tensors: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401  as above
        copies = [tensor.clone() for tensor in tensors]
        return _rebuilt(self._data, iter(copies)), copies

    def _numbers(self, case: dict[str, Any]) -> dict[str, int | float]:
        named = _named(self._data)
        tested = {name: value for name, value in case.items() if name not in {_SEED, "name", "create_inputs"}}
        return {name: value for name, value in {**named, **tested}.items() if type(value) in {int, float}}

    def data_places(self, inputs: int) -> list[int]:
        """The places of the parameters that are the tensors of the data."""
        given = [at for at in range(inputs) if at not in self.returned_inputs]
        return [given.index(at) if at in given else len(given) + self._output_of[at] for at in range(inputs)]

    def settle(self, case: dict[str, Any]) -> None:
        """Declare the numbers of a case after the tensors."""
        known = self.parameters or []
        taken = {one["name"] for one in known}
        if not any(one.get("is_number") for one in known):
            known += [
                {"name": _unused(name, taken), "type": _number_type(value), "pointer": False, "is_number": True}
                for name, value in self._numbers(case).items()
            ]

    def _declared(self, inputs: list[Any], outputs: list[Any]) -> list[dict[str, Any]]:
        parts = self._data if isinstance(self._data, list | tuple) else [self._data]
        known = self._names if len(self._names) == len(parts) else ["input"] * len(parts)
        names = [one for part, name in zip(parts, known, strict=True) for one in _tensor_names(part, name)]
        taken: set[str] = set()
        given = [at for at in range(len(inputs)) if at not in self.returned_inputs]
        declared = [_pointer(_unused(names[at], taken), inputs[at], const=True) for at in given]
        for output in outputs:
            same = [at for at in self.returned_inputs if _is_same(inputs[at], output)]
            declared.append(_pointer(_unused(names[same[0]] if same else "output", taken), output, const=False))
        return declared


def arguments_in(task: str, section: str) -> list[dict[str, Any]]:
    """The list of mappings below `section:` of a task.yml; raises DefinitionError."""
    lines = task.split("\n")
    start = next((at for at, line in enumerate(lines) if re.match(rf"{section}\s*:", line)), None)
    found: list[dict[str, Any]] = []
    for line in lines[start + 1 :] if start is not None else []:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith((" ", "-", "\t")):
            break
        item = _ITEM.match(line)
        if item:
            found.append({})
        text = item["rest"].strip() if item else line.strip()
        if text.startswith("{"):
            found[-1] = _value(text)
        elif (pair := _PAIR.match(text)) and found:
            found[-1][pair["name"]] = _value(pair["value"].strip())
    if not all(isinstance(one, dict) for one in found):
        raise DefinitionError(f"task.yml: {section} is not a list of mappings")
    return found


def _value(text: str) -> Any:  # noqa: ANN401  any value of YAML
    """A value in YAML's flow style, which is nearly Python's."""
    text = text.partition(" #")[0].strip()
    quoted = _BARE.sub(lambda word: _WORDS.get(word[1].lower(), repr(word[1])), text) if text else "None"
    for candidate in (text, quoted):
        try:
            return ast.literal_eval(candidate)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    raise DefinitionError(f"task.yml: {text[:80]!r} cannot be read; write it as {{name: value, name: value}}")


def _module(name: str, source: str, file_name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    if name == "utils":
        vars(module).update(_UTILS)
    if name == "task":
        vars(module).update(input_t=Any, output_t=Any, TestSpec=dict)
    exec(compile(source, file_name, "exec"), vars(module))  # noqa: S102  in a sandbox, which is there for it
    return module


def _unpacked_names(source: str) -> list[str]:
    """The names that ref_kernel gives to the parts of its data."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.name == "ref_kernel" and function.args.args:
            data = function.args.args[0].arg
            for one in ast.walk(function):
                match one:
                    case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id=value)) if value == data:
                        return [name.id if isinstance(name, ast.Name) else "" for name in names]
    return []


def _leaves(value: Any, wanted: Callable[[Any], bool]) -> list[Any]:  # noqa: ANN401  any data
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item, wanted)]
    return [value] if wanted(value) else []


def _rebuilt(value: Any, tensors: Any) -> Any:  # noqa: ANN401  any data
    """The same structure with other tensors."""
    if torch.is_tensor(value):
        return next(tensors)
    if isinstance(value, dict):
        return {name: _rebuilt(item, tensors) for name, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_rebuilt(item, tensors) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(_rebuilt(item, tensors) for item in value)
    return value


def _tensor_names(data: Any, name: str) -> list[str]:  # noqa: ANN401  any data
    """A name for each tensor: its key, or the name of the data."""
    if isinstance(data, dict):
        return [one for key, item in data.items() for one in _tensor_names(item, str(key))]
    if isinstance(data, list | tuple):
        return [one for item in data for one in _tensor_names(item, name)]
    return [name] if torch.is_tensor(data) else []


def _named(data: Any) -> dict[str, Any]:  # noqa: ANN401  any data
    """The values of all dictionaries in the data."""
    if isinstance(data, dict):
        flat = {str(key): item for key, item in data.items() if not isinstance(item, dict | list | tuple)}
        return {**flat, **_named(list(data.values()))}
    merged: dict[str, Any] = {}
    for item in data if isinstance(data, list | tuple) else ():
        merged |= _named(item)
    return merged


def _unused(name: str, taken: set[str]) -> str:
    """A C identifier that is not taken, which it takes."""
    plain = re.sub(r"\W", "_", name)
    if not plain or plain[0].isdigit() or keyword.iskeyword(plain):
        plain = f"input_{plain}"
    at = 1
    while (unused := plain if at == 1 else f"{plain}{at}") in taken:
        at += 1
    taken.add(unused)
    return unused


def _pointer(name: str, tensor: Any, *, const: bool) -> dict[str, Any]:  # noqa: ANN401  a tensor
    is_narrow = str(tensor.dtype).removeprefix("torch.") in _NARROW
    ctype = "uint8_t" if is_narrow else c_type_of(tensor.dtype)
    return {"name": name, "type": ctype, "pointer": True, "const": const}


def _number_type(value: float) -> str:
    if type(value) is float:
        return "float"
    return "int" if abs(value) < _INT_LIMIT else "int64_t"


def _is_same(one: Any, other: Any) -> bool:  # noqa: ANN401  tensors
    if one is other:
        return True
    return not one.is_meta and one.shape == other.shape and one.data_ptr() == other.data_ptr() and one.numel() > 0


def _verbose_allclose(received: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-8, **_: Any) -> Any:  # noqa: ANN401
    if received.shape != expected.shape:
        return False, ["SIZE MISMATCH"]
    close = torch.isclose(received.float(), expected.float(), rtol=rtol, atol=atol, equal_nan=True)
    wrong = int((~close).sum())
    return wrong == 0, [f"Number of mismatched elements: {wrong}"] if wrong else []


def _match_reference(data: Any, output: Any, reference: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:  # noqa: ANN401
    good, reasons = _verbose_allclose(output, reference(data), rtol=rtol, atol=atol)
    return good, "\n".join(reasons)


def _make_match_reference(reference: Any, **limits: float) -> Any:  # noqa: ANN401  a function
    return lambda data, output: _match_reference(data, output, reference, **limits)


def _verbose_allequal(received: Any, expected: Any, **_: Any) -> Any:  # noqa: ANN401  tensors
    return _verbose_allclose(received.double(), expected.double(), 0.0, 0.0)


class _Deterministic:
    """KernelBot's context in which torch is deterministic, as it is on a processor."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_UTILS = {
    "verbose_allclose": _verbose_allclose,
    "verbose_allequal": _verbose_allequal,
    "match_reference": _match_reference,
    "make_match_reference": _make_match_reference,
    "set_seed": lambda seed=42: torch.manual_seed(seed),
    "get_device": lambda **_: torch.device("cuda"),
    "DeterministicContext": _Deterministic,
    "DisableCuDNNTF32": _Deterministic,
}
