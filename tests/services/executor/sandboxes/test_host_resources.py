from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.host_resources import may_change_users

ALL = (1 << 41) - 1
CHOWN, SETGID, SETUID, SYS_ADMIN = 1 << 0, 1 << 6, 1 << 7, 1 << 21
EVERYBODY = "         0          0 4294967295\n"


def process(folder: Path, capabilities: int, uid_map: str = EVERYBODY, gid_map: str = EVERYBODY) -> Path:
    (folder / "status").write_text(f"Name:\tpython\nUid:\t0\t0\t0\t0\nCapEff:\t{capabilities:016x}\n")
    (folder / "uid_map").write_text(uid_map)
    (folder / "gid_map").write_text(gid_map)
    return folder


@pytest.mark.parametrize(
    ("capabilities", "may"),
    [
        (ALL, True),
        (CHOWN | SETGID | SETUID, True),
        (ALL & ~CHOWN, False),
        (ALL & ~SETUID, False),
        (SYS_ADMIN, False),
        (0, False),
    ],
)
def test_root_without_its_capabilities_gives_sandboxes_no_user_of_their_own(
    tmp_path: Path, capabilities: int, may: bool
) -> None:
    assert may_change_users(process(tmp_path, capabilities)) is may


@pytest.mark.parametrize(
    ("id_map", "may"),
    [
        ("0 1000 1\n", False),
        ("0 1000 1\n1 100000 65535\n", True),
        ("0 1000 1\n1 100000 60000\n", False),
        ("", False),
    ],
)
def test_root_of_a_user_namespace_gives_only_users_that_are_there(tmp_path: Path, id_map: str, may: bool) -> None:
    assert may_change_users(process(tmp_path, ALL, uid_map=id_map)) is may
    assert may_change_users(process(tmp_path, ALL, gid_map=id_map)) is may


def test_a_status_without_capabilities_has_none(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tpython\n")
    assert not may_change_users(tmp_path)


def test_this_process_may_where_it_is_root() -> None:
    assert may_change_users() is (os.geteuid() == 0)
