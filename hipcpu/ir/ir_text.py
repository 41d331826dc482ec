"""Reading LLVM's textual IR, which has one definition or instruction per line."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DEFINE = re.compile(r'^define .*?(@"[^"]*"|@[-\w$.]+)\(')
SYMBOL = re.compile(r'@(?:"[^"]*"|[-\w$.]+)')
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2})")
_OPEN, _CLOSE = "([{<", ")]}>"


@dataclass(frozen=True)
class Function:
    """One function definition: its symbol with the `@`, its `define` line, the lines of its body."""

    symbol: str
    header: str
    body: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole definition."""
        return "\n".join([self.header, *self.body, "}"])

    @property
    def parameters(self) -> list[Parameter]:
        """Its IR parameters in order."""
        start = self.header.index(self.symbol + "(") + len(self.symbol)
        return [parameter_from_text(text) for text in split_list(bracketed(self.header, start))]


@dataclass(frozen=True)
class Parameter:
    """One IR parameter, e.g. `ptr noundef byval(%struct.Big) align 8 %3`."""

    declaration: str
    """Type and attributes."""
    value: str
    """The name of its value, e.g. `%3`."""

    @property
    def type(self) -> str:
        """The type without attributes."""
        return leading_type(self.declaration)


def functions_of(text: str) -> dict[str, Function]:
    """Every function defined in a module, by its `plain` symbol."""
    found: dict[str, Function] = {}
    lines = iter(text.splitlines())
    for line in lines:
        match = _DEFINE.match(line)
        if match:
            body: list[str] = []
            for inner in lines:
                if inner == "}":
                    break
                body.append(inner)
            found[plain(match[1])] = Function(match[1], line, tuple(body))
    return found


def bracketed(text: str, start: int) -> str:
    """What stands between the bracket at `start` and the one that closes it."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in _OPEN) - (text[position] in _CLOSE)
        if depth == 0:
            return text[start + 1 : position]
    raise ValueError(f"no closing bracket in {text!r}")


def split_list(text: str) -> list[str]:
    """Split at the commas that are outside all brackets."""
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def leading_type(text: str) -> str:
    """The type at the start of `text`."""
    if text[0] in _OPEN:
        return text[0] + bracketed(text, 0) + _CLOSE[_OPEN.index(text[0])]
    match = re.match(r'%"[^"]*"|[%\w$.-]+', text)
    if not match:
        raise ValueError(f"no type in {text!r}")
    return match[0]


def parameter_from_text(text: str) -> Parameter:
    """Split a parameter into its declaration and its value's name."""
    declaration, _, value = text.rpartition(" ")
    return Parameter(declaration, value)


def plain(symbol: str) -> str:
    """The symbol without quotes: LLVM leaves them out where it can, so that one symbol has two spellings."""
    return symbol.replace('"', "")


def unescaped(text: str) -> str:
    """What LLVM writes so, in symbols and strings: bytes that are no plain text have two hex digits there."""
    plain_bytes = _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode())
    return plain_bytes.decode(errors="surrogateescape")
