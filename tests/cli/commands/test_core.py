from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.invocation import wavepool

SOLUTION = Path(__file__).parents[3] / "problems" / "relu" / "solution.hip"
COMMAND = [sys.executable, "-m", "cli.main", "core", "bench"]


@pytest.mark.parametrize(("replacement", "status", "verdict"), [("0.0f", 0, "ACCEPTED"), ("0.5f", 1, "WRONG_ANSWER")])
def test_the_core_judges_without_services_and_gets_further_options(
    tmp_path: Path, replacement: str, status: int, verdict: str
) -> None:
    kernel = tmp_path / "kernel.hip"
    kernel.write_text(SOLUTION.read_text().replace("0.0f", replacement))
    words = [*COMMAND, str(kernel), "--problem", "relu", "--mode", "check"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    assert verdict in done.stdout


def test_a_file_that_is_not_there_is_bad_usage() -> None:
    assert wavepool("core", "bench", "missing.hip", "--problem", "relu").status == 2


def test_the_mi300x_report_needs_no_service_and_no_gpu() -> None:
    words = [sys.executable, "-m", "cli.main", "core", "isa", str(SOLUTION), "--asm"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "relu" in done.stdout
    assert "global_store" in done.stdout


def test_a_source_without_kernels_gets_status_1_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "host.hip").write_text('extern "C" void solution() {}')
    words = [sys.executable, "-m", "cli.main", "core", "isa", str(tmp_path / "host.hip"), "--json"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "no kernel" in json.loads(done.stdout)["note"]
