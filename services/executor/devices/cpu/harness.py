"""Compile the harness that the core writes: plain C++ that calls `solution`, or launches kernels by name."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from services.executor.devices.cpu import toolchain
from services.executor.devices.device import ToolchainError

if TYPE_CHECKING:
    from pathlib import Path

    from services.executor.devices.cpu.host_module import HostModule, Kernel

_HARNESS = "harness.cpp"
HARNESS_OBJECT = "harness.o"
_KERNELS_MARK = "// kernels: "


def compile_harness(folder: Path) -> Path:
    """Compile `folder`/harness.cpp; an error in it is ours, so it raises ToolchainError."""
    target = folder / HARNESS_OBJECT
    options = ("-x", "c++", "-emit-obj", _HARNESS, "-o", str(target))
    command = toolchain.compiler().clang(toolchain.prepared().include, *options)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our compiler
    if done.returncode != 0:
        raise ToolchainError(f"the harness does not compile:\n{done.stderr}")
    return target


def kernel_violation(host: HostModule, folder: Path) -> str | None:
    """Why the source's kernels are not those that the harness launches, or None where they are."""
    first_line = (folder / _HARNESS).read_text().partition("\n")[0]
    wanted: dict[str, int] = json.loads(first_line.removeprefix(_KERNELS_MARK))
    kernels = {kernel.symbol: kernel for kernel in host.kernels}
    for name, count in wanted.items():
        if name not in kernels:
            defined = ", ".join(f"`{symbol}`" for symbol in kernels) or "none"
            return (
                f"the launch plan launches `{name}`, and no kernel has that name: define it as "
                f'`extern "C" __global__ void {name}(...)`; the names of kernels here are {defined}'
            )
        if _argument_count(kernels[name]) != count:
            has = _argument_count(kernels[name])
            return f"the launch plan gives `{name}` {count} arguments, and the kernel has {has} parameters"
    return None


def _argument_count(kernel: Kernel) -> int:
    return max((place.index + 1 for place in kernel.places), default=0)
