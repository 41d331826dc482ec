"""The place of a sandbox's groups, on machines of either version and in containers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.cgroup_place import are_limited_in_cpu, cgroup_parents, hand_down_controllers

V1 = "4:memory:/jobs/7\n8:pids:/\n2:cpuacct:/\n1:cpu:/\n0::/"
CO_MOUNTED = "4:memory:/jobs/7\n8:pids:/\n2:cpu,cpuacct:/\n0::/"


def _group(folder: Path, controllers: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.subtree_control").write_text(controllers)
    (folder / "cgroup.procs").touch()
    return folder


def test_version_2_uses_the_nearest_group_that_hands_down_memory_and_pids(tmp_path: Path) -> None:
    _group(tmp_path, "cpu memory pids")
    slice_ = _group(tmp_path / "user.slice", "memory pids")
    _group(tmp_path / "user.slice" / "session.scope", "")

    parents = cgroup_parents(tmp_path, "0::/user.slice/session.scope")

    assert parents == [slice_]
    assert not are_limited_in_cpu(parents)


def test_version_2_without_delegated_controllers_has_no_place(tmp_path: Path) -> None:
    _group(tmp_path / "user.slice")

    assert cgroup_parents(tmp_path, "0::/user.slice") == []


def test_version_1_uses_our_own_group_of_each_controller(tmp_path: Path) -> None:
    for name in ("memory/jobs/7", "pids", "cpuacct"):
        _group(tmp_path / name)

    parents = cgroup_parents(tmp_path, V1)

    assert parents == [tmp_path / "memory/jobs/7", tmp_path / "pids", tmp_path / "cpuacct"]
    assert not are_limited_in_cpu(parents)


def test_version_1_limits_processors_where_the_kernel_has_quotas(tmp_path: Path) -> None:
    for name in ("memory/jobs/7", "pids", "cpuacct", "cpu"):
        _group(tmp_path / name)
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text("-1")

    parents = cgroup_parents(tmp_path, V1)

    assert parents == [tmp_path / name for name in ("memory/jobs/7", "pids", "cpu", "cpuacct")]
    assert are_limited_in_cpu(parents)


def test_a_hierarchy_with_two_controllers_has_one_group_for_both(tmp_path: Path) -> None:
    for name in ("memory/jobs/7", "pids", "cpu,cpuacct"):
        _group(tmp_path / name)
    (tmp_path / "cpu,cpuacct/cpu.cfs_quota_us").write_text("-1")
    for name in ("cpu", "cpuacct"):
        (tmp_path / name).symlink_to("cpu,cpuacct")

    parents = cgroup_parents(tmp_path, CO_MOUNTED)

    assert parents == [tmp_path / name for name in ("memory/jobs/7", "pids", "cpu,cpuacct")]
    assert are_limited_in_cpu(parents)


def test_a_container_s_own_groups_are_mounted_as_if_nothing_were_above(tmp_path: Path) -> None:
    for name in ("memory", "pids", "cpuacct"):
        _group(tmp_path / name)
    own = "/docker/0123456789ab"

    parents = cgroup_parents(tmp_path, f"4:memory:{own}\n8:pids:{own}\n2:cpuacct:{own}")

    assert parents == [tmp_path / "memory", tmp_path / "pids", tmp_path / "cpuacct"]


@pytest.mark.parametrize(("offered", "expected"), [("cpu io memory pids", "+cpu +memory +pids"), ("cpu io", "")])
def test_version_2_hands_down_what_sandboxes_need_where_it_has_it(tmp_path: Path, offered: str, expected: str) -> None:
    group = _group(tmp_path)
    (group / "cgroup.controllers").write_text(offered)

    hand_down_controllers(group)

    assert (group / "cgroup.subtree_control").read_text() == expected


def test_a_group_that_is_not_ours_is_left_as_it_is(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anything")
    group = _group(tmp_path)
    (group / "cgroup.controllers").write_text("cpu memory pids")
    (group / "cgroup.subtree_control").chmod(0o444)

    hand_down_controllers(group)

    assert [path.name for path in group.iterdir() if path.is_dir()] == []
