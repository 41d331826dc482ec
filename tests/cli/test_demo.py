from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli import demo


@pytest.mark.slow
def test_the_demo_ends_with_one_accepted_and_one_wrong_kernel_and_leaves_nothing(tmp_path: Path) -> None:
    """Runs all of `make demo`: real services, a real compiler, real kernels, and a proxy that must not matter."""
    environment = {**os.environ, "ALL_PROXY": "http://127.0.0.1:1", "NO_PROXY": "", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "cli.demo"], env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    last = done.stdout.splitlines()[-1]
    report = json.loads(last)
    assert len(last) < 300
    assert (report["accepted"]["status"], report["wrong"]["status"]) == ("ACCEPTED", "WRONG_ANSWER")
    assert report["accepted"]["avg_runtime_ms"] > 0
    assert report["metrics"]["tasks_completed"] == 2
    assert report["metrics"]["cold_starts"] == 1
    # The user was charged. The operator's machine is this one, which costs nothing.
    assert report["accepted"]["cost_usd"] > 0
    assert report["metrics"]["total_cost_usd"] == 0
    assert report["metrics"]["charged_usd"] >= report["accepted"]["cost_usd"]
    assert "priced as an MI300X; this machine costs nothing" in done.stdout
    assert list(tmp_path.glob("wavepool-demo-*")) == []
    assert [process for process in psutil.process_iter() if _environment(process).get("TMPDIR") == str(tmp_path)] == []


def test_the_last_line_has_a_few_fields_and_all_of_them_with_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the run itself is left out."""
    accepted = {"status": "ACCEPTED", "passed_tests": 5, "avg_runtime_ms": 0.1, "cost_usd": 0.001, "message": "All."}
    wrong, metrics = {"status": "WRONG_ANSWER", "message": "Wrong."}, {"tasks_completed": 2, "machines": []}

    async def run(data_dir: Path) -> dict[str, Any]:
        return {"accepted": accepted, "wrong": wrong, "metrics": metrics}

    monkeypatch.setattr(demo, "_main", run)
    last: dict[str, Any] = {}
    for words in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["demo", *words])
        with pytest.raises(SystemExit, match="0"):
            demo.main()
        last[" ".join(words)] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["--json"] == {"accepted": accepted, "wrong": wrong, "metrics": metrics}
    assert last[""]["accepted"] == {name: value for name, value in accepted.items() if name != "message"}
    assert last[""]["wrong"] == {"status": "WRONG_ANSWER", "passed_tests": None}
    assert last[""]["metrics"] == {
        "tasks_completed": 2,
        "cold_starts": None,
        "total_cost_usd": None,
        "charged_usd": None,
    }


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}
