"""Reading and writing groups of either version; the suite's tests of limits use real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.cgroup import Cgroup, CgroupCounters, limit_cpu, remove_leftover_cgroups
from services.executor.sandboxes.limits.cgroup_place import cgroup_parents


def test_memory_kills_and_cpu_time_are_read_from_version_2_files(tmp_path: Path) -> None:
    group = Cgroup([tmp_path], memory_mib=64, processes=8, cores=4)
    [folder] = group.folders

    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 0\n")
    assert not group.ran_out_of_memory
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert group.ran_out_of_memory

    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\n")
    assert group.cpu_time().total_seconds() == 1.5


@pytest.mark.parametrize("name", ["memory.peak", "memory.max_usage_in_bytes"])
def test_peak_memory_and_refused_processes_are_read_in_either_version(tmp_path: Path, name: str) -> None:
    group = Cgroup([tmp_path], memory_mib=64, processes=8, cores=4)
    [folder] = group.folders
    assert (group.peak_memory_mib, group.refused_processes) == (0, False)

    (folder / name).write_text(f"{48 << 20}\n")
    (folder / "pids.events").write_text("max 3\n")
    assert (group.peak_memory_mib, group.refused_processes) == (48, True)


@pytest.mark.cgroups
async def test_a_process_that_comes_late_is_ended_and_leaves_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Cgroup(cgroup_parents(), memory_mib=64, processes=8, cores=4)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as late:
        for file in group.procs_files:
            Path(file).write_text(str(late.pid))
        nobody: list[int] = []
        seen = iter([nobody])
        monkeypatch.setattr(group, "pids", lambda: next(seen, CgroupCounters.pids(group)))
        try:
            await group.remove()
            assert late.wait(10) == -signal.SIGKILL
        finally:
            late.kill()
    assert not any(folder.exists() for folder in group.folders)


@pytest.mark.parametrize(("cores", "quota"), [(3.5, "350000"), (0.5, "50000"), (0.0001, "1000")])
def test_cores_become_a_quota_in_either_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: float, quota: str
) -> None:
    """A new group has its files at once; here they exist beforehand."""
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for name in ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"):
        (tmp_path / name).touch()

    limit_cpu(tmp_path, cores)

    assert (tmp_path / "cpu.max").read_text() == f"{quota} 100000"
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == quota
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "100000"


def test_all_processors_need_no_quota(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("max 100000")

    limit_cpu(tmp_path, os.cpu_count() or 1)

    assert (tmp_path / "cpu.max").read_text() == "max 100000"


def test_groups_of_dead_processes_are_removed_and_those_of_live_ones_kept(tmp_path: Path) -> None:
    live = Cgroup([tmp_path], memory_mib=64, processes=8, cores=1).folders[0]
    dead = live.with_name(live.name.replace(str(os.getpid()), "999999999", 1))
    dead.mkdir()

    remove_leftover_cgroups([tmp_path])

    assert not dead.exists()
    assert live.exists()


@pytest.mark.bubblewrap
def test_a_process_of_another_namespace_leaves_groups_alone(tmp_path: Path) -> None:
    group = Cgroup([tmp_path], memory_mib=64, processes=8, cores=1).folders[0]
    code = f"from {remove_leftover_cgroups.__module__} import *; remove_leftover_cgroups([Path({str(tmp_path)!r})])"
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--"]

    subprocess.run([*bwrap, sys.executable, "-c", code], check=True)

    assert group.exists()
