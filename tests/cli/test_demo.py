from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_the_demo_ends_with_one_accepted_and_one_wrong_kernel_and_leaves_nothing(tmp_path: Path) -> None:
    """Runs all of `make demo`: real services, a real compiler, real kernels, and a proxy that must not matter."""
    environment = {**os.environ, "ALL_PROXY": "http://127.0.0.1:1", "NO_PROXY": "", "TMPDIR": str(tmp_path)}
    demo = subprocess.run(
        [sys.executable, "-m", "cli.demo"], env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert demo.returncode == 0, demo.stdout[-2000:] + demo.stderr[-2000:]
    report = json.loads(demo.stdout.splitlines()[-1])
    assert (report["accepted"]["status"], report["wrong"]["status"]) == ("ACCEPTED", "WRONG_ANSWER")
    assert report["accepted"]["avg_runtime_ms"] > 0
    assert report["metrics"]["tasks_completed"] == 2
    assert report["metrics"]["cold_starts"] == 1
    # The user was charged. The operator's machine is this one, which costs nothing.
    assert report["accepted"]["cost_usd"] > 0
    assert report["metrics"]["total_cost_usd"] == 0
    assert list(tmp_path.glob("wavepool-demo-*")) == []
    assert [process for process in psutil.process_iter() if _environment(process).get("TMPDIR") == str(tmp_path)] == []


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}
