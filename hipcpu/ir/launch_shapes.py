"""The shapes of block with which the host side launches kernels, as far as they are constants there.

Clang has inlined `dim3`'s constructors by the time that the host side is optimised: `<<<grid, block>>>` is a call that
is given the three numbers of threads, two of them in one register, and then a call that launches the kernel. The answer
is a guess about a text and used as no more than that: a block function looks at the launch's numbers before it leaves a
block to the function for a shape.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape: TypeAlias = tuple[int, int, int]

# Of more shapes none gets code of its own: that costs more time to compile than it is likely to save.
_SHAPES_PER_KERNEL = 2
_MOST_THREADS = 1024
_CALL = re.compile(
    r"@(__hipPushCallConfiguration)\(i64 [^,]*, i32 [^,]*, i64 (?:noundef )?([^,]+), i32 (?:noundef )?([^,]+),"
    r"|@hipLaunchKernel\(ptr [^@]*@(\"[^\"]*\"|[-\w$.]+),"
    r"|@(\"?[-\w$.]*__device_stub__[-\w$.]*\"?)\("
    r"|^(define) .*"
)
_LOW = 0xFFFFFFFF
_STUB = re.compile(r"^(_Z)(\d+)__device_stub__")


def launch_shapes(host: str) -> dict[str, tuple[Shape, ...]]:
    """The shapes by kernel, of kernels launched in few; `host` is the optimised IR of the host side."""
    found: dict[str, list[Shape | None]] = {}
    shape: Shape | None = None
    is_stub = False
    for line in host.splitlines():
        for pushed, xy, z, launched, stub, start in _CALL.findall(line):
            if start:
                shape, is_stub = None, "__device_stub__" in line
            elif pushed:
                shape = _shape(xy, z)
            elif not is_stub:
                shapes = found.setdefault(_kernel(launched or stub), [])
                shapes += [] if shape in shapes else [shape]
    return {kernel: known for kernel, shapes in found.items() if (known := _all_known(shapes))}


def _shape(xy: str, z: str) -> Shape | None:
    if not xy.isdigit() or not z.isdigit():
        return None
    shape = int(xy) & _LOW, int(xy) >> 32, int(z)
    return shape if 0 < shape[0] * shape[1] * shape[2] <= _MOST_THREADS else None


def _all_known(shapes: Sequence[Shape | None]) -> tuple[Shape, ...]:
    known = tuple(shape for shape in shapes if shape)
    return known if len(known) == len(shapes) <= _SHAPES_PER_KERNEL else ()


def _kernel(symbol: str) -> str:
    """The kernel that a handle, or the stub that launches it, stands for: `_Z17__device_stub__fooPf` for `_Z3fooPf`."""
    name = symbol.strip('"')
    if match := _STUB.match(name):
        return f"_Z{int(match[2]) - len('__device_stub__')}{name[match.end() :]}"
    return name.removeprefix("__device_stub__")
