"""Generates gfx942 assembly from optimised IR, through llvmlite's LLVM (the same release as clang's)."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as _untyped

from services.executor.devices.gfx942.toolchain import PROCESSOR, TRIPLE

# llvmlite has no types.
llvm: Any = _untyped


@cache
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def assembly_from_ir(text: str) -> str:
    """Return the assembly, with comments; raises RuntimeError for IR that does not parse.

    An error in the back end itself ends the process, so run this in a process of its own.
    """
    _initialise()
    module = llvm.parse_assembly(text, llvm.create_context())
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=PROCESSOR, opt=3)
    machine.set_asm_verbosity(verbose=True)
    return str(machine.emit_assembly(module))
