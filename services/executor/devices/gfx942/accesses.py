"""The loads and stores of a kernel, each with what its address is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hipcpu.ir.value_types import address_space_of, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hipcpu.ir.instruction import Instruction
    from services.executor.devices.gfx942.addresses import Addresses
    from services.executor.devices.gfx942.kernel import Kernel
    from services.executor.devices.gfx942.polynomial import Polynomial

GLOBAL, LDS = 1, 3


@dataclass(frozen=True)
class Access:
    """`size_bytes` is what one thread moves; `loop_depth` is how many loops are around it."""

    instruction: Instruction
    space: int
    size_bytes: int
    address: Polynomial
    loop_depth: int

    @property
    def is_store(self) -> bool:
        """Whether it writes."""
        return self.instruction.opcode == "store"

    @property
    def is_known(self) -> bool:
        """Whether all that its address is made of is known."""
        return not any(part.startswith("v:") for part in self.address.unknowns)


def accesses_of(kernel: Kernel, addresses: Addresses) -> Iterator[Access]:
    """Those of the kernel's own text, in its order; atomic ones and those whose type has no known size are left out."""
    for one, depth in kernel.instructions_in_loops:
        if one.pointer and "atomic" not in one.flags:
            size = size_of(one.accessed_type, kernel.types)
            pointer = one.operands[one.opcode == "store"]
            if size is not None:
                yield Access(one, address_space_of(pointer.type), size, addresses.of(pointer.value), depth)
