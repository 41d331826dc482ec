"""Thread and block indices as parameters, which replace the calls of `thread_index.h` in a kernel's IR."""

from __future__ import annotations

from hipcpu.ir.function import Blocks

# Fields of BlockIndex that are the same for all threads of a block, in the struct's order after the thread's own.
UNIFORM = tuple(f"{what}_{axis}" for what in ("block", "block_dim", "grid_dim") for axis in "xyz")
THREAD = ("thread_x", "thread_y", "thread_z", "lane")

_FUNCTIONS = {f"@__wp_{index}": f"%wp.{index}" for index in (*UNIFORM, *THREAD)}


def parameter(index: str) -> str:
    """Return the parameter that holds an index."""
    return f"%wp.{index}"


def with_index_parameters(blocks: Blocks) -> Blocks:
    """Return the blocks with every call of an index function replaced by the index's parameter."""
    renamed = {
        one.result: _FUNCTIONS[one.callee]
        for block in blocks.values()
        for one in block.instructions
        if one.result and one.callee in _FUNCTIONS
    }
    return {
        label: block.with_instructions(one.renamed(renamed) for one in block.instructions if one.result not in renamed)
        for label, block in blocks.items()
    }


def declarations() -> str:
    """Return the declarations of all index parameters of a region function."""
    return ", ".join(f"i32 {parameter(index)}" for index in (*UNIFORM, *THREAD))
