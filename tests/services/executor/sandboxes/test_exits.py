"""However a sandbox ends, nothing of it is left: no process, no cgroup, no file, no reserved user id."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.cgroup_place import cgroup_parents
from services.executor.sandboxes.limits.sandbox_user import SandboxUser, user_ids
from services.executor.sandboxes.running_sandbox import RunningSandbox
from services.executor.sandboxes.sandbox import Mount, SandboxError
from tests.services.executor.sandboxes.shell import SHORT_WALL, SandboxedShell, processes_with, until

REPOSITORY = Path(__file__).parents[4]


async def test_kill_ends_the_whole_tree(shell: SandboxedShell, marker: str) -> None:
    process = await shell.start(f"sleep {marker} & sleep {marker} | sleep {marker}")
    await until(lambda: len(processes_with(marker)) >= 3)

    await process.kill()

    assert processes_with(marker) == []


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_kill_ends_the_whole_tree_before_a_caller_that_is_cancelled_goes_on(
    shell: SandboxedShell, marker: str, turns: int
) -> None:
    process = await shell.start(f"sleep {marker} & sleep {marker}")
    await until(lambda: len(processes_with(marker)) >= 2)

    killing = asyncio.create_task(process.kill())
    for _ in range(turns):
        await asyncio.sleep(0)
    killing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killing

    assert processes_with(marker) == []
    assert _own_groups() == set()


async def test_a_prepared_sandbox_is_removed_before_a_caller_that_is_cancelled_goes_on(shell: SandboxedShell) -> None:
    prepared = await shell.prepare("true")

    discarding = asyncio.create_task(prepared.discard())
    await asyncio.sleep(0)
    discarding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await discarding

    assert _own_groups() == set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_kill_may_be_repeated_and_come_late(shell: SandboxedShell) -> None:
    process = await shell.start("exit 4")

    ending = await process.wait()
    await process.kill()
    await process.kill()

    assert ending.code == 4
    assert await process.wait() == ending


async def test_a_daemon_that_double_forks_does_not_outlive_its_program(shell: SandboxedShell, marker: str) -> None:
    daemon = f"(setsid sh -c 'trap \"\" TERM HUP; sleep {marker}' </dev/null >/dev/null 2>&1 &)"

    ending = await shell.run(f"{daemon}; {daemon}; echo left")

    assert ending.stdout == b"left\n"
    assert processes_with(marker) == []


async def test_closed_streams_do_not_hide_a_running_program(shell: SandboxedShell, marker: str) -> None:
    ending = await shell.run(f"exec >&- 2>&- <&-; sleep {marker}", SHORT_WALL)

    assert ending.wall_exceeded
    assert processes_with(marker) == []


async def test_nothing_is_left_on_the_host(shell: SandboxedShell) -> None:
    process = await shell.start("sleep 300")
    assert isinstance(process, RunningSandbox)
    counters = process._parts.cgroup
    groups = counters.folders if counters else []
    assert all(group.is_dir() for group in groups)
    assert bool(groups) == bool(cgroup_parents())

    await process.kill()

    assert not any(group.exists() for group in groups)
    assert _own_groups() == set()
    assert sorted(path.name for path in shell.folder.parent.iterdir()) == ["build", "outside"]


def _own_groups() -> set[Path]:
    return {group for parent in cgroup_parents() for group in parent.glob(f"wavepool-sandbox-{os.getpid()}-*")}


async def test_a_start_that_is_given_up_leaves_nothing(shell: SandboxedShell, marker: str) -> None:
    starting = asyncio.create_task(shell.start(f"sleep {marker}"))
    await until(lambda: processes_with(marker) != [] or starting.done())

    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await (await starting).kill()

    await until(lambda: processes_with(marker) == [])
    assert _own_groups() == set()


async def test_a_missing_mount_is_reported_at_the_start(shell: SandboxedShell) -> None:
    with pytest.raises(SandboxError, match="/nowhere-at-all"):
        await shell.start("true", mounts=(Mount(Path("/nowhere-at-all"), Path("/toolchain")),))

    assert _own_groups() == set()


def test_a_user_id_is_held_by_one_sandbox_at_a_time() -> None:
    first, second = SandboxUser(), SandboxUser()

    assert first.uid != second.uid

    first.release()
    second.release()
    third = SandboxUser()
    assert third.uid <= second.uid
    third.release()


def test_the_executors_of_containers_on_one_machine_take_user_ids_that_are_far_apart() -> None:
    namespaces = range(4026531833, 4026531833 + 100)
    taken = [uid for namespace in namespaces for uid in itertools.islice(user_ids(namespace), 42)]
    assert len(set(taken)) == len(taken)
    assert sorted(user_ids(namespaces[0])) == list(range(61184, 65520))


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
        pytest.param("docker", marks=pytest.mark.docker),
        "process",
        "process-without-namespaces",
    ],
)
async def test_a_sandbox_dies_with_the_process_that_started_it(setting: str, marker: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("sandbox_owner.py")), setting, marker],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"started\n"
    await until(lambda: len(processes_with(marker)) > 1)

    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()

    await until(lambda: processes_with(marker) == [])
