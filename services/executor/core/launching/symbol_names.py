"""Kernels and device variables by the names that they have in a code object.

A recording names them as our own clang does with our own headers. hipcc is clang too, but `float4` is there
`HIP_vector_type<float, 4>` (amd_hip_vector_types.h); nvcc gives names of a file's own another form: it leaves out the
`L` of `_ZL4stepPf`, the anonymous namespace is not `12_GLOBAL__N_1` but has a hash of the file, and so may what it is
in (seen with nvcc 13.0), and `_Float16` is a class of ours there. A type of another name also changes how a name refers
to its own earlier parts, so names are compared with those written out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from services.executor.core.launching.program import Launch, LaunchProgram
from services.executor.core.launching.recording import NotRecordableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from services.executor.core.launching.program import Operation

_ANONYMOUS = "_GLOBAL__N_"
_OF_A_FILE = "_INTERNAL_"
_OF_OUR_COLLECTIVES = "14wp_collectives"
"""In the headers with which host code is recorded; the libraries of GPUs have kernels of other names."""
_HALF_OF_NVCC = "{wavepool_float16}"
_VECTOR_OF_HIP = re.compile(r"\{HIP_vector_type\}<(.)Lj([1-4])E>")
_ELEMENTS = {
    "c": "char",
    "h": "uchar",
    "s": "short",
    "t": "ushort",
    "i": "int",
    "j": "uint",
    "l": "long",
    "m": "ulong",
    "x": "longlong",
    "y": "ulonglong",
    "f": "float",
    "d": "double",
}
_MOST_CHARACTERS = 1_000
"""Names that refer to themselves again and again would grow without end."""


def named_as_in(symbols: Iterable[str], program: LaunchProgram) -> LaunchProgram:
    """The program with the names of a code object's `symbols`; raises NotRecordableError for what it has no name of."""
    known = set(symbols)
    by_plain: dict[str, list[str]] = {}
    for symbol in known:
        by_plain.setdefault(_plain(symbol), []).append(symbol)
    names = {name: name if name in known else _only(by_plain.get(_plain(name), [])) for name in _names(program)}
    if missing := next((name for name, found in names.items() if not found), ""):
        if _OF_OUR_COLLECTIVES in missing:
            raise NotRecordableError(
                "device-wide functions of hipCUB and CUB launch kernels of the library's own, which are not recorded: "
                "write that kernel, with the library's functions for blocks"
            )
        raise NotRecordableError(
            f"`{missing}` has another name in the device code, or is not there: give kernels and device variables "
            "names of their own at file scope, and no lambdas as template arguments"
        )
    return replace(
        program,
        variables=tuple(names[name] for name in program.variables),
        first=_renamed(program.first, names),
        later=_renamed(program.later, names),
    )


def _only(symbols: Sequence[str]) -> str:
    return symbols[0] if len(symbols) == 1 else ""


def _names(program: LaunchProgram) -> list[str]:
    steps = (*program.first, *program.later)
    return list(dict.fromkeys([*program.variables, *(step.kernel for step in steps if isinstance(step, Launch))]))


def _renamed(steps: tuple[Operation, ...], names: Mapping[str, str]) -> tuple[Operation, ...]:
    return tuple(replace(step, kernel=names[step.kernel]) if isinstance(step, Launch) else step for step in steps)


def _plain(symbol: str) -> str:
    """What a mangled name is in all forms; two names of one source have not the same."""
    if not symbol.startswith("_Z") or len(symbol) > _MOST_CHARACTERS:
        return symbol
    try:
        plain = _Mangled(symbol).plain()
    except (ValueError, RecursionError):
        return symbol
    # A variable that is in nothing else is not mangled, unless it is its file's own.
    alone = re.fullmatch(r"\{([^{}]+)\}", plain)
    return alone[1] if alone else plain


