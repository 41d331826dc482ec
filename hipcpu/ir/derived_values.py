"""Values that follow from a kernel's parameters and indices alone: cheaper to compute again than to keep.

A value like `blockIdx.x * blockDim.x + threadIdx.x` that is alive across a barrier would be kept in the context, and
LLVM would no longer see that it grows by one from thread to thread, which is what makes an access contiguous. So such
definitions are taken out of the body, and each region that uses one gets a copy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = r'%(?:"[^"]*"|[-\w$.]+)'
_LOCAL = re.compile(_NAME)
_WORDS = r"(?:(?:nuw|nsw|nneg|exact|disjoint|samesign|contract|inbounds|nusw) )*"
# Instructions without side effects that may also be run where the kernel would not: at worst they give poison.
_PATTERNS = tuple(
    re.compile(rf"^\s*({_NAME}) = {pattern}$")
    for pattern in (
        rf"(?:add|sub|mul|shl|lshr|ashr|and|or|xor) {_WORDS}(\w+) \S+, \S+",
        rf"(?:udiv|urem|sdiv|srem) {_WORDS}(\w+) \S+, [1-9]\d*",
        rf"(?:sext|zext|trunc|bitcast|sitofp|uitofp) {_WORDS}\w+ \S+ to (\w+)",
        r"(?:tail )?call (?:noundef )?(\w+) @llvm\.(?:smax|smin|umax|umin)\.\w+\([^()]*\)",
        r"select i1 \S+, (\w+) \S+, \w+ \S+",
    )
)
_BOOLEAN = re.compile(rf"^\s*({_NAME}) = icmp {_WORDS}\w+ \w+ \S+, \S+$")
_ADDRESS = re.compile(rf"^\s*({_NAME}) = getelementptr {_WORDS}[^<]*, ptr \S+(?:, i\d+ \S+)+$")


@dataclass(frozen=True)
class Derived:
    """A definition, its result's name and type."""

    name: str
    type: str
    line: str

    @property
    def operands(self) -> list[str]:
        """The local values that it uses."""
        return _LOCAL.findall(self.line.split(" = ", 1)[1])


def without_derived_values(body: tuple[str, ...], given: set[str]) -> tuple[tuple[str, ...], tuple[Derived, ...]]:
    """The body without the definitions that follow from the values in `given`, and those definitions in order."""
    known = set(given)
    kept: list[str] = []
    derived: list[Derived] = []
    for line in body:
        found = _definition(line)
        if found and known.issuperset(found.operands):
            known.add(found.name)
            derived.append(found)
        else:
            kept.append(line)
    return tuple(kept), tuple(derived)


def _definition(line: str) -> Derived | None:
    for pattern in _PATTERNS:
        if match := pattern.match(line):
            return Derived(match[1], match[2], line)
    if match := _BOOLEAN.match(line):
        return Derived(match[1], "i1", line)
    match = _ADDRESS.match(line)
    return Derived(match[1], "ptr", line) if match else None


def needed(derived: tuple[Derived, ...], used: set[str]) -> list[Derived]:
    """Those definitions, in order, that the names in `used` need."""
    wanted = set(used)
    for definition in reversed(derived):
        if definition.name in wanted:
            wanted.update(definition.operands)
    return [definition for definition in derived if definition.name in wanted]
