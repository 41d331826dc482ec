"""What loops run up to, for telling a loop along a row from other loops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.executor.devices.gfx942.addresses import Addresses
    from services.executor.devices.gfx942.ir import Kernel
    from services.executor.devices.gfx942.polynomial import Polynomial

_COMPARED = re.compile(r"^(?:samesign )?\w+ \S+ (\S+), (\S+)$")


def row_lengths(kernel: Kernel, addresses: Addresses) -> Iterator[Polynomial]:
    """The bounds that loop variables are compared with; those of unrolled loops before they were rounded down."""
    for operation in kernel.operations:
        found = _COMPARED.match(operation.text) if operation.opcode == "icmp" else None
        if found is None:
            continue
        for variable, bound in ((found[1], found[2]), (found[2], found[1])):
            if any(part.startswith("loop:") for part in addresses.of(variable).unknowns):
                yield addresses.of(_unrounded(bound, kernel))


def _unrounded(bound: str, kernel: Kernel) -> str:
    """`n` for `n & -4`, which is how far a loop that was unrolled by four goes."""
    operation = kernel.definitions.get(bound)
    if operation is None or operation.opcode != "and" or not operation.operands:
        return bound
    mask = operation.text.rpartition(" ")[2]
    return operation.operands[0] if mask.lstrip("-").isdigit() and int(mask) & 1 == 0 else bound
