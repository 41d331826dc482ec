"""Commands of the documentation that only read, as they stand there, against a Wavepool with default settings."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import typer

from tests.cli.invocation import wavepool as command_line
from tests.cli.test_commands_in_docs import PAGES, commands
from tests.end_to_end.wavepool_processes import Wavepool
from wavepool_client.main import app

READING = (
    "alerts",
    "alerts history",
    "alerts rules",
    "avail",
    "costs",
    "disk list",
    "jobs",
    "keys list",
    "leaderboard",
    "limits",
    "machines",
    "machines list",
    "machines offers",
    "metrics",
    "metrics queues",
    "plugins",
    "prices",
    "prices history",
    "problems",
    "problems starter",
    "projections",
    "queue-status",
    "queues",
    "queues export",
    "quote",
    "reservations",
    "statement",
    "status",
)
GIVEN = re.compile(r"…|\b[A-Z]{2,}(?![A-Z0-9]*\d)\b|_01|--watch|--verify|\[")
"""Of commands that are for something of the reader's, or go on until they are stopped."""


def runnable() -> list[str]:
    """Each command that needs nothing but a running Wavepool."""
    found = {one for page in PAGES for one in commands(page) if not GIVEN.search(one)}
    return sorted(one for one in found if _name(one) in READING)


def _name(command: str) -> str:
    words = command.split()[1:]
    all_commands: Any = typer.main.get_command(app)
    is_group = hasattr(all_commands.get_command(None, words[0]), "get_command")
    return " ".join(words[: 2 if is_group and words[1:] and not words[1].startswith("-") else 1])


def test_each_command_that_reads_is_shown_somewhere() -> None:
    assert {_name(one) for one in runnable()} == {*READING}


@pytest.mark.parametrize("command", runnable())
def test_a_command_that_reads_answers(wavepool: Wavepool, command: str) -> None:
    where = {
        "WAVEPOOL_ENDPOINT": wavepool.endpoint,
        "WAVEPOOL_TOKEN": wavepool.http.headers["Authorization"].removeprefix("Bearer "),
    }
    run = command_line(*shlex.split(command)[1:], environment=where)
    assert run.status == 0, run.err