class _Mangled:
    """Reads a name as the Itanium C++ ABI has it (section 5.1), as far as kernels and variables have such names.

    Raises ValueError for the rest: lambdas, expressions, what is declared in a function.
    """

    def __init__(self, symbol: str) -> None:
        self._text = symbol
        self._at = len("_Z")
        self._known: list[str] = []
        """What later parts can refer to, in the ABI's order."""

    def plain(self) -> str:
        """The name with its types, each written out and words in braces."""
        parts = [self._name()]
        while self._at < len(self._text):
            parts.append(self._type())
        return "".join(parts)

    def _take(self, pattern: str) -> str:
        """What comes next, if it is such."""
        found = re.compile(pattern).match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _need(self, pattern: str) -> str:
        if found := self._take(pattern):
            return found
        raise ValueError(f"{self._text[self._at :]!r} is not read")

    def _add(self, known: str) -> str:
        if len(known) > _MOST_CHARACTERS:
            raise ValueError("the name is too long")
        vector = _VECTOR_OF_HIP.fullmatch(known)
        if vector and vector[1] in _ELEMENTS:
            known = f"{{{_ELEMENTS[vector[1]]}{vector[2]}}}"
        self._known.append("DF16_" if known == _HALF_OF_NVCC else known)
        return self._known[-1]

    def _name(self) -> str:
        if self._take("N"):
            return self._nested()
        name = ("{std}" if self._take("St") else "") + self._word()
        return self._add(name) + self._arguments() if self._text.startswith("I", self._at) else name

    def _nested(self) -> str:
        self._take("[rVK]*[RO]?")
        name = ""
        while True:
            if self._text.startswith("S", self._at):
                name = "{std}" if self._take("St") else self._earlier()
            else:
                name += self._arguments() if self._text.startswith("I", self._at) else self._word()
                if not self._text.startswith("E", self._at):
                    self._add(name)
            if self._take("E"):
                return name

    def _word(self) -> str:
        length = int(self._need(r"L?\d+").removeprefix("L"))
        word = self._text[self._at : self._at + length]
        self._at += length
        if word.startswith(_OF_A_FILE):
            return ""
        return "{}" if word.startswith(_ANONYMOUS) else f"{{{word}}}"

    def _earlier(self) -> str:
        """A substitution."""
        digits = self._need("S[0-9A-Z]*_")[1:-1]
        at = int(digits, 36) + 1 if digits else 0
        if at >= len(self._known):
            raise ValueError("the name refers to what it does not have")
        return self._known[at]

    def _arguments(self) -> str:
        """Of a template."""
        self._need("I")
        parts: list[str] = []
        while not self._take("E"):
            if self._take("J"):
                parts.append(f"J{self._types_to_the_end()}")
            else:
                parts.append(self._literal() if self._text.startswith("L", self._at) else self._type())
        return f"<{''.join(parts)}>"

    def _literal(self) -> str:
        self._need("L")
        return f"L{self._type()}{self._need('n?[0-9a-f]*E')}"

    def _types_to_the_end(self) -> str:
        parts: list[str] = []
        while not self._take("E"):
            parts.append(self._type())
        return "".join(parts) + "E"

    def _type(self) -> str:
        if self._take("F"):
            return self._add(f"F{self._types_to_the_end()}")
        if around := self._take(r"[rVK]+|[PRO]|A\d*_|Dp|Dv\d+_"):
            return self._add(around + self._type())
        if builtin := self._take("[a-z]|DF16_|DF16b|D[hnisu]"):
            return builtin
        if parameter := self._take(r"T\d*_"):
            return self._add(parameter)
        if self._text.startswith("S", self._at) and not self._text.startswith("St", self._at):
            found = self._take("S[absiod]") or self._earlier()
        elif self._take("N"):
            found = self._add(self._nested())
        else:
            found = self._add(("{std}" if self._take("St") else "") + self._word())
        return self._add(found + self._arguments()) if self._text.startswith("I", self._at) else found
