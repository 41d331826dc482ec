"""The loads and stores of a kernel, each with its address as a polynomial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hipcpu.ir.instruction import Instruction
from hipcpu.ir.value_types import address_space_of, size_of
from services.executor.devices.gfx942.addresses import Addresses
from services.executor.devices.gfx942.kernel import Kernel
from services.executor.devices.gfx942.polynomial import Polynomial

GLOBAL, LDS = 1, 3


@dataclass(frozen=True)
class Access:
    """A load or store. `size_bytes` is the size that one thread moves, `loop_depth` the number of loops around it."""

    instruction: Instruction
    space: int
    size_bytes: int
    address: Polynomial
    loop_depth: int

    @property
    def is_store(self) -> bool:
        """True for a store."""
        return self.instruction.opcode == "store"

    @property
    def is_known(self) -> bool:
        """True if all parts of the address are known."""
        return not any(part.startswith("v:") for part in self.address.unknowns)


def accesses_of(kernel: Kernel, addresses: Addresses) -> Iterator[Access]:
    """Yield the kernel's accesses in order, without atomic ones and those whose type has no known size."""
    for one, depth in kernel.instructions_in_loops:
        if one.pointer and "atomic" not in one.flags:
            size = size_of(one.accessed_type, kernel.types)
            pointer = one.operands[one.opcode == "store"]
            if size is not None:
                yield Access(one, address_space_of(pointer.type), size, addresses.of(pointer.value), depth)
