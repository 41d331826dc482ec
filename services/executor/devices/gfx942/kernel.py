"""A kernel in the compiler's optimised IR, as far as hints need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from hipcpu.ir.function import Function, successors_of
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.loops import loop_depths
from hipcpu.ir.module import Module

_KERNEL = " amdgpu_kernel "


class Kernel:
    """A kernel of a module, in IR."""

    def __init__(self, module: Module, function: Function) -> None:
        self.function = function
        self.types = module.types
        """Definitions of named types."""
        dynamic = {
            symbol
            for symbol, variable in module.variables.items()
            if "external" in variable.qualifiers and variable.type.startswith("[0 x ")
        }
        self.dynamic_lds = not dynamic.isdisjoint(function.symbols)
        """True if the kernel uses an `extern __shared__` array."""

    @property
    def symbol(self) -> str:
        """Name of the kernel in the assembly."""
        return self.function.name[1:]

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions of the kernel, in order."""
        return tuple(self.function.instructions)

    @cached_property
    def definitions(self) -> Mapping[str, Instruction]:
        """The instructions by the value that they define."""
        return {one.result: one for one in self.instructions if one.result}

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of loops around each instruction."""
        blocks = self.function.blocks
        depths = loop_depths(successors_of(blocks))
        return tuple(depths[label] for label, block in blocks.items() for _ in block.instructions)

    @property
    def instructions_in_loops(self) -> Iterator[tuple[Instruction, int]]:
        """Each instruction with the number of loops around it."""
        return zip(self.instructions, self.depths, strict=True)


def kernels_of(module: Module) -> Iterator[Kernel]:
    """Return the kernels that a module defines."""
    return (Kernel(module, each) for each in module.functions.values() if _KERNEL in each.header)
