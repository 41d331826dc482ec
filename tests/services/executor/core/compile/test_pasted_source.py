"""Sources as people paste them: what belongs to the place that they come from is taken away, or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.executor.core.compile.pasted_source import paste_hint, unpasted
from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode

RELU = (Path(__file__).parents[1] / "definitions" / "relu.hip").read_text()


def lines_of(source: str) -> list[str]:
    return unpasted(source)[0].split("\n")


@pytest.mark.parametrize("fence", ["```", "```cpp", "~~~", "````c++", "```hip"])
def test_fences_around_a_source_become_empty_lines(fence: str) -> None:
    close = fence.rstrip("chip+")
    assert lines_of(f"\n{fence}\nint a;\n{close}\n") == ["", "", "int a;", "", ""]
    assert lines_of(f"{fence}\nint a;") == ["", "int a;"], "the last line was not copied"


def test_lines_for_kernelbot_become_empty_lines() -> None:
    assert lines_of("#!POPCORN leaderboard amd-fp8-mm\n#!POPCORN gpus MI300\n#include <x>") == ["", "", "#include <x>"]


def test_an_ordinary_source_stays_as_it_is() -> None:
    for source in (RELU, 'auto text = R"(\n```\n#include)";\n', "", "\n", "\ufeffint a;"):
        assert unpasted(source) == (source, ())


def test_markdown_inside_a_source_is_named() -> None:
    source = "Here is the kernel:\n```cpp\nint a;\n```\n"
    assert unpasted(source) == (source, ())
    assert "between the lines of ```" in paste_hint(source, "solution.hip:1:1: error: unknown type name 'Here'")


def test_a_header_of_ones_own_has_to_be_put_into_the_source() -> None:
    text = "solution.hip:2:10: fatal error: 'tiles.h' file not found"
    assert "the content of `tiles.h`" in paste_hint('\n#include "tiles.h"\n', text)
    assert not paste_hint("\n#include <tiles.h>\n", text), "that is a header of somebody else"
    assert not paste_hint("int a", "solution.hip:1:6: error: expected ';'")


async def judged(context: RunContext, source: str) -> tuple[events.Finished, str]:
    seen: list[events.Event] = []
    finished = await run(CoreJob(source, Mode.CHECK, "relu"), context, seen.append)
    warnings = [event.warnings for event in seen if isinstance(event, events.Compiled)]
    return finished, "".join(warnings)


async def test_a_pasted_file_is_judged_and_its_author_is_told_what_was_left_out(context: RunContext) -> None:
    pasted = f"```cpp\n#!POPCORN leaderboard relu\n{RELU}\n```\n"
    finished, warnings = await judged(context, pasted)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert "Markdown" in warnings
    assert "KernelBot" in warnings


async def test_the_hint_stands_in_the_verdict_with_the_authors_own_line(context: RunContext) -> None:
    finished, _ = await judged(context, f'```cpp\n#include "tiles.h"\n{RELU}\n```')
    assert finished.verdict is Verdict.COMPILE_ERROR
    assert "line 2" in finished.message
    assert "the content of `tiles.h`" in finished.message
