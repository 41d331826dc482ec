"""Makes wavefronts store in lockstep, as hardware does: all lanes' values at once.

Old reductions add up the last wavefront's values with volatile accesses to shared memory and no barriers between them
(`sums[t] += sums[t + 32]; sums[t] += sums[t + 16]; ...`), as all lanes have read before any of them writes. Here lanes
run one after another, so the active ones wait for each other before and after each volatile store to shared memory.
"""

from __future__ import annotations

from hipcpu.ir.function import Function
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.ir.text import locals_in, symbols_in

_BARRIER = "@__wp_wave_barrier"
_CALL = Instruction(f"  call void {_BARRIER}(i64 0, i64 0, i32 0)")
_SHARED = ["internal", "thread_local(localexec)"]
_ADDRESSES = frozenset(("getelementptr", "phi", "select", "addrspacecast"))


def with_lockstep_stores(module: Module) -> Module:
    """Return the module with a wavefront barrier before and after each volatile store to shared memory."""
    functions = {name: each for name, each in module.functions.items() if any(map(_is_volatile, each.instructions))}
    if not functions:
        return module
    shared = frozenset(each.symbol for each in module.variables.values() if [*each.qualifiers[:2]] == _SHARED)
    changed = {name: _with_barriers(function, shared) for name, function in functions.items()}
    module = module.with_functions({name: each for name, each in changed.items() if each})
    if not any(changed.values()) or _BARRIER in module.declarations:
        return module
    return module.followed_by(f"declare void {_BARRIER}(i64, i64, i32)", "")


def _is_volatile(one: Instruction) -> bool:
    return one.opcode == "store" and "volatile" in one.flags


def _with_barriers(function: Function, shared: frozenset[str]) -> Function | None:
    known = shared | _addresses(function, shared)

    def change(one: Instruction) -> list[Instruction]:
        is_shared = _is_volatile(one) and not known.isdisjoint([*locals_in(one.pointer), *symbols_in(one.pointer)])
        return [_CALL, one, _CALL] if is_shared else [one]

    changed = function.with_instructions(change)
    return changed if changed.text != function.text else None


def _addresses(function: Function, shared: frozenset[str]) -> set[str]:
    """Return the values of a function that are addresses in shared memory."""
    steps = [
        (one.result, {*one.names, *one.symbols})
        for one in function.instructions
        if one.opcode in _ADDRESSES or one.calls("@llvm.threadlocal")
    ]
    found: set[str] = set()
    while fresh := {name for name, sources in steps if name not in found and sources & (shared | found)}:
        found |= fresh
    return found
