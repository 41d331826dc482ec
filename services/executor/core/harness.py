"""The C++ that joins our runner to a submission: it turns a list of pointers into a call of `solution`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.signature import Parameter

_HALF_TYPES = {"half": "__half", "__half": "__half", "float16": "_Float16"}


def harness_source(parameters: Sequence[Parameter]) -> str:
    """`wavepool_call(arguments)`: an array's entry is its device address, a scalar's is the address of its value."""
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
    """What a submission has to define, as its author would write it."""
    return f'extern "C" void solution({", ".join(parameter.declaration for parameter in parameters)})'


def _includes(parameters: Sequence[Parameter]) -> str:
    lines = ["#include <hip/hip_runtime.h>", "#include <stddef.h>", "#include <stdint.h>"]
    if any(_ctype(parameter) == "__half" for parameter in parameters):
        lines.insert(1, "#include <hip/hip_fp16.h>")
    return "\n".join(lines) + "\n"


def _ctype(parameter: Parameter) -> str:
    return _HALF_TYPES.get(parameter.ctype, parameter.ctype)


def _declared(parameter: Parameter) -> str:
    return f"{_pointer_type(parameter) if parameter.pointer else _ctype(parameter)} {parameter.name}"


def _pointer_type(parameter: Parameter) -> str:
    return f"{'const ' if parameter.const else ''}{_ctype(parameter)}*"


def _argument(parameter: Parameter, at: int) -> str:
    if parameter.pointer:
        return f"static_cast<{_pointer_type(parameter)}>(arguments[{at}])"
    return f"*static_cast<const {_ctype(parameter)}*>(arguments[{at}])"
