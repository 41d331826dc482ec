"""Kernels and device variables by the names that they have in a code object.

A recording names them as our own clang does. hipcc is clang too; nvcc gives names of a file's own another form: it
leaves out the `L` of `_ZL4stepPf`, the anonymous namespace is not `12_GLOBAL__N_1` but has a hash of the file, and so
may what it is in (seen with nvcc 13.0; the rest of a name is as the Itanium C++ ABI has it, section 5.1).
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

_LITERAL = re.compile(r"L[a-z]n?\d+E")
_LENGTH = re.compile(r"L?(\d+)")
_AT_FILE_SCOPE = re.compile(r"_ZL?(\d+)")
_HALF, _HALF_OF_NVCC = "DF16_", "16wavepool_float16"
"""`_Float16`; nvcc has a class of ours in its place, and so numbers what comes again otherwise."""
_ANONYMOUS = "_GLOBAL__N_"
_OF_A_FILE = "_INTERNAL_"


def named_as_in(symbols: Iterable[str], program: LaunchProgram) -> LaunchProgram:
    """The program with the names of a code object's `symbols`; raises NotRecordableError for what it has no name of."""
    known = set(symbols)
    by_plain: dict[str, str] = {}
    for symbol in known:
        by_plain.setdefault(_plain(symbol), symbol)
    of_half = _by_word(symbol for symbol in known if _HALF_OF_NVCC in symbol)
    names = {
        name: name if name in known else by_plain.get(_plain(name)) or _found(name, of_half) for name in _names(program)
    }
    if missing := next((name for name, found in names.items() if not found), ""):
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


def _found(name: str, of_half: Mapping[str, Sequence[str]]) -> str:
    """What has the name's own word, if that is one kernel, and both have arguments of 16 bits."""
    forms = of_half.get(_word(name), ()) if _HALF in name else ()
    return forms[0] if len(forms) == 1 else ""


def _by_word(symbols: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for symbol in symbols:
        found.setdefault(_word(symbol), []).append(symbol)
    return found


def _word(symbol: str) -> str:
    """The name of a function at file scope, of a template none."""
    length = _AT_FILE_SCOPE.match(symbol)
    if length is None:
        return ""
    end = length.end() + int(length[1])
    return symbol[length.end() : end] if symbol[end : end + 1] not in {"", "I"} else ""


def _names(program: LaunchProgram) -> list[str]:
    steps = (*program.first, *program.later)
    return list(dict.fromkeys([*program.variables, *(step.kernel for step in steps if isinstance(step, Launch))]))


def _renamed(steps: tuple[Operation, ...], names: Mapping[str, str]) -> tuple[Operation, ...]:
    return tuple(replace(step, kernel=names[step.kernel]) if isinstance(step, Launch) else step for step in steps)


def _plain(symbol: str) -> str:
    """What a mangled name is in either form; two names of one source have not the same."""
    if not symbol.startswith("_Z"):
        return symbol
    found, at = list[str](), len("_Z")
    while at < len(symbol):
        if literal := _LITERAL.match(symbol, at):
            found.append(literal[0])
            at = literal.end()
        elif length := _LENGTH.match(symbol, at):
            at = length.end() + int(length[1])
            name = symbol[length.end() : at]
            if not name.startswith(_OF_A_FILE):
                found.append("{}" if name.startswith(_ANONYMOUS) else f"{{{name}}}")
        else:
            found.append(symbol[at])
            at += 1
    # A variable that is in nothing else is not mangled, unless it is its file's own.
    alone = len(found) == 1 and found[0].startswith("{")
    return found[0][1:-1] if alone else "".join(found)
