"""Tells the author of a failed `solution` if its parameters differ from the problem's.

`extern "C"` keeps types out of a symbol's name, so the linker joins any `solution` to our call, and one with other
parameters reads whatever is in their registers. Only the source's text shows this, and macros and aliases may make it
misleading. So a difference is only a hint beside a verdict that does not depend on it, and doubtful cases get no hint.
Integers narrower than the problem's get none either: they correctly read the low bits. Nor does a floating-point number
in another place (`input, output, n, m, alpha` for `input, alpha, output, n, m`, as in older problems): a call passes
these in registers of their own, so only the order within each sort counts.

`problems.kit.signature` is no help here: it refuses types that it does not know, references, arrays and parameters
without a name, and all of these are legal in a submission.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from problems.kit.signature import DTYPES, Parameter
from services.executor.core.compile.harness import expected_declaration
from services.executor.core.compile.source import code_of
from services.executor.core.model.verdict import Verdict

BLAMABLE = frozenset(
    {
        Verdict.WRONG_ANSWER,
        Verdict.PRECISION,
        Verdict.INPUT_MODIFIED,
        Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC,
        Verdict.RUNTIME_ERROR,
        Verdict.LAUNCH_ERROR,
        Verdict.TIME_LIMIT_EXCEEDED,
        Verdict.MEMORY_LIMIT_EXCEEDED,
    }
)
"""Verdicts that wrong parameters can cause."""

_DEFINITION = r"\b{}\s*\((?P<parameters>[^(){{}};]*)\)\s*(?:noexcept\s*)?\{{"
_SOLUTION, _SOLVE = "solution", "solve"
_WORD = re.compile(r"[A-Za-z_]\w*|[*&]|\[[^\]]*\]")
_QUALIFIERS = frozenset({"const", "volatile", "restrict", "__restrict__", "__restrict", "struct", "signed", "std"})
_TYPES = {
    **{name: (dtype.kind if dtype.kind in "iub" else "f", dtype.itemsize) for name, dtype in DTYPES.items()},
    "char": ("i", 1),
    "unsigned char": ("u", 1),
    "short": ("i", 2),
    "unsigned short": ("u", 2),
    "long": ("i", 8),
    "long int": ("i", 8),
    "long long": ("i", 8),
    "long long int": ("i", 8),
    "unsigned long": ("u", 8),
    "unsigned long long": ("u", 8),
}
"""Kind and size in bytes of the types that people usually write; other types cannot be compared."""
_OFTEN_BITS_BYTES = 2
_REGISTERS = 6
"""Parameters of one sort that a call passes in registers: the fewest are on x86-64, for pointers and integers."""


@dataclass(frozen=True)
class _Declared:
    """A parameter as the source declares it; `type` is None if the text does not show it."""

    text: str
    type: tuple[str, int] | None
    pointer: bool
    const: bool


def signature_hint(source: str, parameters: Sequence[Parameter]) -> str:
    """Says how the source's `solution` differs from `parameters`; empty if it does not, or if that is unclear."""
    found = _declared(source)
    if found is None:
        return ""
    difference = _difference(found, parameters)
    if not difference:
        return ""
    as_written = ", ".join(parameter.text for parameter in found)
    return (
        f"The parameters of `solution` are not the problem's: {difference}. Declare it as "
        f"`{expected_declaration(parameters)}`; the source has `solution({as_written})`."
    )


