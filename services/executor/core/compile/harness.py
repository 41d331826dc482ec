"""The C++ that joins our runner to a submission: it turns a list of pointers into a call of `solution`."""

from __future__ import annotations

from collections.abc import Sequence

from problems.kit.element_types import ELEMENT_TYPES, ElementType
from problems.kit.signature import Parameter


def harness_source(parameters: Sequence[Parameter]) -> str:
    """Returns the source of `wavepool_call(arguments)`.

    The entry of an array is its device address; the entry of a scalar is the address of its value.
    """
    declaration = ", ".join(_declared(parameter) for parameter in parameters)
    arguments = ",\n           ".join(_argument(parameter, at) for at, parameter in enumerate(parameters))
    return (
        f"{_includes(parameters)}\n"
        f'extern "C" void solution({declaration});\n\n'
        'extern "C" void wavepool_call(void** arguments) {\n'
        f"  solution({arguments});\n"
        "}\n"
    )


def expected_declaration(parameters: Sequence[Parameter]) -> str:
    """The declaration that a submission must have, as its author would write it."""
    return f'extern "C" void solution({", ".join(parameter.declaration for parameter in parameters)})'


def _includes(parameters: Sequence[Parameter]) -> str:
    scalars = [element for parameter in parameters if not parameter.pointer and (element := _element(parameter))]
    headers = sorted({element.header for element in scalars if element.header})
    # HIP's headers take most of the time for the harness, and C's types are enough for nearly all signatures.
    names = (*(["hip/hip_runtime.h", *headers] if headers else []), "stddef.h", "stdint.h")
    return "".join(f"#include <{name}>\n" for name in names)


def _element(parameter: Parameter) -> ElementType | None:
    return next((element for element in ELEMENT_TYPES.values() if parameter.ctype in element.spellings), None)


def _ctype(parameter: Parameter) -> str:
    """Our own spelling of the type; people write several."""
    element = _element(parameter)
    return parameter.ctype if element is None else element.ctype


def _declared(parameter: Parameter) -> str:
    return f"{_pointer_type(parameter) if parameter.pointer else _ctype(parameter)} {parameter.name}"


def _pointer_type(parameter: Parameter) -> str:
    """The C++ type of a pointer parameter: untyped if the element type needs a header, as the linker ignores types."""
    element = _element(parameter)
    untyped = element is not None and element.header
    return f"{'const ' if parameter.const else ''}{'void' if untyped else _ctype(parameter)}*"


def _argument(parameter: Parameter, at: int) -> str:
    if parameter.pointer:
        return f"static_cast<{_pointer_type(parameter)}>(arguments[{at}])"
    return f"*static_cast<const {_ctype(parameter)}*>(arguments[{at}])"
