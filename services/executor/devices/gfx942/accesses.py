"""The loads and stores of a kernel, each with what its address is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.devices.gfx942.value_types import size_of, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from services.executor.devices.gfx942.addresses import Addresses
    from services.executor.devices.gfx942.ir import Kernel, Operation
    from services.executor.devices.gfx942.polynomial import Polynomial

GLOBAL, LDS = 1, 3
_SPACE = re.compile(r"^ptr(?: addrspace\((\d+)\))? (\S+)$")


@dataclass(frozen=True)
class Access:
    """`size_bytes` is what one thread moves; `loop_depth` is how many loops are around it."""

    operation: Operation
    is_store: bool
    space: int
    size_bytes: int
    address: Polynomial
    loop_depth: int

    @property
    def is_known(self) -> bool:
        """Whether all that its address is made of is known."""
        return not any(part.startswith("v:") for part in self.address.unknowns)


def accesses_of(kernel: Kernel, addresses: Addresses, depths: Mapping[str, int]) -> Iterator[Access]:
    """Those of the kernel's own text, in its order; atomic ones and those whose type has no known size are left out."""
    for operation in kernel.operations:
        if operation.opcode in {"load", "store"} and not operation.text.startswith("atomic"):
            access = _access(operation, addresses, depths.get(operation.block, 0))
            if access is not None:
                yield access


def value_type(operation: Operation) -> str:
    """The type that a load gives or a store takes."""
    first = split(operation.text.removeprefix("volatile "))[0]
    return first.rpartition(" ")[0] if operation.opcode == "store" else first


def _access(operation: Operation, addresses: Addresses, depth: int) -> Access | None:
    parts = split(operation.text.removeprefix("volatile "))
    pointer = _SPACE.match(parts[1]) if len(parts) > 1 else None
    size = size_of(value_type(operation))
    if pointer is None or size is None:
        return None
    space = int(pointer[1] or 0)
    return Access(operation, operation.opcode == "store", space, size, addresses.of(pointer[2]), depth)
