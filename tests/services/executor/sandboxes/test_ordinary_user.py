"""Sandboxes for users who are not root; if the suite runs as root, these tests become an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from services.executor.sandboxes.gaps import Gap

REPOSITORY = Path(__file__).parents[4]
SYSTEM_PYTHON = Path("/usr/bin/python3")
USER = 20_000 + os.getpid() % 40_000
"""A user of this test process alone: sandboxes of other tests run as nobody, whose processes the kernel counts."""
NOBODY = 65534
"""Who a sandbox with namespaces says that its user is."""
HELD = {
    "uid": str(NOBODY),
    "privileges": "CapPrm:\t0000000000000000",
    "host files": "",
    "planted": "",
    "wrote": "made\n",
    "hog": "memory_exceeded",
    "memory files": "memory_exceeded",
    "loop": "cpu_exceeded",
    "forks": "bounded",
    "beside a full sandbox": "started",
    "daemon": "gone",
}


@pytest.fixture
def _ordinary_user() -> None:
    """Skips the test unless it runs as root, with a Python and a checkout that other users can read."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the other tests of the suite run as an ordinary one here")
    if not SYSTEM_PYTHON.exists():
        _lack(f"{SYSTEM_PYTHON} is not installed")
    closed = [str(folder) for folder in (REPOSITORY, *REPOSITORY.parents) if folder.stat().st_mode & 0o005 != 0o005]
    if closed:
        _lack(f"an ordinary user cannot read the checkout: chmod o+rx {' '.join(closed)}")


def _lack(reason: str) -> None:
    if os.environ.get("REQUIRE_ALL") == "1":
        pytest.fail(f"REQUIRE_ALL=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.mark.usefixtures("_ordinary_user")
@pytest.mark.parametrize(
    ("setting", "gaps"),
    [
        pytest.param("bubblewrap", [Gap.MEMORY, Gap.CPU], marks=pytest.mark.bubblewrap),
        ("process", [Gap.MEMORY, Gap.CPU]),
        ("process-without-namespaces", [Gap.SOCKETS, Gap.PROCESS_LIST, Gap.PROCESS_COUNT, Gap.MEMORY, Gap.CPU]),
    ],
)
async def test_the_sandbox_holds_and_limits_for_an_ordinary_user_too(setting: str, gaps: list[Gap]) -> None:
    seen = await observed(setting)

    assert seen.pop("gaps") == gaps
    assert seen == {**HELD, "uid": str(NOBODY if setting in {"bubblewrap", "process"} else USER)}


@pytest.mark.usefixtures("_ordinary_user")
async def test_root_of_a_user_namespace_that_has_no_other_users_is_held_as_an_ordinary_user() -> None:
    become = ("/usr/bin/setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
    seen = await observed("process", *become, "/usr/bin/unshare", "--map-root-user")

    assert seen.pop("gaps") == [Gap.MEMORY, Gap.CPU]
    assert seen == {**HELD, "uid": "0"}


@pytest.mark.usefixtures("_ordinary_user")
async def test_processes_that_the_sandbox_cannot_see_do_not_use_up_its_limit() -> None:
    # As in one user's containers: a process namespace hides the processes, but the kernel still counts them.
    others = [subprocess.Popen(["/bin/sleep", "600"], user=USER, group=USER) for _ in range(60)]
    try:
        seen = await observed(
            "process-without-namespaces",
            *("/usr/bin/unshare", "--mount", "--pid", "--fork", "--mount-proc"),
            *("/usr/bin/setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
        )
    finally:
        for other in others:
            other.kill()
            other.wait()

    assert seen.pop("gaps") == [Gap.SOCKETS, Gap.PROCESS_LIST, Gap.PROCESS_COUNT, Gap.MEMORY, Gap.CPU]
    assert seen == {**HELD, "uid": str(USER)}


async def observed(setting: str, *become_user: str) -> dict[str, object]:
    """The results of `ordinary_user.py`, started as an ordinary user or by a command that becomes one."""
    user = {} if become_user else {"user": USER, "group": USER, "extra_groups": []}
    process = await asyncio.create_subprocess_exec(
        *become_user,
        *(str(SYSTEM_PYTHON), "-B", str(Path(__file__).with_name("ordinary_user.py")), setting),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        **user,
    )
    output, messages = await process.communicate()
    if process.returncode == 3:
        _lack("the system's Python is older than 3.11")
    assert process.returncode == 0, messages.decode()
    return json.loads(output)
