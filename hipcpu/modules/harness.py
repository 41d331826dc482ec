"""The core's files beside a source: a harness that calls `solution`, or the names of launched kernels."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from hipcpu import toolchain
from hipcpu.build_folder import OUR_FILES, BuildKind, ToolchainError
from hipcpu.modules.host_module import HostModule, Kernel

HARNESS_OBJECT = "harness.o"


def compile_harness(folder: Path) -> Path:
    """Compile `folder`/harness.cpp to HARNESS_OBJECT; raises ToolchainError."""
    return compile_our_source(folder / OUR_FILES[BuildKind.SOLUTION])


def compile_our_source(source: Path) -> Path:
    """Compile a C++ source of ours to an object file beside it; raises ToolchainError, as an error in it is ours."""
    target = source.with_suffix(".o")
    options = ("-x", "c++", "-emit-obj", source.name, "-o", str(target))
    command = toolchain.compiler().clang(toolchain.prepared().include, *options)
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 0:
        raise ToolchainError(f"{source.name} does not compile:\n{done.stderr}")
    return target


def kernel_violation(host: HostModule, folder: Path) -> str | None:
    """Return why the source's kernels do not fit the launch plan, or None if they do."""
    wanted: dict[str, int] = json.loads((folder / OUR_FILES[BuildKind.KERNELS]).read_text())
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
