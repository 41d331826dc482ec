"""Writes a check beside each access to memory that other threads may see.

Private variables are left alone: memory behind a pointer that was computed from an `alloca`, or from a struct passed by
value. Everything else is checked at run time, and the runtime finds out what the address belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator

from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.function import Function
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.sanitizer.instructions import MemoryAccess, Operation, accesses_of

_DECLARATIONS = (
    "declare void @__wp_check_read(ptr, i64, i64, i32, i32)",
    "declare void @__wp_check_update(ptr, i64, i64, i32, i32)",
    "declare void @__wp_before_store(ptr, i64, i64, i32, i32)",
    "declare void @__wp_after_store()",
    "declare void @__wp_check_fence()",
)
_AFTER_STORE = Instruction("  call void @__wp_after_store()")
_DERIVING = frozenset(("getelementptr", "addrspacecast", "bitcast"))
_IN_MEMORY = ("byval(", "sret(")


def instrumented(module: Module, lines: DebugLocations) -> Module:
    """Return the module with the checks and the declarations that they need."""
    constants = frozenset(each.symbol for each in module.variables.values() if each.is_constant)
    checked = {name: _checked(function, lines, constants) for name, function in module.functions.items()}
    return module.with_functions(checked).followed_by(*_DECLARATIONS, "")


def _checked(function: Function, lines: DebugLocations, constants: frozenset[str]) -> Function:
    private = {p.value for p in function.parameters if any(word in p.attributes for word in _IN_MEMORY)}

    def change(one: Instruction) -> Iterator[Instruction]:
        if one.opcode == "alloca" or (one.opcode in _DERIVING and one.operands[0].value in private):
            private.add(one.result)
        accesses = [access for access in accesses_of(one) if access.pointer not in private | constants]
        yield from (_check(access, lines.line(one)) for access in accesses)
        yield one
        if any(access.operation is Operation.WRITE for access in accesses):
            yield _AFTER_STORE

    return function.with_instructions(change)


def _check(access: MemoryAccess, line: int) -> Instruction:
    if access.operation is Operation.FENCE:
        return Instruction("  call void @__wp_check_fence()")
    callee = {Operation.READ: "check_read", Operation.WRITE: "before_store", Operation.UPDATE: "check_update"}
    detail = int(access.fences) if access.operation is Operation.UPDATE else int(access.how)
    arguments = f"ptr {access.pointer}, i64 {access.size}, i64 {access.alignment}, i32 {detail}, i32 {line}"
    return Instruction(f"  call void @__wp_{callee[access.operation]}({arguments})")
