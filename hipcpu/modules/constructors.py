"""Module constructors as an `.init_array` section of our own.

llvmlite's code generator puts `llvm.global_ctors` into `.ctors`, which today's C libraries do not run.
"""

from __future__ import annotations

from hipcpu.ir.module import Global, Item, Module
from hipcpu.ir.text import operands_from_text

CONSTRUCTORS = "@llvm.global_ctors"


def with_init_array(module: Module) -> Module:
    """Return the module with its constructors, lowest priority number first, in `.init_array`."""
    return module.changed(_init_array)


def _init_array(item: Item) -> Item:
    if not isinstance(item, Global) or item.symbol != CONSTRUCTORS:
        return item
    # Each entry has the priority, the function and the data that it belongs to.
    entries = [operands_from_text(entry.value[1:-1]) for entry in operands_from_text(item.value[1:-1])]
    ordered = sorted((int(entry[0].value), position, entry[1].value) for position, entry in enumerate(entries))
    pointers = ", ".join(f"ptr {function}" for _, _, function in ordered)
    # Hidden rather than internal, which LLVM would drop as unused.
    value = f"[{len(ordered)} x ptr] [{pointers}]"
    return Global.of("@__wp_constructors", ["hidden"], "constant", [value, 'section ".init_array"', "align 8"])
