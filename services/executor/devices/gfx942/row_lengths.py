"""The bounds of loops, to tell a loop along a row from other loops."""

from __future__ import annotations

from collections.abc import Iterator

from services.executor.devices.gfx942.addresses import Addresses
from services.executor.devices.gfx942.kernel import Kernel
from services.executor.devices.gfx942.polynomial import Polynomial


def row_lengths(kernel: Kernel, addresses: Addresses) -> Iterator[Polynomial]:
    """Yield the bounds that loop variables are compared with, for unrolled loops before they were rounded down."""
    for one in kernel.instructions:
        if one.opcode != "icmp":
            continue
        left, right = (operand.value for operand in one.operands)
        for variable, bound in ((left, right), (right, left)):
            if any(part.startswith("loop:") for part in addresses.of(variable).unknowns):
                yield addresses.of(_unrounded(bound, kernel))


def _unrounded(bound: str, kernel: Kernel) -> str:
    """Return `n` for `n & -4`, the bound of a loop that was unrolled by four."""
    one = kernel.definitions.get(bound)
    if one is None or one.opcode != "and":
        return bound
    value, mask = (operand.value for operand in one.operands)
    return value if mask.lstrip("-").isdigit() and int(mask) & 1 == 0 else bound
