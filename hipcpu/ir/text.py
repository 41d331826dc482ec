"""LLVM's notation for IR: names, brackets, types and lists. With `instruction` and `module` it is the parser.

Code that reads IR asks this model, and does not match text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WORD = r'(?:"[^"]*"|[-\w$.]+)'
_NAME, _NUMBER = re.compile(f"[%@]{_WORD}"), frozenset("-0123456789")
_LOCAL, _SYMBOL = re.compile(f"%{_WORD}"), re.compile(f"@{_WORD}")
_TYPE = re.compile(rf"(?:%{_WORD}|[\w.]+)(?: addrspace\(\d+\))?")
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2})")
_BRACKETS = re.compile(r'"[^"]*"|[(\[{<>}\])]')
_SPLIT = re.compile(r'"[^"]*"|[(\[{<>}\]),]')
_SPACES = re.compile(r'"[^"]*"|[(\[{<>}\]) ]')
_ATTRIBUTE = re.compile(r"align \d+ |[a-z_]+(?=\()|(?:fast|cold|ghc|tail|swift)?cc(?: \d+)? |[a-z_]+ ")
_OPEN, _CLOSE = "([{<", ")]}>"
_CONSTANTS = frozenset({"true", "false", "null", "none", "undef", "poison", "zeroinitializer"})
# Words before a value that are neither its type nor the beginning of a constant expression.
_ATTRIBUTES = frozenset(
    [
        *("noundef", "nonnull", "noalias", "signext", "zeroext", "noext", "inreg", "readonly", "readnone", "writeonly"),
        *("nocapture", "nofree", "immarg", "returned", "nest", "swiftself", "swifterror", "swiftasync", "writable"),
        *("dead_on_unwind", "dso_local"),
    ]
)


class Operand(NamedTuple):
    """A used value or a parameter, e.g. `ptr noundef align 8 %3`; all fields as LLVM writes them."""

    type: str
    value: str
    attributes: str = ""

    @property
    def declaration(self) -> str:
        """Type and attributes, as a declaration has them."""
        return f"{self.type} {self.attributes}".rstrip()

    @property
    def by_value(self) -> str:
        """Type of the struct in memory that the value points to; empty if it is not passed by value."""
        for word in words(self.attributes):
            if word.startswith("byval("):
                return word.removeprefix("byval(")[:-1]
        return ""


def locals_in(text: str) -> list[str]:
    """Return every local name, e.g. `%x`: values, labels and named types."""
    return _LOCAL.findall(text)


def symbols_in(text: str) -> list[str]:
    """Return every global name, e.g. `@f`."""
    return _SYMBOL.findall(text)


def with_locals_renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text with local names replaced by `names`."""
    return _LOCAL.sub(lambda match: names.get(match[0], match[0]), text)


def with_symbols_renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text with global names replaced by `names`, which has them in plain spelling."""
    return _SYMBOL.sub(lambda match: names.get(plain(match[0]), match[0]), text)


def without_attached(text: str, kind: str) -> str:
    """Return the text without attached nodes of `kind`, e.g. `dbg`."""
    return re.sub(rf",? !{kind} !\d+", "", text) if f" !{kind} " in text else text


def bracketed(text: str, start: int) -> str:
    """Return the text between the bracket at `start` and its closing bracket."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += (match[0] in _OPEN) - (match[0] in _CLOSE)
        if depth == 0:
            return text[start + 1 : match.start()]
    raise ValueError(f"no closing bracket in {text!r}")


def split_list(text: str) -> list[str]:
    """Split at the commas outside all brackets and strings."""
    return _split(text, _SPLIT, ",")


def words(text: str) -> list[str]:
    """Split at the spaces outside all brackets and strings."""
    return [word for word in _split(text, _SPACES, " ") if word]


def _split(text: str, marks: re.Pattern[str], separator: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for match in marks.finditer(text):
        mark = match[0]
        if mark == separator:
            if depth == 0:
                parts.append(text[start : match.start()].strip())
                start = match.end()
        else:
            depth += (mark in _OPEN) - (mark in _CLOSE)
    last = text[start:].strip()
    return [*parts, last] if last else parts


def leading_type(text: str) -> str:
    """Return the type at the start of `text`."""
    if text[0] in _OPEN:
        return text[0] + bracketed(text, 0) + _CLOSE[_OPEN.index(text[0])]
    match = _TYPE.match(text)
    if not match:
        raise ValueError(f"no type in {text!r}")
    return match[0]


def leading_value(text: str) -> str:
    """Return the constant at the start of `text`."""
    return text[: len(bracketed(text, 0)) + 2] if text[0] in _OPEN else split_list(text)[0]


def after_attributes(text: str) -> str:
    """Return `text` without the attributes and the calling convention at its start."""
    while match := _ATTRIBUTE.match(text):
        word = match[0]
        if word[-1] != " ":
            text = text[match.end() + len(bracketed(text, match.end())) + 2 :].lstrip()
        elif word[:-1] in _ATTRIBUTES or word.startswith("align ") or word.partition(" ")[0].endswith("cc"):
            text = text[match.end() :]
        else:
            break
    return text


def operand_from_text(text: str) -> Operand:
    """Parse a type and its value; the value is empty if there is none."""
    kind = leading_type(text)
    rest = text[len(kind) :].lstrip()
    value = after_attributes(rest)
    attributes = rest[: len(rest) - len(value)].rstrip()
    if name := _NAME.match(value):
        return Operand(kind, name[0], attributes)
    # The ordering of an atomic access may follow.
    first = value.partition(" ")[0]
    return Operand(kind, first if first[:1] in _NUMBER or first in _CONSTANTS else value, attributes)


def operands_from_text(text: str) -> tuple[Operand, ...]:
    """Parse a list of operands."""
    return tuple(operand_from_text(part) for part in split_list(text))


def plain(symbol: str) -> str:
    """Return the symbol without quotes: LLVM omits them if it can, so that one symbol has two spellings."""
    return symbol.replace('"', "")


def unescaped(text: str) -> str:
    """Decode LLVM's escapes in symbols and strings: two hex digits for bytes that are not plain text."""
    plain_bytes = _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode())
    return plain_bytes.decode(errors="surrogateescape")


def parameters_text(parameters: Iterable[Operand]) -> str:
    """Return the parameters as a declaration lists them."""
    return ", ".join(f"{one.declaration} {one.value}" for one in parameters)
