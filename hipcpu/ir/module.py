"""A module: LLVM's text in parts that can be read, replaced and printed again.

A module is parsed once; passes make new parts from its parts; and it is printed once for LLVM to read. A part that no
pass changed is printed as it was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from hipcpu.ir.function import Function
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.lazy import lazy
from hipcpu.ir.text import leading_type, leading_value, plain, split_list, with_symbols_renamed, without_attached, words

_GLOBAL = re.compile(r'(@(?:"[^"]*"|[-\w$.]+)) = (.*?)\b(global|constant|alias|ifunc) (.*)$')
_DECLARED = re.compile(r'declare .*?(@(?:"[^"]*"|[-\w$.]+))\(')
_NODE = re.compile(r"(?:distinct )?!\w+\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|([^,]+))')


class Global:
    """A variable, e.g. `@x = internal global [4 x i8] zeroinitializer, align 4`."""

    def __init__(self, text: str) -> None:
        match = _GLOBAL.match(text)
        if match is None:
            raise ValueError(f"no variable in {text!r}")
        self.text = text
        self.symbol, qualifiers, self.kind, self._rest = match.groups()
        self.qualifiers = tuple(words(qualifiers))
        """Words before the kind, e.g. `internal` and `thread_local(localexec)`."""

    @classmethod
    def of(cls, symbol: str, qualifiers: Iterable[str], kind: str, rest: Iterable[str]) -> Global:
        """Return a variable made of these parts."""
        return cls(f"{symbol} = {' '.join([*qualifiers, kind])} {', '.join(rest)}")

    @property
    def is_constant(self) -> bool:
        """True if the variable is never written to."""
        return self.kind == "constant"

    @property
    def type(self) -> str:
        """Type of the variable's value."""
        return leading_type(self._rest)

    @lazy
    def _value_and_attributes(self) -> tuple[str, tuple[str, ...]]:
        rest = self._rest[len(self.type) :].lstrip()
        value = leading_value(rest) if rest[:1] not in ("", ",") else ""
        return value, tuple(split_list(rest[len(value) :].removeprefix(",")))

    @property
    def value(self) -> str:
        """Initial value, without its type; empty if the variable is defined elsewhere."""
        return self._value_and_attributes[0]

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes after the value, e.g. `align 4`."""
        return self._value_and_attributes[1]

    @property
    def section(self) -> str:
        """Section that the variable names; empty if it names none."""
        found = [each for each in self.attributes if each.startswith('section "')]
        return found[0][len('section "') : -1] if found else ""

    @property
    def string(self) -> str | None:
        """Text of a string variable, as LLVM writes it and without the final 0; None for other variables."""
        value = self.value
        return value[2:-4] if value.startswith('c"') and value.endswith('\\00"') else None


Item: TypeAlias = "Function | Global | str"


class Module:
    """A module's functions and variables, and its other lines."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = list(items)

    @classmethod
    def from_text(cls, text: str) -> Module:
        """Parse LLVM's text."""
        items: list[Item] = []
        lines = iter(text.split("\n"))
        for line in lines:
            if line.startswith("define "):
                body: list[str] = []
                for inner in lines:
                    if inner == "}":
                        break
                    body.append(inner)
                items.append(Function(line, body))
            else:
                items.append(Global(line) if line[:1] == "@" else line)
        return cls(items)

    @property
    def text(self) -> str:
        """Text of the module for LLVM to read."""
        return "\n".join(item if isinstance(item, str) else item.text for item in self.items)

    @lazy
    def functions(self) -> dict[str, Function]:
        """Every function that is defined here, by its plain symbol."""
        return {item.name: item for item in self.items if isinstance(item, Function)}

    @lazy
    def variables(self) -> dict[str, Global]:
        """Every variable, by its plain symbol."""
        return {plain(item.symbol): item for item in self.items if isinstance(item, Global)}

    @lazy
    def declarations(self) -> frozenset[str]:
        """The plain symbols of functions that are defined elsewhere."""
        found = (_DECLARED.match(item) for item in self.items if isinstance(item, str) and item[:8] == "declare ")
        return frozenset(plain(match[1]) for match in found if match)

    @lazy
    def types(self) -> dict[str, str]:
        """Definitions of named types, e.g. of `%struct.dim3`."""
        named = (item.partition(" = type ") for item in self.type_lines)
        return {name: content for name, _, content in named}

    @property
    def type_lines(self) -> list[str]:
        """The lines that define named types."""
        return [item for item in self.items if isinstance(item, str) and item[:1] == "%"]

    @lazy
    def nodes(self) -> dict[str, dict[str, str]]:
        """Fields of debug-information nodes, by name, e.g. of `!12 = !DILocation(line: 3, scope: !4)`."""
        found: dict[str, dict[str, str]] = {}
        for item in self.items:
            if isinstance(item, str) and item[:1] == "!":
                name, _, content = item.partition(" = ")
                if match := _NODE.match(content):
                    found[name] = {field: text or value.strip() for field, text, value in _FIELD.findall(match[1])}
        return found

    @property
    def unused_metadata(self) -> int:
        """First unused number of a metadata node."""
        names = (item[1:].partition(" ")[0] for item in self.items if isinstance(item, str) and item[:1] == "!")
        return max((int(name) for name in names if name.isdigit()), default=-1) + 1

    def changed(self, change: Callable[[Item], Item | None]) -> Module:
        """Return the module with each part replaced by what `change` returns; None removes it."""
        return Module(new for item in self.items if (new := change(item)) is not None)

    def with_functions(self, functions: Mapping[str, Function | None]) -> Module:
        """Return the module with the functions of these plain symbols replaced, or removed if None."""

        def change(item: Item) -> Item:
            return (functions.get(item.name, item) or "") if isinstance(item, Function) else item

        return self.changed(change)

    def without_metadata(self, kind: str) -> Module:
        """Return the module without attached metadata of `kind`."""

        def change(item: Item) -> Item:
            if isinstance(item, str):
                return without_attached(item, kind) if item.startswith("declare ") else item
            return item.without_metadata(kind) if isinstance(item, Function) else item

        return self.changed(change)

    def calls_of(self, symbol: str) -> Iterator[Instruction]:
        """Yield every call of a function, given by its plain symbol."""
        callers = (function for function in self.functions.values() if symbol in function.symbols)
        return (one for function in callers for one in function.instructions if plain(one.callee) == symbol)

    def followed_by(self, *lines: str) -> Module:
        """Return the module with more lines at its end."""
        return Module([*self.items, *lines])

    def renamed(self, names: Mapping[str, str]) -> Module:
        """Return the module with renamed symbols; `names` maps plain symbols to new ones."""
        return Module.from_text(with_symbols_renamed(self.text, names))


def attribute_group_without(line: str, *beginnings: str) -> str:
    """Return a group of attributes without those with one of these prefixes; other lines are unchanged."""
    if not line.startswith("attributes #"):
        return line
    return " ".join(word for word in line.split(" ") if not word.startswith(beginnings))
