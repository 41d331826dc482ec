"""What wavefronts do in step without being told: they store all lanes' values at once.

Reductions of old add up the last wavefront's values with volatile accesses to shared memory and nothing between them
(`sums[t] += sums[t + 32]; sums[t] += sums[t + 16]; ...`), as all lanes have read before any of them writes. Here lanes
run one after another, so those that are there meet before and after each volatile store to shared memory.
"""

from __future__ import annotations

import re

from hipcpu.ir.ir_text import SYMBOL, functions_of

_MEET = "@__wp_wave_meet"
_CALL = f"  call void {_MEET}(i64 0, i64 0, i32 0)"
_SHARED = re.compile(r"^(@(?:\"[^\"]*\"|[-\w$.]+)) = internal thread_local", re.MULTILINE)
_ADDRESS = re.compile(
    r'^\s*(%(?:"[^"]*"|[-\w$.]+)) = (?:getelementptr|phi ptr|select|addrspacecast|(?:tail )?call .*@llvm\.threadlocal)'
)
_LOCAL = re.compile(r'%(?:"[^"]*"|[-\w$.]+)')
_STORE = re.compile(r"^\s*store volatile .*, (ptr .*)$")


def with_lockstep_stores(text: str) -> str:
    """The module with a meeting of the wavefront around each volatile store to shared memory."""
    if "store volatile" not in text:
        return text
    shared = frozenset(_SHARED.findall(text))
    changed = text
    for function in functions_of(text).values():
        body = _with_meetings(function.body, shared)
        if body != function.body:
            changed = changed.replace("\n".join(function.body), "\n".join(body))
    if changed != text and not re.search(rf"^declare .*{_MEET}\(", text, re.MULTILINE):
        changed += f"\ndeclare void {_MEET}(i64, i64, i32)\n"
    return changed


def _with_meetings(body: tuple[str, ...], shared: frozenset[str]) -> tuple[str, ...]:
    stores = [match[1] if (match := _STORE.match(line)) else "" for line in body]
    if not any(stores):
        return body
    known = shared | _addresses(body, shared)
    lines: list[str] = []
    for line, target in zip(body, stores, strict=True):
        lines += [_CALL, line, _CALL] if target and _names(target) & known else [line]
    return tuple(lines)


def _addresses(body: tuple[str, ...], shared: frozenset[str]) -> set[str]:
    """The values of a function that are addresses in shared memory."""
    steps = [(match[1], _names(line) - {match[1]}) for line in body if (match := _ADDRESS.match(line))]
    found: set[str] = set()
    while fresh := {name for name, sources in steps if name not in found and sources & (shared | found)}:
        found |= fresh
    return found


def _names(text: str) -> set[str]:
    return {*SYMBOL.findall(text), *_LOCAL.findall(text)}
