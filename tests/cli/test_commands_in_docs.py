"""The commands that the documentation shows exist, with the options shown there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.invocation import wavepool
from wavepool_client.main import app

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
FENCE = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
NEXT = re.compile(r"(?:;|\||&&|>)(?=(?:[^']*'[^']*')*[^']*$)")
"""Begins another command, or a file, outside quotes."""
OF_OTHERS = {"wavepool COMMAND --help", "wavepool disk …", "wavepool reserve --recreate-env"}
"""What stands for any command, and what is said not to exist."""


def commands(page: Path) -> list[str]:
    """The commands in a page's blocks and lines, without what they are piped into."""
    text = page.read_text(encoding="utf-8")
    blocks = "\n".join(FENCE.findall(text)).replace("\\\n", " ")
    lines = [re.sub(r"(^|\s+)# .*", "", line.strip()) for line in blocks.splitlines()]
    # In a table, a bar has a stroke before it.
    lines += re.findall(r"`(wavepool [^`]+)`", FENCE.sub("", text).replace("\\|", "|"))
    parts = [re.sub(r"^([A-Z_]+=\S+ )*", "", part.strip()) for line in lines for part in NEXT.split(line)]
    return [part for part in parts if part.startswith("wavepool ") and part not in OF_OTHERS]


def fault_of(command: str) -> str:
    """What of a command does not exist; empty if all does."""
    found: Any = typer.main.get_command(app)
    words = shlex.split(command)[1:]
    while words and hasattr(found, "get_command") and not words[0].startswith("-"):
        found = found.get_command(None, words[0])
        if found is None:
            return f"no command {words[0]}"
        words.pop(0)
    known = {option for one in found.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    return " ".join(option for option in options(words) if option not in known)


def options(words: list[str]) -> Iterator[str]:
    """The options among words, up to what is passed on."""
    for word in words:
        if word == "--":
            return
        if re.match(r"--?[a-z]", word):
            yield word.partition("=")[0]


def has_own_parser(command: str) -> bool:
    """True for commands that another program reads."""
    return command.startswith(("wavepool core ", "wavepool certify"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_the_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    faults = {command: fault_of(command) for command in commands(page) if not has_own_parser(command)}
    assert {command: fault for command, fault in faults.items() if fault} == {}


@pytest.mark.parametrize("name", ["core bench", "core check", "core isa", "certify"])
def test_the_options_of_the_core_exist(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    shown = [shlex.split(one) for page in PAGES for one in commands(page) if one.startswith(f"wavepool {name}")]
    run = wavepool(*name.split(), "--help")
    # The core prints its help in a process of its own.
    helped = run.out + capfd.readouterr().out
    assert shown
    assert [option for words in shown for option in options(words) if not re.search(rf"{option}\b", helped)] == []


def test_commands_are_found_and_faults_named() -> None:
    assert {"wavepool problems", "wavepool doctor", "wavepool certify --device rocm"} <= {
        *commands(REPOSITORY / "docs" / "command-line.md")
    }
    assert fault_of("wavepool submit k.hip --no-such=1 -p relu") == "--no-such"
    assert fault_of("wavepool machines burn m1") == "no command burn"
