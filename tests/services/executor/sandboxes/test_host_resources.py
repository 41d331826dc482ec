from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.host_resources import may_change_users

STATUS = "Name:\tpython\nUid:\t0\t0\t0\t0\nCapEff:\t{:016x}\n"
ALL = (1 << 41) - 1
CHOWN, SETGID, SETUID, SYS_ADMIN = 1 << 0, 1 << 6, 1 << 7, 1 << 21


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
def test_root_without_its_capabilities_gives_sandboxes_no_user_of_their_own(capabilities: int, may: bool) -> None:
    assert may_change_users(STATUS.format(capabilities)) is may


def test_a_status_without_capabilities_has_none() -> None:
    assert not may_change_users("Name:\tpython\n")


def test_this_process_may_where_it_is_root() -> None:
    assert may_change_users(Path("/proc/self/status").read_text()) is (os.geteuid() == 0)
