"""Checks of an AMD GPU's requirements on this machine, from device nodes to the compiler; they change nothing."""

from __future__ import annotations

import grp
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hipcpu.build_folder import ToolchainError
from services.executor.devices.finding import DeviceFinding
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.gpu import load
from services.executor.devices.rocm.sysfs import SYS, TOPOLOGY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEV = Path("/dev")
DRIVER_NODE = "kfd"
OLDEST_DRIVER = (6, 3)
"""Oldest amdgpu version that works: the one of ROCm 6.0.

A driver works with the user space of two releases before and after it, and ours begins with 6.2: "User and kernel-space
support matrix" of ROCm's documentation.
"""
_MI300X = 90402
"""The driver's number for gfx942."""
_FIELD = re.compile(r"^(gfx_target_version|drm_render_minor) (\d+)$", re.MULTILINE)
_DRIVER_VERSION = re.compile(r"(\d+)\.(\d+)")
_INSTALL_ROCM = (
    "on a machine: docs/first-hour.md, step 1, names AMD's guide; in a container: build deploy/Dockerfile from a ROCm "
    "image (step 6)"
)
_INSTALL_DRIVER = "install amdgpu-dkms of ROCm 6.2 or newer, or a kernel that has the driver, and `modprobe amdgpu`"


def no_device(dev: Path = DEV) -> str:
    """Return a message if the driver's node is missing; empty if it exists."""
    if (dev / DRIVER_NODE).exists():
        return ""
    return (
        f"no device: {dev / DRIVER_NODE} is missing; load the driver (`modprobe amdgpu`), or give the container "
        "--device /dev/kfd --device /dev/dri"
    )


class RocmCheckup:
    """Checks an AMD GPU; `dev` and `sys` are the folders of device nodes and of the driver's files."""

    def __init__(self, dev: Path = DEV, sys: Path = SYS) -> None:
        self._dev = dev
        self._sys = sys

    def findings(self) -> Sequence[DeviceFinding]:
        """Return all findings, in the order in which to fix them."""
        checks: list[Callable[[], DeviceFinding]] = [
            self.nodes,
            self.permission,
            self.topology,
            self.driver,
            compiler,
            management_library,
        ]
        return [check() for check in checks]

    def nodes(self) -> DeviceFinding:
        """Check that the driver's node and a render node exist."""
        if missing := no_device(self._dev):
            return _fault("device", missing, "`lspci -d 1002:` lists the GPU, if the machine has one")
        found = self._render_nodes()
        if not found:
            folder = self._dev / "dri"
            return _fault(
                "device", f"{folder} has no render node", "give the container --device /dev/dri; `ls -l /dev/dri`"
            )
        return DeviceFinding("device", ok=True, message=f"{self._dev / DRIVER_NODE}, {', '.join(map(str, found))}")

    def permission(self) -> DeviceFinding:
        """Check that this user may open the nodes, as the sandboxes of runs do."""
        nodes = [node for node in (self._dev / DRIVER_NODE, *self._render_nodes()) if node.exists()]
        closed = [node for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
        if not closed:
            message = f"{len(nodes)} nodes may be opened" if nodes else "there is no node to open"
            return DeviceFinding("permission", ok=bool(nodes), message=message)
        groups = sorted({_group(node) for node in closed})
        return _fault(
            "permission",
            f"{os.environ.get('USER') or os.getuid()} may not open {', '.join(map(str, closed))}",
            f"`usermod -aG {','.join(groups)} USER` and log in again; in a container --group-add with their numbers",
        )

    def topology(self) -> DeviceFinding:
        """Check that the driver shows GPUs in `/sys`, which the runtime needs to start, and that they are MI300X."""
        folder = self._sys / TOPOLOGY / "nodes"
        gpus = list(self._gpus())
        if not gpus:
            return _fault(
                "topology",
                f"{folder} shows no GPU",
                "`dmesg | grep -i kfd` says why; a container needs the host's /sys, as engines give it by default",
            )
        lost = [f"renderD{minor}" for _, minor in gpus if not (self._dev / "dri" / f"renderD{minor}").exists()]
        message = (
            f"{len(gpus)} GPUs or partitions: {', '.join(sorted({_architecture(version) for version, _ in gpus}))}"
        )
        if lost:
            missing = f"{message}; there is no {', '.join(lost)} in {self._dev / 'dri'}"
            return _fault(
                "topology", missing, "give the container all of /dev/dri, or set ROCM_INDEX to a GPU that it has"
            )
        if any(version != _MI300X for version, _ in gpus):
            return _fault("topology", message, "only gfx942 (MI300X, MI300A) is what times are compared for")
        return DeviceFinding("topology", ok=True, message=message)

    def driver(self) -> DeviceFinding:
        """Check the driver's version; a driver that came with the kernel has none."""
        module = self._sys / "module" / "amdgpu"
        if not module.is_dir():
            return _fault("driver", "the kernel module amdgpu is not loaded", _INSTALL_DRIVER)
        try:
            version = (module / "version").read_text().strip()
        except OSError:
            message = f"amdgpu of the kernel {os.uname().release}, which reports no version"
            return DeviceFinding("driver", ok=True, message=message)
        found = _DRIVER_VERSION.match(version)
        if found and (int(found[1]), int(found[2])) < OLDEST_DRIVER:
            return _fault("driver", f"amdgpu {version} is too old", _INSTALL_DRIVER)
        return DeviceFinding("driver", ok=True, message=f"amdgpu {version}")

    def _render_nodes(self) -> list[Path]:
        return sorted((self._dev / "dri").glob("renderD*"))

    def _gpus(self) -> Iterator[tuple[int, int]]:
        """Yield each GPU's version and render node from the topology; processors have version 0 and are left out."""
        for properties in sorted((self._sys / TOPOLOGY).glob("nodes/*/properties")):
            try:
                fields = {name: int(value) for name, value in _FIELD.findall(properties.read_text())}
            except OSError:
                # The driver hides GPUs that a container was not given.
                continue
            if version := fields.get("gfx_target_version"):
                yield version, fields.get("drm_render_minor", 0)


def compiler() -> DeviceFinding:
    """Check that hipcc is installed and new enough."""
    try:
        rocm = toolchain.rocm()
    except ToolchainError as error:
        return _fault("hipcc", str(error), _INSTALL_ROCM)
    if not any(rocm.version):
        return _fault("hipcc", f"{rocm.hipcc} does not say its version", "`hipcc --version` should")
    return DeviceFinding("hipcc", ok=True, message=f"{rocm.hipcc}, ROCm {'.'.join(map(str, rocm.version))}")


def management_library() -> DeviceFinding:
    """Check that amdsmi answers and lists a GPU; the executor asks it for the inventory."""
    try:
        handles = load()[1]
    except ToolchainError as error:
        return _fault("amdsmi", str(error), "install amd-smi-lib of ROCm; ROCm's images have it")
    if not handles:
        return _fault("amdsmi", "amdsmi lists no GPU", "`amd-smi list` should list one; see the findings above")
    return DeviceFinding("amdsmi", ok=True, message=f"lists {len(handles)} GPUs or partitions")


def _fault(check: str, message: str, remedy: str) -> DeviceFinding:
    return DeviceFinding(check, ok=False, message=message, remedy=remedy)


def _architecture(version: int) -> str:
    """Return the compiler's name of a version: 90402 is gfx942, as the last two numbers are hexadecimal digits."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def _group(node: Path) -> str:
    number = node.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
