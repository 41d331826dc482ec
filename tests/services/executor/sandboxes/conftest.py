"""Every box that this machine can make, for the contract suite."""

from __future__ import annotations

import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from services.executor.sandboxes.bubblewrap_sandbox import BubblewrapSandbox
from services.executor.sandboxes.docker_sandbox import DockerSandbox, open_docker_sandbox
from services.executor.sandboxes.file_tree import remove_tree
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process_sandbox import open_process_sandbox
from tests.services.executor.sandboxes.box import Box

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.executor.sandboxes.sandbox import Sandbox

_FORGONE = {
    "process": [],
    "process-without-namespaces": [Hold.NAMESPACES],
    "process-bare": [Hold.NAMESPACES, Hold.LANDLOCK, Hold.SECCOMP],
}


_REAL = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
_docker: list[DockerSandbox] = []


async def docker_sandbox() -> DockerSandbox:
    """Tried out once in this process."""
    if not _docker:
        _docker.append(await open_docker_sandbox())
    return _docker[0]


@pytest.fixture(params=[*_REAL, *_FORGONE])
async def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "bubblewrap":
        return BubblewrapSandbox()
    if request.param == "docker":
        return await docker_sandbox()
    return await open_process_sandbox(_FORGONE[request.param])


@pytest.fixture
def box(sandbox: Sandbox) -> Iterator[Box]:
    """A box whose folders other users can reach, unlike `tmp_path`: a box without a root of its own needs the way."""
    home = Path(tempfile.mkdtemp(prefix="wavepool-test-"))
    home.chmod(0o755)
    yield Box(sandbox, home)
    remove_tree(home)
    assert not home.exists()


@pytest.fixture
def marker() -> str:
    """A number of seconds to sleep that no other process has on its command line."""
    return f"300.{uuid.uuid4().int}"


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours outside of any box."""
    process = subprocess.Popen(["/bin/sleep", "300"], env={"SECRET": "do-not-tell"})
    yield process
    process.kill()
    process.wait()
