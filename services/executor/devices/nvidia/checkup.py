"""Checks of an NVIDIA GPU's requirements on this machine; they change nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from services.executor.devices.finding import DeviceFinding
from services.executor.devices.nvidia import toolchain
from services.executor.devices.nvidia.gpu import Management

OLDEST_CUDA = 13


class NvidiaCheckup:
    """Checks an NVIDIA GPU; `dev` is the folder of the machine's device nodes."""

    def __init__(self, dev: Path = Path("/dev")) -> None:
        self._dev = dev

    def findings(self) -> Sequence[DeviceFinding]:
        """Return all findings, in the order in which to fix them."""
        return [self.nodes(), driver(), compiler()]

    def nodes(self) -> DeviceFinding:
        """Check that the driver's nodes exist and may be opened."""
        control = self._dev / "nvidiactl"
        if not control.exists():
            remedy = "load the driver (`nvidia-smi` should list the GPU), or start the container with --gpus all"
            return DeviceFinding("device", ok=False, message=f"no device: {control} is missing", remedy=remedy)
        if not os.access(control, os.R_OK | os.W_OK):
            remedy = f"let this user open it: `ls -l {control}`"
            return DeviceFinding("device", ok=False, message=f"{control} may not be opened", remedy=remedy)
        return DeviceFinding("device", ok=True, message=str(control))


def driver() -> DeviceFinding:
    """Check that the driver answers."""
    try:
        management = Management()
        gpu, versions = management.gpu(), management.versions()
    except ToolchainError as error:
        return DeviceFinding("driver", ok=False, message=str(error), remedy="install NVIDIA's driver for CUDA 13")
    return DeviceFinding("driver", ok=True, message=f"{gpu.name}, {gpu.architecture}, driver {versions.driver}")


def compiler() -> DeviceFinding:
    """Check that nvcc is installed and new enough."""
    try:
        cuda = toolchain.cuda()
    except ToolchainError as error:
        return DeviceFinding("nvcc", ok=False, message=str(error))
    release = cuda.version.partition(".")[0]
    new_enough = release.isdigit() and int(release) >= OLDEST_CUDA
    remedy = "" if new_enough else f"install CUDA {OLDEST_CUDA}, or name its folder in CUDA_HOME"
    return DeviceFinding("nvcc", ok=new_enough, message=f"{cuda.nvcc} {cuda.version}", remedy=remedy)
