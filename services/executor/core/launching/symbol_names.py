"""Finds the names that kernels and device variables have in a code object.

A recording has the names that our own clang gives them with our own headers. As in hipcc, which is clang too, `float4`
is `HIP_vector_type<float, 4>`; in nvcc it is a struct. nvcc (seen with 13.0) also gives another form to names that are
local to a file: it leaves out the `L` of `_ZL4stepPf`, and the anonymous namespace, and sometimes the scope around it,
has a hash of the file instead of `12_GLOBAL__N_1`. There, `_Float16` is a class of ours. Another type name also changes
how a name refers back to its own parts, so names are compared with those references written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from services.executor.core.launching.program import Launch, LaunchProgram, Operation
from services.executor.core.launching.recording import NotRecordableError

_ANONYMOUS = "_GLOBAL__N_"
_OF_A_FILE = "_INTERNAL_"
_OF_OUR_COLLECTIVES = "14wp_collectives"
"""A namespace in the headers that host code is recorded with; the GPU libraries' own kernels have other names."""
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
"""A limit for names that refer to themselves again and again, which would grow without end."""


def named_as_in(symbols: Iterable[str], program: LaunchProgram) -> LaunchProgram:
    """Returns the program with the names in `symbols`; raises NotRecordableError if one of its names is not there."""
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
    """A form of a mangled name that all compilers share; different names of one source keep different forms."""
    if not symbol.startswith("_Z") or len(symbol) > _MOST_CHARACTERS:
        return symbol
    try:
        plain = _Mangled(symbol).plain()
    except (ValueError, RecursionError):
        return symbol
    # A variable at global scope is not mangled, unless it is local to its file.
    alone = re.fullmatch(r"\{([^{}]+)\}", plain)
    return alone[1] if alone else plain


class _Mangled:
    """Reads a name as in section 5.1 of the Itanium C++ ABI, as far as kernels and variables need it.

    Raises ValueError for the rest: lambdas, expressions, names declared in a function.
    """

    def __init__(self, symbol: str) -> None:
        self._text = symbol
        self._at = len("_Z")
        self._known: list[str] = []
        """The parts that later ones can refer to, in the ABI's order."""

    def plain(self) -> str:
        """The name with its types, with all references written out and words in braces."""
        parts = [self._name()]
        while self._at < len(self._text):
            parts.append(self._type())
        return "".join(parts)

    def _take(self, pattern: str) -> str:
        """Takes the next characters if they match, else an empty string."""
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
        """Reads a substitution: a reference to an earlier part."""
        digits = self._need("S[0-9A-Z]*_")[1:-1]
        at = int(digits, 36) + 1 if digits else 0
        if at >= len(self._known):
            raise ValueError("the name refers to what it does not have")
        return self._known[at]

    def _arguments(self) -> str:
        """Reads the arguments of a template."""
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