def with_solution(source: str, parameters: Sequence[Parameter]) -> str:
    """The source with a `solution` that calls its `solve`, as LeetGPU has it.

    Empty if it has a `solution` or no `solve`, or if the parameters do not fit: sizes may be narrower integers.
    """
    if re.search(rf"\b{_SOLUTION}\s*\(", code_of(source)) or _declared(source) is not None:
        return ""
    found = _declared(source, _SOLVE)
    if found is None or len(found) != len(parameters):
        return ""
    pairs = [*zip(found, parameters, strict=True)]
    if not all(_agrees(one, parameter) and one.type is not None for one, parameter in pairs):
        return ""
    names = [f"argument{at}" for at in range(len(parameters))]
    # Only the linker joins the call to this definition, so it may have the types that `solve` has.
    declared = ", ".join(
        f"{'const ' if one.const else ''}{_type_of(one)}* {name}" if one.pointer else f"{parameter.ctype} {name}"
        for (one, parameter), name in zip(pairs, names, strict=True)
    )
    return f'{source}\n#line 1 "solve.hpp"\nextern "C" void solution({declared}) {{ solve({", ".join(names)}); }}\n'


def _type_of(one: _Declared) -> str:
    """The type that a pointer points to, as it was written."""
    words = [word for word in _WORD.findall(one.text.partition("*")[0]) if word != "const"]
    return " ".join(words)


def _declared(source: str, function: str = _SOLUTION) -> list[_Declared] | None:
    """Parameters of the source's `solution`; None if it has no definition or several."""
    definitions = list(re.finditer(_DEFINITION.format(function), code_of(source)))
    if len(definitions) != 1:
        return None
    text = definitions[0]["parameters"].strip()
    return [_parameter(piece) for piece in text.split(",")] if text not in {"", "void"} else []


def _parameter(text: str) -> _Declared:
    words = _WORD.findall(text)
    pointer = any(word in {"*", "&"} or word.startswith("[") for word in words)
    names = [word for word in words if word.isidentifier() and word not in _QUALIFIERS]
    before_star = words[: words.index("*")] if "*" in words else words
    # If the parameter has no name, the whole text is its type.
    readings = (" ".join(names[:-1]), " ".join(names))
    known = next((_TYPES[reading] for reading in readings if reading in _TYPES), None)
    return _Declared(" ".join(text.split()), known, pointer, "const" in before_star)


def _difference(found: Sequence[_Declared], wanted: Sequence[Parameter]) -> str:
    if len(found) != len(wanted):
        return f"it has {len(found)} where {len(wanted)} are passed"
    if _same_registers(found, wanted):
        return ""
    for at, (one, parameter) in enumerate(zip(found, wanted, strict=True), start=1):
        if not _agrees(one, parameter):
            return f"parameter {at} is `{one.text}` where `{parameter.declaration}` is passed"
    return ""


def _same_registers(found: Sequence[_Declared], wanted: Sequence[Parameter]) -> bool:
    """True if every parameter reads its own register, however integers and floating-point numbers are mixed."""
    if any(one.type is None and not one.pointer for one in found):
        return False
    points = [one for one in found if not one.pointer and one.type is not None and one.type[0] == "f"]
    others = [one for one in found if one not in points]
    wanted_points = [parameter for parameter in wanted if not parameter.pointer and _TYPES[parameter.ctype][0] == "f"]
    wanted_others = [parameter for parameter in wanted if parameter not in wanted_points]
    if len(points) != len(wanted_points) or max(len(points), len(others)) > _REGISTERS:
        return False
    pairs = [*zip(points, wanted_points, strict=True), *zip(others, wanted_others, strict=True)]
    return all(_agrees(one, parameter) for one, parameter in pairs)


def _agrees(one: _Declared, parameter: Parameter) -> bool:
    if one.pointer != parameter.pointer:
        # An unknown type may be an alias of a pointer type.
        return one.type is None and not one.pointer
    if parameter.output and one.const:
        return False
    if one.type is None:
        return True
    kind, size_bytes = _TYPES[parameter.ctype]
    same_class = (one.type[0] == "f") == (kind == "f")
    if parameter.pointer:
        # Elements of 16 or fewer bits are often declared as plain bits, and unpacked by hand.
        return one.type[1] == size_bytes and (same_class or size_bytes <= _OFTEN_BITS_BYTES)
    return same_class and (one.type[1] == size_bytes if kind == "f" else one.type[1] <= size_bytes)
