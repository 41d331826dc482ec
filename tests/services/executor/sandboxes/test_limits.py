"""Every limit ends its sandbox, with every adapter, and the exit reason names the limit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.executor.core.model.limits import StageLimits
from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from services.executor.sandboxes.bubblewrap.tree import BubblewrapTree
from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.limits import watchdog
from services.executor.sandboxes.limits.cgroup import CgroupCounters
from services.executor.sandboxes.process.sandbox import ProcessSandbox
from services.executor.sandboxes.running_sandbox import RunningSandbox
from services.executor.sandboxes.sandbox import SandboxError, Stream
from tests.services.executor.sandboxes.shell import (
    FEW_PROCESSES,
    GENEROUS,
    SHORT_CPU,
    SHORT_WALL,
    SMALL_FILES,
    SMALL_MEMORY,
    SandboxedShell,
    processes_with,
)


async def test_a_program_within_its_limits_ends_by_itself(shell: SandboxedShell) -> None:
    ending = await shell.run("echo out; echo err >&2; exit 7")

    assert (ending.code, ending.signal) == (7, None)
    assert (ending.stdout, ending.stderr) == (b"out\n", b"err\n")
    excesses = (ending.wall_exceeded, ending.cpu_exceeded, ending.memory_exceeded, ending.files_exceeded)
    assert not any(excesses)


async def test_a_crash_is_reported_by_its_signal_and_by_no_limit(shell: SandboxedShell) -> None:
    ending = await shell.run("kill -SEGV $$")

    assert (ending.code, ending.signal) == (None, 11)
    assert not ending.memory_exceeded


async def test_sleeping_for_ever_exceeds_the_wall_clock(shell: SandboxedShell, marker: str) -> None:
    ending = await shell.run(f"sleep {marker}; echo woken", SHORT_WALL)

    assert ending.wall_exceeded
    assert not ending.cpu_exceeded
    assert processes_with(marker) == []


@pytest.mark.parametrize(("waited", "wall"), [(0, 90), (60, 150), (500, 240), (None, 240)])
def test_the_wall_time_grows_by_what_the_machine_waits_for_processors(
    monkeypatch: pytest.MonkeyPatch, waited: int | None, wall: int
) -> None:
    counts = [None, None] if waited is None else [timedelta(hours=1), timedelta(hours=1, seconds=waited)]
    monkeypatch.setattr(watchdog, "waits_for_processors", lambda: counts.pop(0))
    monkeypatch.setattr(watchdog.time, "monotonic", lambda: 1000.0)
    builder = StageLimits().builder
    assert watchdog.Watchdog(builder, list, None, ()).deadline == 1000.0 + wall


def test_the_kernel_counts_what_waits_for_processors() -> None:
    if not Path("/proc/pressure/cpu").exists():
        pytest.skip("this kernel has no pressure stall information")
    before, after = watchdog.waits_for_processors(), watchdog.waits_for_processors()
    assert before is not None
    assert after is not None
    assert timedelta(0) < before <= after


async def test_looping_for_ever_exceeds_the_cpu_time(shell: SandboxedShell) -> None:
    ending = await shell.run("while :; do :; done", SHORT_CPU)

    assert ending.cpu_exceeded
    assert not ending.wall_exceeded


async def test_cpu_time_is_that_of_the_whole_tree(shell: SandboxedShell) -> None:
    ending = await shell.run("(while :; do :; done) & (while :; do :; done) & wait", SHORT_CPU)

    assert ending.cpu_exceeded


async def test_what_a_sandbox_uses_can_be_read_while_it_runs(shell: SandboxedShell) -> None:
    running = await shell.start("(while :; do :; done) & sleep 60")
    try:
        begin, deadline = await running.cpu_time(), time.monotonic() + 60
        while await running.cpu_time() < begin + timedelta(seconds=0.2):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
    finally:
        await running.kill()


async def test_what_a_sandbox_uses_is_up_to_date_whenever_it_is_read(shell: SandboxedShell) -> None:
    """The kernel adds a thread's run time at timer ticks; several plain readings fit between two of them."""
    running = await shell.start("while :; do :; done")
    try:
        deadline = time.monotonic() + 60
        while len({await running.cpu_time() for _ in range(6)}) < 6:
            assert time.monotonic() < deadline
    finally:
        await running.kill()


async def test_a_sandbox_gets_no_more_than_its_cores(shell: SandboxedShell) -> None:
    if shell.admits(Gap.CPU):
        pytest.skip("the sandbox says that it cannot hold that back")
    cores, used = 0.05, timedelta(seconds=0.2)
    running = await shell.start("(while :; do :; done) & while :; do :; done", replace(GENEROUS, cores=cores))
    try:
        begin, begin_used = time.monotonic(), await running.cpu_time()
        while (now_used := await running.cpu_time()) < begin_used + used:
            assert time.monotonic() < begin + 60
            await asyncio.sleep(0.005)
        seconds = time.monotonic() - begin
        counted = _scheduled(running._parts.cgroup)
    finally:
        await running.kill()

    # A period's share of time may be used up at once.
    assert (now_used - begin_used).total_seconds() < cores * (seconds + 0.1) * 1.5
    # On a busy machine two loops may take as long without a limit; we cannot read the engine's group.
    assert counted.get("nr_throttled", "1") != "0"


