"""A test that cannot run is skipped with the reason, or fails if it was explicitly required."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import MISSING, REPOSITORY


@pytest.mark.skipif(MISSING["gpu"][0](), reason="there is a GPU here")
@pytest.mark.parametrize(("required", "status"), [("REQUIRE_GPU", 1), ("REQUIRE_ALL", 0)])
def test_tests_of_a_gpu_fail_without_one_where_one_is_required(required: str, status: int) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "canary", "tests/gpu"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("REQUIRE_", "PYTEST_"))}
    ended = subprocess.run(
        words, cwd=REPOSITORY, env={**environment, required: "1"}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stdout
    assert ("REQUIRE_GPU=1, but no GPU here" in ended.stdout) == bool(status)
