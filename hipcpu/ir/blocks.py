"""A function's body as basic blocks, and which private variables are alive where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_LABEL = re.compile(r'^("[^"]*"|[-\w$.]+):')
_TARGET = re.compile(rf"label ({NAME})")
_ALLOCA = re.compile(rf"^\s*({NAME}) = alloca (.+?)(?:, align \d+)?$")
_LOAD = re.compile(rf"^\s*{NAME} = load (.+), ptr ({NAME})(?:, align \d+)?(?:, !.*)?$")
_STORE = re.compile(rf"^\s*store (.+), ptr ({NAME})(?:, align \d+)?(?:, !.*)?$")
_VALUE = re.compile(NAME)
_LIFETIME = "@llvm.lifetime."


@dataclass(frozen=True)
class Block:
    """A basic block; `lines` ends with its terminator, `targets` are the labels that it can go to."""

    label: str
    lines: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """A private variable. `simple` means that it is only loaded and stored whole, so that it can live in a register."""

    name: str
    type: str
    simple: bool


def blocks_of(body: Iterable[str]) -> dict[str, Block]:
    """The blocks in order; the body's first line must be a label."""
    grouped: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in body:
        if match := _LABEL.match(line):
            lines = grouped.setdefault("%" + match[1], [])
        elif line.strip() and _LIFETIME not in line:
            lines.append(line)
    return {label: Block(label, tuple(lines), tuple(_TARGET.findall(lines[-1]))) for label, lines in grouped.items()}


def variables_of(blocks: Mapping[str, Block]) -> dict[str, Variable]:
    """The private variables of a function, by name."""
    types: dict[str, str] = {}
    for block in blocks.values():
        types.update({match[1]: match[2] for line in block.lines if (match := _ALLOCA.match(line))})
    tangled = {name for block in blocks.values() for line in block.lines for name in _tangled_in(line, types)}
    return {name: Variable(name, kind, name not in tangled) for name, kind in types.items()}


def is_declaration(line: str) -> bool:
    """Whether the line makes a private variable."""
    return _ALLOCA.match(line) is not None


def loaded_variable(line: str) -> str | None:
    """What a line loads, if it is a plain load."""
    match = _LOAD.match(line)
    return match[2] if match and " volatile " not in line and " atomic " not in line else None


def stored_variable(line: str) -> str | None:
    """What a line stores to, if it is a plain store."""
    match = _STORE.match(line)
    return match[2] if match and " volatile " not in line and " atomic " not in line else None


def names_in(line: str) -> list[str]:
    """Every local name in a line."""
    return _VALUE.findall(line)


def _tangled_in(line: str, types: Mapping[str, str]) -> list[str]:
    """The variables that a line does more with than to load or store them whole."""
    used = [name for name in names_in(line) if name in types]
    if not used or is_declaration(line):
        return []
    if len(used) > 1:
        return used
    load, store = _LOAD.match(line), _STORE.match(line)
    if load and loaded_variable(line) == used[0] and load[1] == types[used[0]]:
        return []
    if store and stored_variable(line) == used[0] and store[1].startswith(types[used[0]] + " "):
        return []
    return used


def live_at_entry(blocks: Mapping[str, Block], simple: set[str]) -> dict[str, frozenset[str]]:
    """The simple variables whose value at a block's start may still be read, by label."""
    effects = {label: _effects(block, simple) for label, block in blocks.items()}
    live: dict[str, frozenset[str]] = dict.fromkeys(blocks, frozenset())
    changed = True
    while changed:
        changed = False
        for label in reversed(list(blocks)):
            read, written = effects[label]
            after = frozenset[str]().union(*(live[target] for target in blocks[label].targets))
            now = read | (after - written)
            changed |= now != live[label]
            live[label] = now
    return live


def _effects(block: Block, simple: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    read: set[str] = set()
    written: set[str] = set()
    for line in block.lines:
        loaded, stored = loaded_variable(line), stored_variable(line)
        if loaded in simple and loaded not in written:
            read.add(str(loaded))
        if stored in simple:
            written.add(str(stored))
    return frozenset(read), frozenset(written)


def reachable(blocks: Mapping[str, Block], starts: Iterable[str], stops: set[str]) -> list[str]:
    """The labels that can be reached from `starts`, not going beyond those in `stops`, in the function's order."""
    waiting = list(starts)
    seen = set(waiting)
    while waiting:
        label = waiting.pop()
        if label in stops:
            continue
        for target in blocks[label].targets:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return [label for label in blocks if label in seen]
