from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands.core import COMMANDS
from services.executor.core.commands.command_line import parser
from tests.cli.invocation import wavepool


def test_the_version_is_the_package_s() -> None:
    run = wavepool("--version")
    assert (run.status, run.out.split()[0]) == (0, "wavepool")


@pytest.mark.parametrize(
    "command",
    [
        "up",
        "submit",
        "watch",
        "jobs",
        "doctor",
        "core bench",
        "core record",
        "certify",
        "problems lint",
        "accounts create",
        "users change",
        "teams add",
        "tokens create",
        "config set",
    ],
)
def test_every_command_explains_itself(command: str) -> None:
    assert wavepool(*command.split(), "--help").status == 0


def test_help_lists_the_exit_statuses() -> None:
    said = " ".join(wavepool("submit", "--help").out.split())
    assert "0 accepted · 1 not accepted" in said
    assert "130 interrupted" in said


def test_an_unknown_command_is_bad_usage() -> None:
    assert wavepool("sumbit").status == 2


def test_the_shell_completes_subcommands() -> None:
    script = Path(sys.executable).with_name("wavepool")
    environment = {**os.environ, "_WAVEPOOL_COMPLETE": "complete_bash", "COMP_WORDS": "wavepool su", "COMP_CWORD": "1"}
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["submit"]


def test_the_core_s_commands_are_those_that_the_core_knows() -> None:
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    assert commands.choices is not None
    assert {*COMMANDS, "certify", "lint"} == set(commands.choices) - {"serve", "fork-server"}


def test_help_of_a_command_has_the_whole_name_of_every_option_in_80_columns() -> None:
    said = wavepool("reserve", "--help", environment={"COLUMNS": "80"}).out
    for name in ("--allow-slow-links", "--preserve-entrypoint", "--interactive / --no-interactive"):
        assert name in said
    assert "\n    wavepool reserve -g 8 -t MI300X -h 4 -n training\n" in said
