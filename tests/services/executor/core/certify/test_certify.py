"""`certify` as people run it: complete on `cpu` and on the simulated GPU, killed midway, and without a device."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.executor.core.certify.sources import ROOT
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import SandboxError
from tests.cli.invocation import wavepool

pytestmark = [pytest.mark.usefixtures("cpu_device"), pytest.mark.slow, pytest.mark.timeout(900)]
CERTIFY = [sys.executable, "-m", "services.executor.core", "certify"]


def _certify(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*CERTIFY, "--out", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=800, check=False)


def _result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text())


def _outcomes(folder: Path) -> dict[str, str]:
    return {step["step"]: step["outcome"] for step in _result(folder)["steps"]}


def _step_below(running: subprocess.Popen[Any]) -> list[str]:
    """The command line of the first step of `spread`, as soon as it runs."""
    while running.poll() is None:
        for child in psutil.Process(running.pid).children(recursive=True):
            with suppress(psutil.Error, IndexError):
                if "--step" in (words := child.cmdline()) and words[-1].startswith("spread/"):
                    return words
    raise AssertionError(running.returncode)


@pytest.fixture(scope="module")
def sandbox_choice() -> str:
    """The outcome that `sandbox/choice` has here: it fails where there is no real sandbox, and all else works."""
    try:
        asyncio.run(choose_sandbox("required"))
    except SandboxError:
        return "failed"
    return "passed"


@pytest.mark.parametrize("device", [pytest.param("cpu", marks=pytest.mark.soak), "sim"])
def test_a_sample_of_everything_comes_through(tmp_path: Path, sandbox_choice: str, device: str) -> None:
    done = _certify(tmp_path, "--device", device, "--sample", "1", "--runs", "2")
    assert done.returncode == (0 if sandbox_choice == "passed" else 1), done.stderr
    outcomes, result = _outcomes(tmp_path), _result(tmp_path)
    sections = {step.partition("/")[0] for step in outcomes}
    assert sections == {
        *("environment", "sandbox", "device", "references", "honest", "attacks", "spread", "independent", "overhead")
    }
    no_instruments = {"environment/driver", "device/instruments"}
    made_up = {"independent/matrix-multiplication"} if device == "sim" else set[str]()
    assert {step for step, one in outcomes.items() if one == "not possible here"} == no_instruments | made_up
    figures = {(step["step"], one["name"]): one["value"] for step in result["steps"] for one in step["figures"]}
    assert (
        figures["overhead/next-submission", "whole submission"] > figures["overhead/next-submission", "stage check"] > 0
    )
    [spread] = [step for step in outcomes if step.startswith("spread/")]
    if device == "sim":
        assert outcomes[spread] == "passed"
        assert figures[spread, "claimed over true time"] == pytest.approx(1.0, rel=0.01)
    else:
        assert figures["independent/matrix-multiplication", "ours over theirs, events hot"] > 0
    assert [step for step, one in outcomes.items() if one == "failed"] == (
        [] if sandbox_choice == "passed" else ["sandbox/choice"]
    )
    assert set(result["not_run"].values()) == {"left out by --only, --sample or --quick"}
    assert f"Wavepool certify: {device}" in (tmp_path / "report.html").read_text()


def test_killed_in_the_middle_it_goes_on_and_tries_what_was_running_only_if_asked_to(
    tmp_path: Path, sandbox_choice: str
) -> None:
    options = ("--device", "cpu", "--only", "sandbox", "--only", "spread", "--sample", "2")
    for_hours = [*CERTIFY, "--out", str(tmp_path), *options, "--runs", "1000"]
    running = subprocess.Popen(for_hours, cwd=ROOT, stderr=subprocess.PIPE)
    assert running.stderr is not None
    reported = b""
    while b"spread/" not in reported:
        reported += (piece := os.read(running.stderr.fileno(), 4096))
        assert piece, reported
    below = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    running.stderr.close()
    _, alive = psutil.wait_procs(below, timeout=30)
    assert alive == [], "nothing of it outlives it"

    went_on = _certify(tmp_path, *options, "--runs", "2")
    first, second = [step for step in _outcomes(tmp_path) if step.startswith("spread/")]
    assert went_on.returncode == 1
    assert _outcomes(tmp_path) == {
        "sandbox/choice": sandbox_choice,
        "sandbox/devices": "passed",
        "device/open": "passed",
        first: "failed",
        second: "measured",
    }
    assert "sandbox/devices" not in went_on.stderr, "it has its result"
    again = _certify(tmp_path, *options, "--runs", "2", "--again", "failed")
    assert again.returncode == (0 if sandbox_choice == "passed" else 1)
    assert _outcomes(tmp_path)[first] == "measured"


def test_without_a_real_sandbox_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = _certify(tmp_path, "--device", "cpu", "--only", "sandbox", "--sandbox", "bubblewrap")
    assert done.returncode == 3, done.stderr
    assert "bwrap is not installed: run `apt-get install bubblewrap`" in done.stderr


def test_without_a_device_it_says_what_is_missing_and_exits_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "nowhere"))
    done = _certify(tmp_path / "out", "--device", "rocm", "--only", "environment", "--only", "attacks")
    assert done.returncode == 3, done.stderr
    steps = {step["step"]: step for step in _result(tmp_path / "out")["steps"]}
    assert f"no hipcc at {tmp_path}/nowhere" in steps["environment/compiler"]["why"]
    assert steps["device/open"]["outcome"] == "not possible here"
    assert not [step for step in steps if step.startswith("attacks/")]
    assert "the device cannot be opened (device/open)" in _result(tmp_path / "out")["not_run"].values()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--device", "abacus"), "known are cpu"),
        (("--only", "everything"), "invalid choice"),
        (("--runs", "1"), "one run has no spread"),
        (("--sample", "0"), "at least 1"),
        (("--again", "honest/nobody"), "has no result here"),
        (("--step-seconds", "nan"), "--step-seconds: must be a number above 0"),
        (("--step-seconds", "inf"), "--step-seconds: must be a number above 0"),
        (("--step-seconds", "-5"), "--step-seconds: must be a number above 0"),
        (("--box-memory-mib", "-5"), "--box-memory-mib: must be at least 1"),
        (("--box-cores", "-3"), "--box-cores: must be a number above 0"),
        (("--runs-at-once", "0"), "--runs-at-once: must be at least 1"),
        (("--sandbox", "nonsense"), "--sandbox or EXECUTOR_SANDBOX is 'nonsense'"),
        (("--forbidden", "/nofile"), "/nofile"),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_fault(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = _certify(tmp_path, *options)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_through_the_command_leaves_the_running_step_undone_and_writes_the_report(
    tmp_path: Path, number: signal.Signals
) -> None:
    options = ["--device", "cpu", "--only", "spread", "--sample", "1", "--runs", "1000", "--out", str(tmp_path)]
    command = [Path(sys.executable).with_name("wavepool"), "certify", *options]
    running = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    _step_below(running)
    below = psutil.Process(running.pid).children(recursive=True)
    # As a terminal does it: to all of them.
    os.killpg(running.pid, number)
    ended = running.wait()
    # SIGHUP kills the command itself: nobody reads its status.
    assert number == signal.SIGHUP or ended == 130
    _, alive = psutil.wait_procs(below, timeout=60)
    assert alive == [], "nothing of it outlives it"
    assert _outcomes(tmp_path) == {"device/open": "passed"}
    [undone] = [step for step, why in _result(tmp_path)["not_run"].items() if why == "certify was stopped before"]
    assert undone.startswith("spread/")
    assert "certify was stopped before" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "journal.jsonl").read_text().splitlines()[-1] == f'{{"again": "{undone}"}}'


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path) -> None:
    command = ["prlimit", "--fsize=1000", *CERTIFY, "--out", str(tmp_path), "--device", "cpu", "--only", "environment"]
    # Python does not notice that a module with a cached compiled form was truncated.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 3, done.stderr
    assert f"certify stopped at {tmp_path}: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.partial"))


def test_the_home_folder_is_in_nothing_that_is_sent(tmp_path: Path) -> None:
    home = tmp_path / "home" / "ada"
    home.mkdir(parents=True)
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment.pop("XDG_CACHE_HOME", None)
    options = ["--device", "rocm", "--only", "environment", "--out", "out"]
    rocm = {"ROCM_PATH": str(home / "rocm")}
    done = subprocess.run(
        [*CERTIFY, *options], cwd=home, env={**environment, **rocm}, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 3, done.stderr
    steps = {step["step"]: step for step in _result(home / "out")["steps"]}
    assert "no hipcc at ~/rocm/" in steps["environment/compiler"]["why"]
    assert "free at ~/.cache/wavepool/builds" in str(steps["environment/disk"]["figures"])
    for name in ("result.json", "report.html"):
        assert str(home) not in (home / "out" / name).read_text()


def test_options_of_the_core_reach_the_steps(tmp_path: Path) -> None:
    """The options appear in the command line of a step's own process, as the kernel shows it."""
    reported = {
        "--box-memory-mib": "2048",
        "--box-cores": "1.5",
        "--torch-python": "/no/python",
        "--runs-at-once": "3",
        "--cache-mib": "512",
        "--sandbox": "process",
    }
    words = [word for option in reported.items() for word in option]
    options = [*words, "--device", "cpu", "--only", "spread", "--sample", "1", "--runs", "1000"]
    running = subprocess.Popen([*CERTIFY, "--out", str(tmp_path), *options], cwd=ROOT, stderr=subprocess.DEVNULL)
    step = _step_below(running)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    assert reported.items() <= dict(pairwise(step)).items()


def test_a_recorder_that_cannot_be_made_is_found(tmp_path: Path) -> None:
    """The compiler's packages are found, as on the machine with an H200, and yet one of them cannot be loaded."""
    broken = tmp_path / "llvmlite"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('a broken installation')")
    command = [*CERTIFY, "--out", str(tmp_path / "out"), "--device", "rocm", "--only", "environment"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=800, check=False)
    assert _outcomes(tmp_path / "out")["environment/recorder"] == "failed"


def test_the_command_passes_options_on(tmp_path: Path) -> None:
    said = wavepool("certify", "--device", "abacus", "--quick", "--out", str(tmp_path))
    assert said.status == 2
