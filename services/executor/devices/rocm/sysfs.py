"""The files of `/sys` that ROCm's user space reads: a sandbox gets those of its own GPUs and no others.

libhsakmt reads the processors and GPUs from the driver's topology and from nowhere else (topology.c, ROCm 5.2 to 6.2).
It counts the folders of `nodes` and wants all numbers from 0, so a sandbox sees the whole topology. A GPU whose render
node cannot be found is left out: its open ends with ENOENT or EPERM. EACCES is an error instead, which makes everything
fail. libdrm finds a GPU's card by its node's device number, in `/sys/dev/char`, and reads the files in that card's
folder (xf86drm.c, 2.4.124).
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from services.executor.sandboxes.sandbox import Mount

SYS = Path("/sys")
TOPOLOGY = Path("devices/virtual/kfd/kfd/topology")


def gpu_mounts(render_nodes: Iterable[str], skeletons: Path, sys: Path = SYS) -> list[Mount]:
    """Return the read-only mounts that let a sandbox use these GPUs; none if this machine has no such driver.

    Raises ToolchainError for a node that the driver does not show.

    `render_nodes` are e.g. `/dev/dri/renderD128`. `skeletons` is a folder, within reach of the sandbox's user, for the
    links of the sandbox's own `/sys` and the folders on which the rest is mounted. `sys` is the folder of the driver's
    files.
    """
    drm = [sys / "class" / "drm" / Path(node).name for node in render_nodes]
    if not (sys / TOPOLOGY).is_dir():
        return []
    for node in drm:
        if not node.exists() or not _by_number(node, sys).is_symlink():
            raise ToolchainError(f"{node}: the driver shows no such render node; does this container have all of /sys?")
    links = {link.relative_to(sys): link.readlink() for node in drm for link in (node, _by_number(node, sys))}
    folders = [TOPOLOGY, *sorted({(node / "device").resolve().relative_to(sys.resolve()) for node in drm})]
    skeleton = _skeleton(skeletons, links, folders)
    return [Mount(skeleton, SYS), *(Mount(sys / folder, SYS / folder) for folder in folders)]


def render_nodes_beside(own: str, folder: Path = Path("/dev/dri")) -> list[str]:
    """Return all render nodes except `own`."""
    return sorted(str(node) for node in folder.glob("renderD*") if str(node) != own)


def _by_number(node: Path, sys: Path) -> Path:
    return sys / "dev" / "char" / (node / "dev").read_text().strip()


def _skeleton(parent: Path, links: dict[Path, Path], folders: Sequence[Path]) -> Path:
    """Return a folder with these links and empty folders; it is made once, and named after its contents."""
    named = hashlib.sha256(f"{sorted(links.items())} {folders}".encode()).hexdigest()[:16]
    skeleton = parent / f"sys-{named}"
    if skeleton.is_dir():
        return skeleton
    parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=parent))
    try:
        for folder in folders:
            (made / folder).mkdir(parents=True)
        for link, goal in links.items():
            (made / link).parent.mkdir(parents=True, exist_ok=True)
            (made / link).symlink_to(goal)
        for folder in (made, *(path for path in made.rglob("*") if not path.is_symlink())):
            folder.chmod(0o755)
        made.rename(skeleton)
    except OSError:
        # Another process may have been faster.
        if not skeleton.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return skeleton
