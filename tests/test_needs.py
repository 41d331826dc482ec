"""A test that cannot run is skipped with the name of what is missing, or fails if it was required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import NEEDS, REPOSITORY, summary

UNDECLARED = """
import subprocess
import pytest

@pytest.fixture
def started(tmp_path):
    {start}

def test_uses_it(started):
    pass

def test_starts_it_itself():
    {start}
"""
"""`perl` is on every Debian, so that these tests run everywhere, and nothing of ours may use it without saying so."""


def _pytest(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REQUIRE_", "PYTEST_", "TIER"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *words]
    return subprocess.run(
        command, cwd=REPOSITORY, env={**kept, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(NEEDS["gpu"].present(), reason="there is a GPU here")
@pytest.mark.parametrize(("required", "status"), [("REQUIRE_GPU", 1), ("REQUIRE_ALL", 0)])
def test_tests_of_a_gpu_fail_without_one_if_one_is_required(required: str, status: int) -> None:
    ended = _pytest("-k", "canary", "tests/gpu", **{required: "1"})
    assert ended.returncode == status, ended.stdout
    assert ("REQUIRE_GPU=1, but no GPU here" in ended.stdout) == (status == 1)


@pytest.mark.parametrize(
    ("start", "failed"),
    [
        ("subprocess.run(['perl', '-e', ''], check=True)", 2),
        ("subprocess.run(['/usr/bin/perl', '-e', ''], check=True)", 2),
        ("subprocess.run(['true'], check=True)", 0),
    ],
    ids=["by name", "by path", "what every machine has"],
)
def test_a_test_or_fixture_that_starts_what_it_does_not_declare_fails(start: str, failed: int, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.needs import Needs\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(Needs(), 'needs')\n"
    )
    (tmp_path / "test_programs.py").write_text(UNDECLARED.format(start=start))
    ended = _pytest("-c", str(REPOSITORY / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path))
    assert (ended.returncode == 0) == (failed == 0), ended.stdout
    assert ended.stdout.count("starts perl, which the fixture or test does not declare") >= failed, ended.stdout


def test_the_end_says_in_three_lines_what_was_skipped_for_want_of_what_and_how_to_get_it() -> None:
    reasons = [
        *["Skipped: needs postgres: the PostgreSQL server is not installed"] * 3,
        *["Skipped: needs browser: chromium-headless-shell or chromium not installed"] * 2,
        "Skipped: needs oidc: the OpenID provider of the tests is not installed",
        "Skipped: needs freezer: no freezer",
        "Skipped: root may write anything",
        "Skipped: needs root with the right to mount, for a disk that can be filled",
    ]
    assert summary(reasons) == [
        "skipped for want of packages: postgres 3, browser 2; apt-get install postgresql chromium-headless-shell",
        "skipped for want of a set-up: oidc 1; run .ci/oidc-provider",
        "skipped as this machine or user cannot have it: 3 (pytest -rs names each reason)",
    ]
    assert summary([]) == []
