from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.reservation_scenes import ID, RESERVATIONS, introduce
from wavepool_client.errors import InputError
from wavepool_client.gpu_dev import COMMANDS, MISSING, MISSING_COMMANDS, translated


def gpu_dev(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wavepool_client.gpu_dev", *words]
    return subprocess.run(
        command, env=os.environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("reserve -g 4 -h 2.5 -t mi300x -n train", "reserve -g 4 -h 2.5 -t mi300x -n train"),
        ("reserve --gpus 1 --no-persist --hours=4", "reserve --gpus 1 --hours=4"),
        ("reserve --gpus 1 --disk none", "reserve --gpus 1 --disk none --hours 8"),
        ("reserve --gpus 1 --disk=work -h1", "reserve --gpus 1 --disk=work -h1"),
        ("reserve --dockerimage r.example/n:1 -h1", "reserve --image r.example/n:1 -h1"),
        ("reserve --dockerimage r/n:1 --preserve-entrypoint -h1", "reserve --image r/n:1 --preserve-entrypoint -h1"),
        ("reserve --dockerfile ./Dockerfile -h1", "reserve --dockerfile ./Dockerfile -h1"),
        ("submit --dockerimage=r.example/n:1 -h1 -- true", "run --image=r.example/n:1 -h1 -- true"),
        ("disk list-content work", "disk list-content work"),
        ("disk list --watch", "disk list --watch"),
        ("list", "reservations list"),
        (
            "list -u all -s pending,queued,active --details",
            "reservations list -u all -s pending,queued,active --details",
        ),
        ("show 01KB9X2F --details", "reservations show 01KB9X2F"),
        ("list --all", "reservations list --status all"),
        ("list --watch", "reservations list --watch"),
        ("show 01KB9X2F", "reservations show 01KB9X2F"),
        ("connect 01KB9X2F", "connect 01KB9X2F"),
        ("connect -- ls -l --disk", "connect -- ls -l --disk"),
        ("cancel --all", "cancel --reservations"),
        ("edit 01KB9X2F --extend 2", "reservations edit 01KB9X2F --extend 2"),
        ("edit 01KB9X2F --add-user alice", "reservations edit 01KB9X2F --add-user github:alice"),
        ("edit 01KB9X2F --add-user=bob=b.pub", "reservations edit 01KB9X2F --add-user bob=b.pub"),
        ("config set github_user alice", "keys claim alice"),
        ("avail --watch --interval 5", "avail --watch --interval 5"),
        ("availability", "avail"),
        ("status", "status"),
        (
            "submit --runtime ./ --gpu-type mi300x -h 2 --no-persistent-disk -- bash run.sh --runtime x",
            "run --dir ./ --gpu-type mi300x -h 2 -- bash run.sh --runtime x",
        ),
        ("submit --runtime=. --keep-alive -- true", "run --dir=. --keep-alive --hours 8 -- true"),
        ("config show", "config show"),
        ("config set default_gpu_type mi300x", "config set default_gpu_type mi300x"),
        ("config unset github_user", "config unset github_user"),
        ("config ssh-include enable", "config ssh-include enable"),
        ("help", "--help"),
        ("", "--help"),
        ("--version", "--version"),
        ("reserve --help", "reserve --help"),
    ],
)
def test_words_for_gpu_dev_become_those_for_wavepool(theirs: str, ours: str) -> None:
    assert translated(theirs.split(), on_terminal=False) == ours.split()


def test_reserve_asks_on_a_terminal_as_gpu_dev_does() -> None:
    assert translated(["reserve"], on_terminal=True) == ["reserve"]
    assert translated(["reserve", "--no-interactive"], on_terminal=True)[-2:] == ["--hours", "8"]


@pytest.mark.parametrize("option", sorted(MISSING))
def test_an_option_for_what_does_not_exist_says_so(option: str) -> None:
    with pytest.raises(InputError, match=f"gpu-dev reserve {option}: "):
        translated(["reserve", option, "x"], on_terminal=False)


@pytest.mark.parametrize("words", [*([name] for name in MISSING_COMMANDS), ["nap"], ["config", "set", "github_user"]])
def test_a_command_that_does_not_exist_says_what_to_use(words: list[str]) -> None:
    with pytest.raises(InputError, match=f"gpu-dev {words[0]}.*: "):
        translated(words, on_terminal=False)


def test_every_command_exists_in_wavepool() -> None:
    for words in COMMANDS.values():
        command = [sys.executable, "-m", "wavepool_client.main", *words]
        if words != ("--help",):
            command.append("--help")
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0, words


def test_the_command_is_installed_and_the_same_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway
) -> None:
    assert entry_points(group="console_scripts")["gpu-dev"].value == "wavepool_client.gpu_dev:main"
    introduce(tmp_path, monkeypatch, gateway)
    run = gpu_dev("reserve", "--gpus", "1", "--gpu-type", "mi300x", "--no-persist")
    assert (run.returncode, run.stdout) == (0, f"{ID}\n"), run.stderr
    assert gateway.asked("POST", RESERVATIONS)[0].body["hours"] == 8.0
    problem = {
        "title": "Unprocessable Entity",
        "errors": [{"field": "gpu_type", "message": "'h100' is none of MI300X"}],
    }
    gateway.only("POST", f"{RESERVATIONS}/quote", Answer(problem, 422))
    refused = gpu_dev("reserve", "-t", "h100")
    assert (refused.returncode, "'h100' is none of MI300X" in refused.stderr) == (2, True)
    missing = gpu_dev("setup")
    assert (missing.returncode, missing.stderr.startswith("gpu-dev setup: name the gateway")) == (2, True)
