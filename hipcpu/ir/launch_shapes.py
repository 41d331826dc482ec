"""The block shapes with which the host side launches kernels, as far as they are constants there.

Clang has inlined `dim3`'s constructors once the host side is optimised: `<<<grid, block>>>` is a call with the three
numbers of threads, two of them in one register, followed by a call that launches the kernel. The result is only used as
a guess: a block function checks the launch's numbers before it passes a block to the function for a shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hipcpu.ir.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hipcpu.ir.module import Module

Shape: TypeAlias = tuple[int, int, int]

# With more shapes, none gets its own code: that costs more time to compile than it is likely to save.
_SHAPES_PER_KERNEL = 2
_MOST_THREADS = 1024
_PUSH, _LAUNCH, _STUB = "@__hipPushCallConfiguration", "@hipLaunchKernel", "__device_stub__"
_LOW = 0xFFFFFFFF


def launch_shapes(host: Module) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes by kernel, for kernels launched in few; `host` is the optimised host side."""
    found: dict[str, list[Shape | None]] = {}
    for function in host.functions.values():
        if _STUB in function.name:
            continue
        shape: Shape | None = None
        for one in function.instructions:
            if one.callee == _PUSH:
                shape = _shape([operand.value for operand in one.operands[2:4]])
            elif one.callee == _LAUNCH or _STUB in one.callee:
                launched = [operand.value for operand in one.operands[:1]] if one.callee == _LAUNCH else [one.callee]
                for symbol in launched:
                    shapes = found.setdefault(_kernel(symbol), [])
                    shapes += [] if shape in shapes else [shape]
    return {kernel: known for kernel, shapes in found.items() if (known := _all_known(shapes))}


def _shape(threads: Sequence[str]) -> Shape | None:
    if len(threads) < 2 or not all(map(str.isdigit, threads)):  # noqa: PLR2004 - x and y together, and z
        return None
    xy, z = map(int, threads)
    shape = xy & _LOW, xy >> 32, z
    return shape if 0 < shape[0] * shape[1] * shape[2] <= _MOST_THREADS else None


def _all_known(shapes: Sequence[Shape | None]) -> tuple[Shape, ...]:
    known = tuple(shape for shape in shapes if shape)
    return known if len(known) == len(shapes) <= _SHAPES_PER_KERNEL else ()


def _kernel(symbol: str) -> str:
    """Return the kernel's name for a handle or a stub: `_Z3fooPf` for `_Z17__device_stub__fooPf`."""
    name = plain(symbol).removeprefix("@")
    before, stub, after = name.partition(_STUB)
    length = before.removeprefix("_Z")
    return f"_Z{int(length) - len(_STUB)}{after}" if stub and length.isdigit() else name.removeprefix(_STUB)
