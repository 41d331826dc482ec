"""The C parameter list of a problem's `solution`, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from problems.kit.element_types import ELEMENT_TYPES

DTYPES: Mapping[str, np.dtype[Any]] = {
    **{spelling: element.dtype for element in ELEMENT_TYPES.values() for spelling in element.spellings},
    "bool": np.dtype(np.bool_),
    "int": np.dtype(np.int32),
    "unsigned": np.dtype(np.uint32),
    "unsigned int": np.dtype(np.uint32),
    "int8_t": np.dtype(np.int8),
    "int16_t": np.dtype(np.int16),
    "int32_t": np.dtype(np.int32),
    "int64_t": np.dtype(np.int64),
    "uint8_t": np.dtype(np.uint8),
    "uint16_t": np.dtype(np.uint16),
    "uint32_t": np.dtype(np.uint32),
    "uint64_t": np.dtype(np.uint64),
    "size_t": np.dtype(np.uint64),
}
"""The numpy type of every C element type that a signature may have."""

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\*)", re.ASCII)
_QUALIFIERS = frozenset({"const", "__restrict__"})


class SignatureError(ValueError):
    """A signature cannot be parsed."""


class Initial(StrEnum):
    """What an output buffer holds before each call."""

    POISON = "poison"
    """Random bits, new for every call: a kernel that does not write an element is found out."""
    ZERO = "zero"
    """Zeros: the kernel may accumulate into it; the statement says so."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of `solution`, in order.

    `ctype` is the C element type without const and star (`float`, `int`, `size_t`, ...). Arrays have `pointer` set.
    A `shape` array has `valid_on_host` set: its memory can be read by host and device code alike.
    """

    name: str
    ctype: str
    pointer: bool
    const: bool
    output: bool = False
    initial: Initial = Initial.POISON
    valid_on_host: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element, or of the scalar."""
        return DTYPES[self.ctype]

    @property
    def declaration(self) -> str:
        """The parameter as C text in its plain spelling, e.g. `const float* input`."""
        return f"{'const ' if self.const else ''}{self.ctype}{'*' if self.pointer else ''} {self.name}"


def parse_signature(
    signature: str, outputs: Mapping[str, Initial], host_readable: frozenset[str]
) -> tuple[Parameter, ...]:
    """Parse `const float* input, float* output, size_t n` into parameters, in order.

    Raises SignatureError for a parameter that is not `[const] type[*] name`, for a repeated name, for a name in
    `outputs` or `host_readable` that the signature does not have, and for an output that cannot be written.
    """
    parameters = tuple(_parameter(text, outputs, host_readable) for text in signature.split(","))
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise SignatureError(f"parameter `{name}` appears twice in `{signature}`; give each its own name")
    for name in (*outputs, *sorted(host_readable)):
        if name not in names:
            raise SignatureError(f"`{name}` is not a parameter of `{signature}`; it has {', '.join(names)}")
    return parameters


def _parameter(text: str, outputs: Mapping[str, Initial], host_readable: frozenset[str]) -> Parameter:
    ctype, name, pointer, const = _declarator(text.strip())
    if name in outputs and (const or not pointer):
        raise SignatureError(f"output `{text.strip()}` cannot be written; outputs are non-const pointers")
    if name in host_readable and not pointer:
        raise SignatureError(f"`{text.strip()}` is a scalar; only pointers can be host-readable")
    return Parameter(
        name=name,
        ctype=ctype,
        pointer=pointer,
        const=const,
        output=name in outputs,
        initial=outputs.get(name, Initial.POISON),
        valid_on_host=name in host_readable,
    )


def _declarator(text: str) -> tuple[str, str, bool, bool]:
    """The element type, the name, whether it is a pointer, and whether what it points to (or the scalar) is const.

    It refuses what it does not know, as problems are ours to spell. The executor reads the `solution` of a submission
    with a reader of its own (`compile/declared_parameters.py`), which has to let pass what it cannot tell.
    """
    *before, name = _tokens(text) or [""]
    pointer = "*" in before
    star = before.index("*") if pointer else len(before)
    words, hints = before[:star], before[star + 1 :]
    ctype = " ".join(word for word in words if word != "const")
    if not name or name in {"*", *_QUALIFIERS, *DTYPES} or not ctype or not _QUALIFIERS.issuperset(hints):
        raise SignatureError(f"`{text}` is not a parameter; write `[const] type[*] name`")
    if ctype not in DTYPES:
        raise SignatureError(f"`{text}`: unknown type `{ctype}`; known are {', '.join(DTYPES)}")
    return ctype, name, pointer, "const" in words


def _tokens(text: str) -> list[str]:
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    return tokens if "".join(tokens) == "".join(text.split()) else []
