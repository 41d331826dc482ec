"""Boxes for people who are not root; where the suite runs as root, this adds an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from services.executor.sandboxes.gaps import Gap

REPOSITORY = Path(__file__).parents[4]
SYSTEM_PYTHON = Path("/usr/bin/python3")
NOBODY = 65534


@pytest.fixture
def _ordinary_user() -> None:
    """Somebody who is not root already is one; root needs a Python that others can start."""
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
        pytest.param("bubblewrap", [Gap.MEMORY], marks=pytest.mark.bubblewrap),
        ("process", [Gap.MEMORY]),
        ("process-without-namespaces", [Gap.PROCESS_LIST, Gap.MEMORY]),
    ],
)
async def test_the_box_holds_and_limits_for_an_ordinary_user_too(setting: str, gaps: list[Gap]) -> None:
    program = [str(SYSTEM_PYTHON), "-B", str(Path(__file__).with_name("ordinary_user.py")), setting]
    process = await asyncio.create_subprocess_exec(
        *program,
        stdout=asyncio.subprocess.PIPE,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
    )
    output, _ = await process.communicate()

    if process.returncode == 3:
        _lack("the system's Python is older than 3.11")
    seen = json.loads(output)
    assert seen.pop("gaps") == gaps
    assert seen == {
        "uid": str(NOBODY),
        "host files": "",
        "planted": "",
        "wrote": "made\n",
        "hog": "memory_exceeded",
        "loop": "cpu_exceeded",
        "forks": "bounded",
        "daemon": "gone",
    }
