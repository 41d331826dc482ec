"""What people read when they log in to a session; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from services.executor.devices.inventory import DeviceFacts
from services.executor.sessions.access.session_files import HOME, WORKSPACE
from services.executor.sessions.share import Share

_MIB_PER_GIB = 1024


@dataclass(frozen=True)
class Welcome:
    """The facts of one session. `gpus` are numbers of the machine's GPUs; `gaps` is what holds less than it should."""

    share: Share
    _: KW_ONLY
    device: DeviceFacts
    gpus: Sequence[int]
    keeps_home: bool
    has_network: bool
    disk_bytes: int
    gaps: Sequence[str]
    disk: str = ""
    """Name of the disk that the home is; empty for another home."""
    nodes: Sequence[str] = ()
    """Names of the nodes of its gang; empty if it is alone."""
    image: str = ""
    """The image whose files are the root; empty for the machine's own."""

    @property
    def text(self) -> str:
        """All lines but those that change with time."""
        rows = {
            "GPUs": self._gpus,
            "software": self._software,
            "image": self.image,
            "share": (
                f"{self.share.cores:g} processors, {_gib(self.share.memory_mib)} of memory, "
                f"/dev/shm {_gib(self.share.shared_memory_mib)}, disk {_gib(self.disk_bytes >> 20)}"  # noqa: S108  the sandbox's own
            ),
            HOME: self._home,
            WORKSPACE: "is removed at the end; caches of downloads are in it",
            "network": "the internet, by IPv4" if self.has_network else "none",
            "nodes": self._nodes,
        }
        lines = [f"  {name:<10} {words}" for name, words in rows.items() if words]
        return "\n".join(["Welcome to Wavepool.", *lines, *(f"  note: {gap}" for gap in self.gaps)]) + "\n"

    @property
    def _home(self) -> str:
        if self.disk:
            return f"is the disk {self.disk}, which is saved now and then, and at the end"
        return "is kept after the end" if self.keeps_home else "is removed at the end: copy out what you need"

    @property
    def _nodes(self) -> str:
        if not self.nodes:
            return ""
        return f"{self.nodes[0]} to {self.nodes[-1]}, by TCP through the pool: slow; /session/hostfile has them"

    @property
    def _gpus(self) -> str:
        known = {gpu.index: gpu for gpu in self.device.gpus}
        kinds = Counter((known[n].title or "GPU", known[n].memory_mib) for n in self.gpus if n in known)
        return ", ".join(
            f"{n} x {title}, {_gib(mib)}" if mib else f"{n} x {title}" for (title, mib), n in kinds.items()
        )

    @property
    def _software(self) -> str:
        words = {"driver": "driver", "rocm": "ROCm", "cuda": "CUDA"}
        return ", ".join(f"{words[name]} {version}" for name, version in software_of(self.device, self.image).items())


def software_of(device: DeviceFacts, image: str = "") -> dict[str, str]:
    """The versions that are known of a machine's driver, ROCm and CUDA, by `driver`, `rocm` and `cuda`.

    With an image they are the driver's alone, as an image has its own ROCm.
    """
    versions = {"driver": device.driver_version}
    if not image:
        versions |= {"rocm": device.rocm_version, "cuda": device.cuda_version}
    return {name: version for name, version in versions.items() if version}


def _gib(mib: int) -> str:
    return f"{mib / _MIB_PER_GIB:.3g} GiB"
