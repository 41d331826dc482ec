"""An executor that is killed with runs in every stage leaves no process, no container, no cgroup and no file."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager, closing
from pathlib import Path

import docker
import pytest
from wavepool.submission.v1 import submission_pb2

from services.executor.sandboxes.docker.connection import OWNER_LABEL
from services.executor.sandboxes.docker.owner import SandboxOwner
from services.executor.sandboxes.limits.cgroup_place import cgroup_of
from services.executor.sandboxes.process_tree import descendants
from tests.services.executor.client import until
from tests.services.executor.test_process import BOMB, SOLUTION, STUCK, TALKER, Executor, all_ended, asked, living

STAGES = {
    "compiling": (BOMB, submission_pb2.RUN_MODE_CHECK),
    "checking": (STUCK, submission_pb2.RUN_MODE_CHECK),
    "benchmarking": (SOLUTION, submission_pb2.RUN_MODE_FULL),
    "program_output": (TALKER, submission_pb2.RUN_MODE_SANDBOX),
}
SANDBOXES = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
    "process",
]


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_an_executor_that_is_killed_in_every_stage_leaves_nothing(sandbox: str, tmp_path: Path) -> None:
    executor = Executor(tmp_path, EXECUTOR_SANDBOX=sandbox, EXECUTOR_MAX_RUNS="4", EXECUTOR_GPU_COUNT="4")
    async with executor.client() as client, _killed_at_the_end(executor):
        streams = [client.stream(asked(source, mode)) for source, mode in STAGES.values()]
        await asyncio.gather(*(stream.reach(stage) for stream, stage in zip(streams, STAGES, strict=True)))
        # The compiler's own event comes before its sandbox.
        await until(lambda: _compiles(tmp_path))
        tree = descendants(executor.process.pid)
        containers = _containers_of(tree) if sandbox == "docker" else set()
        assert len(containers) >= len(STAGES) or sandbox != "docker"
        processes = living([*tree, *map(_first_process, containers)])
        groups = {group for pid in processes for group in cgroup_of(pid) if "wavepool-sandbox" in str(group)}
        files = [*tmp_path.glob("wavepool-run-*"), *_memory_folders(tree)]
        assert len(files) >= 2 * len(STAGES)

    await until(lambda: all_ended(processes))
    await until(lambda: not any(group.exists() for group in groups))
    await until(lambda: not any(folder.exists() for folder in files))
    # Only that one needs a running engine.
    if sandbox == "docker":
        await until(lambda: not containers & _existing_containers())


@asynccontextmanager
async def _killed_at_the_end(executor: Executor) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        executor.end(signal.SIGKILL)


def _compiles(work_dir: Path) -> bool:
    return any(work_dir.glob("wavepool-run-*/compile/solution.hip"))


def _containers_of(pids: Collection[int]) -> set[str]:
    with closing(docker.from_env()) as engine:
        found = engine.api.containers(all=True, filters={"label": OWNER_LABEL})
    owners = {container["Id"]: SandboxOwner.from_label(container["Labels"][OWNER_LABEL]) for container in found}
    return {name for name, owner in owners.items() if owner is not None and owner.pid in pids}


def _existing_containers() -> set[str]:
    with closing(docker.from_env()) as engine:
        return {container["Id"] for container in engine.api.containers(all=True)}


def _first_process(container: str) -> int:
    with closing(docker.from_env()) as engine:
        return int(engine.api.inspect_container(container)["State"]["Pid"])


def _memory_folders(pids: Collection[int]) -> set[Path]:
    """The in-memory folders of runs in which these processes have files open."""
    opened: set[Path] = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                target = link.readlink()
            except OSError:
                continue
            opened |= {folder for folder in (target, *target.parents) if folder.name.startswith("wavepool-run-")}
    return opened
