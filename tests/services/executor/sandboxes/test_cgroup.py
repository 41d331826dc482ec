"""Where a box's groups go, on machines of either version; the real ones are exercised by the limits of the suite."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from services.executor.sandboxes.cgroup import Cgroup, cgroup_parents, remove_leftover_cgroups

if TYPE_CHECKING:
    from pathlib import Path


def _group(folder: Path, controllers: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.subtree_control").write_text(controllers)
    (folder / "cgroup.procs").touch()
    return folder


def test_version_2_uses_the_nearest_group_that_hands_down_memory_and_pids(tmp_path: Path) -> None:
    _group(tmp_path, "cpu memory pids")
    slice_ = _group(tmp_path / "user.slice", "cpu memory pids")
    _group(tmp_path / "user.slice" / "session.scope", "")

    assert cgroup_parents(tmp_path, "0::/user.slice/session.scope") == [slice_]


def test_version_2_without_delegated_controllers_has_no_place(tmp_path: Path) -> None:
    _group(tmp_path / "user.slice")

    assert cgroup_parents(tmp_path, "0::/user.slice") == []


def test_version_1_uses_our_own_group_of_each_controller(tmp_path: Path) -> None:
    for name in ("memory/jobs/7", "pids", "cpuacct"):
        _group(tmp_path / name)

    parents = cgroup_parents(tmp_path, "4:memory:/jobs/7\n8:pids:/\n2:cpuacct:/\n0::/")

    assert parents == [tmp_path / "memory/jobs/7", tmp_path / "pids", tmp_path / "cpuacct"]


def test_memory_kills_and_cpu_time_are_read_from_version_2_files(tmp_path: Path) -> None:
    group = Cgroup([tmp_path], memory_mib=64, processes=8)
    [folder] = group.folders

    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 0\n")
    assert not group.ran_out_of_memory
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert group.ran_out_of_memory

    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\n")
    assert group.usage().cpu.total_seconds() == 1.5


@pytest.mark.parametrize("name", ["memory.peak", "memory.max_usage_in_bytes"])
def test_peak_memory_and_refused_processes_are_read_in_either_version(tmp_path: Path, name: str) -> None:
    group = Cgroup([tmp_path], memory_mib=64, processes=8)
    [folder] = group.folders
    assert (group.peak_memory_mib, group.refused_processes) == (0, False)

    (folder / name).write_text(f"{48 << 20}\n")
    (folder / "pids.events").write_text("max 3\n")
    assert (group.peak_memory_mib, group.refused_processes) == (48, True)


def test_groups_of_dead_processes_are_removed_and_those_of_live_ones_kept(tmp_path: Path) -> None:
    dead = tmp_path / "wavepool-box-999999999-0"
    live = tmp_path / f"wavepool-box-{os.getpid()}-0"
    for folder in (dead, live):
        folder.mkdir()

    remove_leftover_cgroups([tmp_path])

    assert not dead.exists()
    assert live.exists()
