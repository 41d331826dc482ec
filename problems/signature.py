"""The C parameter list of a problem's `solution`, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


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


def parse_signature(
    signature: str, outputs: Mapping[str, Initial], host_readable: frozenset[str]
) -> tuple[Parameter, ...]:
    """Parse `const float* input, float* output, size_t n` into parameters, in order.

    Raises SignatureError for a parameter that is not `[const] type[*] name`, and for a name in `outputs` or
    `host_readable` that the signature does not have.
    """
    raise SignatureError(signature)


class SignatureError(ValueError):
    """A signature cannot be parsed."""
