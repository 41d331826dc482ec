"""Every sandbox that this machine can make, for the contract suite."""

from __future__ import annotations

import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from services.executor.sandboxes.docker.sandbox import DockerSandbox, open_docker_sandbox
from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.limits.file_tree import remove_tree
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Sandbox
from tests.services.executor.sandboxes.shell import SandboxedShell

_FORGONE = {
    "process": [],
    "process-without-namespaces": [Hold.NAMESPACES],
    "process-bare": [Hold.NAMESPACES, Hold.LANDLOCK, Hold.SECCOMP],
}


_REAL = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("docker:runsc", marks=pytest.mark.runsc),
]
# Inside a sandbox with its own kernel, namespaces and most system calls are no escape, and processes cannot be counted
# from outside, so the other files do not apply to it. They would also take too long: a second for each sandbox.
_WITH_OWN_KERNEL = {"test_network_escapes.py", "test_exhaustion.py"}
_docker: dict[str | None, DockerSandbox] = {}


async def docker_sandbox(runtime: str | None = None) -> DockerSandbox:
    """A Docker sandbox, tested once in this process."""
    if runtime not in _docker:
        _docker[runtime] = await open_docker_sandbox(runtime)
    return _docker[runtime]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Removes the sandbox with its own kernel from the files that do not apply to it."""
    items[:] = [
        item
        for item in items
        if item.get_closest_marker("runsc") is None or item.path.name in {*_WITH_OWN_KERNEL, "test_choice.py"}
    ]


@pytest.fixture(params=[*_REAL, *_FORGONE])
async def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "bubblewrap":
        return BubblewrapSandbox()
    kind, _, runtime = request.param.partition(":")
    if kind == "docker":
        return await docker_sandbox(runtime or None)
    forgoing = await open_process_sandbox(_FORGONE[request.param])
    if Gap.SIGNALS in forgoing.gaps:
        # For users other than root, `kill -9 -1` in it would end the tests and the user's session.
        pytest.skip("a sandbox that can signal others of its user is none to try attacks in")
    return forgoing


@pytest.fixture
def shell(sandbox: Sandbox) -> Iterator[SandboxedShell]:
    """Its folders are open to other users, unlike `tmp_path`: a sandbox without its own root must reach them."""
    home = Path(tempfile.mkdtemp(prefix="wavepool-test-"))
    home.chmod(0o755)
    yield SandboxedShell(sandbox, home)
    remove_tree(home)
    assert not home.exists()


@pytest.fixture
def marker() -> str:
    """A unique number of seconds to sleep, on no other process's command line."""
    return f"300.{uuid.uuid4().int}"


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """One of our own processes, outside any sandbox."""
    process = subprocess.Popen(["/bin/sleep", "300"], env={"SECRET": "do-not-tell"})
    yield process
    process.kill()
    process.wait()
