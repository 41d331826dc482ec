"""The rules against libraries that would do a submission's work, and against tricks that hide code from readers.

The rules are settings: `forbidden.toml` beside this file, and the operator's own file, which adds to it or changes it.
They are matched against the words of the source (`cpp_tokens.py`) without comments and strings, the symbols of the
object files made from it alone (`object_symbols.py`), and the libraries that the finished build needs. So a submission
is not blamed for anything that our runner or a device's runtime loads.
"""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Any, cast

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from services.executor.core.compile.cpp_tokens import Header, Name, words
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict

_DEFAULTS = Path(__file__).with_name("forbidden.toml")
_FIELDS = {"verdict", "why", "fix", "headers", "names", "libraries", "symbols", "calls", "everywhere", "enabled"}
_VERDICTS = {"source": Verdict.FORBIDDEN_SOURCE, "library": Verdict.FORBIDDEN_LIBRARY}


class ForbiddenRulesError(ValueError):
    """A file of rules is malformed; the message names the file, the rule and the fix."""


@dataclass(frozen=True)
class Rule:
    """One forbidden thing. Patterns are shell-style and match case.

    Rules with `everywhere` hold for every problem, others only for problems that name them (`Problem.forbidden`).
    """

    name: str
    verdict: Verdict
    why: str
    fix: str
    headers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    everywhere: bool = True


@cache
def rules(file: Path | None = None) -> tuple[Rule, ...]:
    """The default rules, as changed by `file`; raises ForbiddenRulesError."""
    tables = _tables(_DEFAULTS)
    for name, table in (_tables(file) if file else {}).items():
        tables[name] = {**tables.get(name, {}), **table}
    found = [_rule(name, table, file or _DEFAULTS) for name, table in tables.items()]
    return tuple(rule for rule in found if tables[rule.name].get("enabled", True))


def rules_for(every: Iterable[Rule], named: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that hold for a problem that names `named`."""
    names = set(named)
    return tuple(rule for rule in every if rule.everywhere or rule.name in names)


def check_source(source: str, held: Sequence[Rule]) -> None:
    """Raises Failure at the first word that a rule forbids."""
    seen: set[tuple[type, str]] = set()
    for word in words(source):
        if (mark := (type(word), word.text)) in seen:
            continue
        seen.add(mark)
        for rule in held:
            if _matches(rule, word):
                what = f"#include <{word.text}>" if isinstance(word, Header) else word.text
                raise _failure(rule, f"line {word.line}: `{what}`")


def check_build(libraries: Iterable[str], symbols: Iterable[str], held: Sequence[Rule]) -> None:
    """Raises Failure if a rule forbids a library that a build needs, or a symbol of the source's own object files."""
    names = sorted(symbols)
    for rule in held:
        forbidden = _any_of((*rule.symbols, *rule.calls))
        for symbol in filter(forbidden.fullmatch, names):
            raise _failure(rule, f"the build calls `{symbol}`, which")
    for library in libraries:
        for rule in held:
            if _any_of(rule.libraries).fullmatch(library):
                raise _failure(rule, f"the build needs `{library}`")


def needed_libraries(executable: bytes) -> tuple[str, ...]:
    """Returns the DT_NEEDED entries of an ELF file; none if it is static or not an ELF file."""
    try:
        dynamic = cast("Any", ELFFile(io.BytesIO(executable))).get_section_by_name(".dynamic")
    except ELFError:
        return ()
    tags = dynamic.iter_tags() if dynamic else ()
    return tuple(str(tag.needed) for tag in tags if tag.entry.d_tag == "DT_NEEDED")


def _matches(rule: Rule, word: Name | Header) -> bool:
    if isinstance(word, Header):
        return bool(_any_of(rule.headers).fullmatch(word.text))
    # `a::b::c` is found by the patterns of `c`, `b::c` and `a::b::c`.
    parts, names = word.text.split("::"), _any_of((*rule.names, *rule.calls))
    return any(names.fullmatch("::".join(parts[at:])) for at in range(len(parts)))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def _failure(rule: Rule, where: str) -> Failure:
    return Failure(rule.verdict, f"{where} is not allowed: {rule.why}. {rule.fix}", reason=rule.name)


def _tables(file: Path) -> dict[str, dict[str, Any]]:
    try:
        parsed = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ForbiddenRulesError(f"{file}: cannot be read as TOML: {error}") from error
    for name, table in parsed.items():
        if not isinstance(table, dict):
            raise ForbiddenRulesError(f"{file}: `{name}` must be a table with {', '.join(sorted(_FIELDS))}")
    return cast("dict[str, dict[str, Any]]", parsed)


def _rule(name: str, table: Mapping[str, Any], file: Path) -> Rule:
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ForbiddenRulesError(f"{file}: rule `{name}`: a name has lower-case letters, digits and dashes")
    if unknown := set(table) - _FIELDS:
        raise ForbiddenRulesError(
            f"{file}: [{name}] has unknown {', '.join(sorted(unknown))}; known: {sorted(_FIELDS)}"
        )
    if table.get("verdict") not in _VERDICTS:
        raise ForbiddenRulesError(f"{file}: [{name}] verdict: must be one of {', '.join(_VERDICTS)}")
    for field in ("why", "fix"):
        if not isinstance(table.get(field), str):
            raise ForbiddenRulesError(f"{file}: [{name}] {field}: must be a sentence for the author")
    patterns = {field: _patterns(table.get(field, []), f"{file}: [{name}] {field}") for field in _PATTERN_FIELDS}
    everywhere = bool(table.get("everywhere", True))
    return Rule(name, _VERDICTS[table["verdict"]], table["why"], table["fix"], **patterns, everywhere=everywhere)


_PATTERN_FIELDS = ("headers", "names", "libraries", "symbols", "calls")


def _patterns(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
        raise ForbiddenRulesError(f"{name}: must be a list of patterns")
    return tuple(cast("list[str]", value))
