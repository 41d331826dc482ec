"""The commands that docs/command-line.md lists exist, with the options shown there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.invocation import wavepool

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
GROUPS = ("core", "machines", "problems", "queues")


def listed() -> list[str]:
    """The arguments of `wavepool` in each command of the page's blocks."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    lines = (re.sub(r"(^| +)#.*", "", line) for line in blocks.splitlines())
    parts = (part.strip() for line in lines for part in re.split(r"[;|>]", line))
    return [part.removeprefix("wavepool ") for part in parts if part.startswith("wavepool ")]


def test_the_list_is_found() -> None:
    assert {"problems", "doctor", "costs", "certify --device rocm"} <= {*listed()}


@pytest.mark.parametrize("command", listed())
def test_a_command_of_the_list_exists_with_its_options(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)
    names = [word for word in words[: 2 if words[0] in GROUPS else 1] if not word.startswith("-")]
    run = wavepool(*names, "--help")
    # The core prints its help in a process of its own.
    helped = run.out + capfd.readouterr().out
    assert run.status == 0
    assert [option for option in words if option.startswith("-") and not re.search(rf"{option}\b", helped)] == []
