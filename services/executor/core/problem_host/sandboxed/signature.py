"""Parameters of `solution` as a problem class declares them: in `parameters` or, the older way, as ctypes."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import ctypes
import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from problem import ALIASES, DTYPES, OPAQUE

torch: Any = importlib.import_module("torch")

# The C type by the code of a ctypes type; c_size_t is c_ulong here.
_CTYPES = {
    "f": "float", "d": "double", "?": "bool", "b": "int8_t", "B": "uint8_t", "h": "int16_t", "H": "uint16_t",
    "i": "int", "I": "uint32_t", "l": "int64_t", "L": "size_t", "q": "int64_t", "Q": "uint64_t",
}  # fmt: skip
_C_OF_DTYPE = {dtype: name for name, dtype in reversed(DTYPES.items())}


class DefinitionError(Exception):
    """The definition is not a proper problem class; the message says what to change."""


@dataclass
class Parameter:
    """One parameter; `ctype` is empty if only its tensor shows the type."""

    name: str
    ctype: str
    pointer: bool
    const: bool = False


def c_type_of(dtype: Any) -> str:  # noqa: ANN401  torch has no types here
    """The C name of a torch type; raises DefinitionError for a type that kernels cannot take."""
    if dtype not in _C_OF_DTYPE:
        raise DefinitionError(f"tensors of {dtype} cannot be passed to a kernel")
    return _C_OF_DTYPE[dtype]


def parameters_of(definition: Any, given: list[bool], outputs: int) -> list[Parameter]:  # noqa: ANN401
    """The parameters in order; raises DefinitionError.

    The older way needs `given`, which says for each of the reference's inputs whether `solution` takes it too, and
    `outputs`, the number of outputs.
    """
    declared = definition.parameters
    if declared:
        return [_declared(item, at) for at, item in enumerate(declared)]
    if not hasattr(definition, "get_function_signature"):
        raise DefinitionError("the class has neither `parameters` nor `get_function_signature`")
    kinds = definition.get_function_signature()["argtypes"]
    inputs = sum(given)
    names = _names(definition, len(kinds), given, outputs)
    parameters = [
        _from_ctypes(kind, name, const=at < inputs) for at, (kind, name) in enumerate(zip(kinds, names, strict=True))
    ]
    for parameter in parameters[: inputs + outputs]:
        # The tensor's type is better: ctypes has no 16-bit floats.
        parameter.ctype = "" if parameter.pointer else parameter.ctype
    return parameters


def _declared(item: Any, at: int) -> Parameter:  # noqa: ANN401
    try:
        name, ctype, pointer = str(item["name"]), item["type"], bool(item["pointer"])
    except (TypeError, KeyError) as error:
        raise DefinitionError(f"parameters[{at}] needs name, type and pointer") from error
    ctype = ALIASES.get(ctype, ctype)
    if ctype in OPAQUE and pointer:
        ctype = "uint8_t"
    if ctype not in DTYPES:
        by_pointer = ", ".join(sorted(OPAQUE))
        raise DefinitionError(
            f"parameters[{at}].type is {ctype!r}; known are {', '.join(DTYPES)}, and by pointer {by_pointer}"
        )
    return Parameter(name, str(ctype), pointer, bool(item.get("const", False)))


def _from_ctypes(kind: Any, name: str, *, const: bool) -> Parameter:  # noqa: ANN401
    if kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer):  # noqa: SLF001  ctypes has no other name for it
        pointed = getattr(kind, "_type_", None)
        return Parameter(name, _CTYPES.get(getattr(pointed, "_type_", ""), ""), pointer=True, const=const)
    if kind._type_ not in _CTYPES:
        raise DefinitionError(f"get_function_signature: {kind.__name__} cannot be passed")
    return Parameter(name, _CTYPES[kind._type_], pointer=False)


def _names(definition: Any, count: int, given: list[bool], outputs: int) -> list[str]:  # noqa: ANN401
    """Parameter names: the reference's own names for the inputs, made-up ones for the rest."""
    named = list(inspect.signature(definition.reference_solution).parameters)
    words = [*named[: len(given)], *(f"input{at}" for at in range(len(named), len(given)))]
    names = [word for word, is_given in zip(words, given, strict=True) if is_given]
    names += ["output"] if outputs == 1 else [f"output{at}" for at in range(outputs)]
    return [*names, *(f"extra{at}" for at in range(count - len(names)))][:count]


def settle_type(parameter: Parameter, value: Any) -> None:  # noqa: ANN401
    """Give a parameter the type of its tensor if the class does not declare it; raises DefinitionError."""
    if torch.is_tensor(value) and parameter.pointer and not parameter.ctype:
        parameter.ctype = c_type_of(value.dtype)
    if not parameter.ctype:
        raise DefinitionError(f"the type of parameter {parameter.name} is not known")


def as_passed(tensor: Any, ctype: str) -> Any:  # noqa: ANN401
    """The tensor with elements of the C type; converted, unless its bits already are those numbers, or bytes."""
    dtype = DTYPES[ctype]
    if tensor.dtype == dtype or (tensor.element_size() == dtype.itemsize and _has_same_bits(tensor.dtype, dtype)):
        return tensor
    return tensor.to(dtype)


def _has_same_bits(have: Any, want: Any) -> bool:  # noqa: ANN401
    whole = not (have.is_floating_point or want.is_floating_point or want is torch.bool)
    return want is torch.uint8 or whole


def passed(parameter: Parameter, value: Any) -> Any:  # noqa: ANN401
    """The value as it is passed: a tensor for a pointer, a number otherwise."""
    if parameter.pointer:
        dtype = DTYPES[parameter.ctype]
        if isinstance(value, ctypes.Array):
            value = list(value)
        return as_passed(value, parameter.ctype) if torch.is_tensor(value) else torch.tensor(value, dtype=dtype)
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, bool | int | float):
        raise DefinitionError(f"{parameter.name} is {type(value).__name__}; a number is passed by value")
    return value