async def test_a_sandbox_within_its_cores_is_never_stopped(shell: SandboxedShell) -> None:
    if not isinstance(shell.sandbox, (BubblewrapSandbox, ProcessSandbox)) or shell.admits(Gap.CPU):
        pytest.skip("the kernel counts for nobody here, or for the engine")
    running = await shell.start("while :; do :; done", replace(GENEROUS, cores=1))
    try:
        # Making the sandbox needs processes beside the loop's.
        while (begin := await running.cpu_time()) < timedelta(seconds=0.5):
            await asyncio.sleep(0.02)
        before = _scheduled(running._parts.cgroup)
        while await running.cpu_time() < begin + timedelta(seconds=1):
            await asyncio.sleep(0.02)
        counted = _scheduled(running._parts.cgroup)
    finally:
        await running.kill()

    periods, stopped = (int(counted[name]) - int(before[name]) for name in ("nr_periods", "nr_throttled"))
    assert periods > 5
    # On a busy machine the loop is moved between processors, and leaves a slice of its quota behind. With too small a
    # quota it would be stopped in each period.
    assert stopped <= 1 + periods // 4


def _scheduled(counters: CgroupCounters) -> dict[str, str]:
    """The scheduler's counters of a sandbox."""
    files = [folder / "cpu.stat" for folder in counters.folders if (folder / "cpu.stat").exists()]
    return dict(line.split() for file in files for line in file.read_text().splitlines())


async def test_a_memory_hog_is_distinguished_from_a_crash(shell: SandboxedShell) -> None:
    ending = await shell.run("exec tail /dev/zero", SMALL_MEMORY)

    assert ending.memory_exceeded
    assert ending.signal == 9


async def test_memory_is_that_of_the_whole_tree(shell: SandboxedShell) -> None:
    ending = await shell.run(
        "for i in 1 2 3; do head -c 30M /dev/zero | tail -c 30M | sleep 20 & done; wait", SMALL_MEMORY
    )

    assert ending.memory_exceeded


@pytest.mark.bubblewrap
@pytest.mark.parametrize(("kills", "is_reported"), [(3, True), (0, False)])
async def test_memory_is_reported_where_the_kernel_kills_bwrap_with_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, *, is_reported: bool
) -> None:
    """The kernel does so in groups of version 2; a bwrap that ends otherwise says nothing about the program."""
    (tmp_path / "memory.events").write_text(f"oom 1\noom_kill {kills}\n")
    running = await SandboxedShell(BubblewrapSandbox(), tmp_path).start("exec sleep 60")
    assert isinstance(running, RunningSandbox)
    tree = running._parts.tree
    assert isinstance(tree, BubblewrapTree)
    monkeypatch.setattr(running._parts, "cgroup", CgroupCounters([tmp_path]))
    tree.child.kill()
    if not is_reported:
        with pytest.raises(SandboxError, match="without saying"):
            await running.wait()
        return
    ending = await running.wait()
    assert ending.memory_exceeded
    assert ending.signal == 9


async def test_a_fork_bomb_runs_into_the_process_limit_and_leaves_nothing(shell: SandboxedShell, marker: str) -> None:
    bomb = f"bomb() {{ sleep {marker} & bomb | bomb & }}; bomb; for i in $(seq 40); do sleep {marker} & done; wait"

    ending = await shell.run(bomb, replace(FEW_PROCESSES, wall=SHORT_WALL.wall))

    assert b"fork" in ending.stderr or ending.wall_exceeded
    assert processes_with(marker) == []


async def test_the_process_limit_counts_this_sandbox_alone(shell: SandboxedShell) -> None:
    first = await shell.start("sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait", FEW_PROCESSES)
    second = await shell.run("true | true | true | true | echo fits", FEW_PROCESSES)

    assert second.stdout == b"fits\n"
    await first.kill()


async def test_one_big_file_exceeds_the_file_limit(shell: SandboxedShell) -> None:
    ending = await shell.run("exec head -c 20M /dev/zero >/build/big", SMALL_FILES)

    assert ending.files_exceeded
    assert (shell.folder / "big").stat().st_size <= SMALL_FILES.file_mib << 20


async def test_many_small_files_exceed_the_file_limit(shell: SandboxedShell) -> None:
    script = "for i in $(seq 20); do head -c 1M /dev/zero >/build/$i; done; sleep 50"

    ending = await shell.run(script, SMALL_FILES)

    assert ending.files_exceeded


async def test_its_own_temporary_folder_is_bounded_too(shell: SandboxedShell) -> None:
    script = "cd ${TMPDIR:-/tmp}; for i in $(seq 20); do head -c 1M /dev/zero >$i || exit 9; done; sleep 50"

    ending = await shell.run(script, SMALL_FILES)

    assert ending.files_exceeded or ending.code == 9


async def test_endless_output_is_capped_and_neither_blocks_nor_ends_the_program(shell: SandboxedShell) -> None:
    ending = await shell.run("head -c 100M /dev/zero; head -c 100K /dev/zero >&2; exit 3")

    assert ending.code == 3
    assert ending.output_truncated
    assert len(ending.stdout) == len(ending.stderr) == GENEROUS.output_bytes


async def test_output_is_sent_as_it_is_written(shell: SandboxedShell) -> None:
    heard: list[tuple[Stream, bytes]] = []

    process = await shell.start(
        "echo first; until [ -e /build/go ]; do sleep 0.01; done; echo second >&2",
        on_output=lambda stream, piece: (heard.append((stream, piece)), (shell.folder / "go").touch())[0],
    )
    await process.wait()

    assert heard == [("stdout", b"first\n"), ("stderr", b"second\n")]
