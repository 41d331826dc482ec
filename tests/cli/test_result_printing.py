from __future__ import annotations

import pytest

from wavepool_client.outcome import Result
from wavepool_client.terminal.result_printing import SHOWN_OUTPUT_LINES, print_result


def shown(capsys: pytest.CaptureFixture[str], **data: object) -> list[str]:
    print_result(Result("job_1", "RUNTIME_ERROR", "RUNTIME_ERROR", "It aborted; stderr may say why.", data=data))
    return capsys.readouterr().out.splitlines()


def test_what_the_program_printed_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, stdout="", stderr="uncaught: [bold]my text[/bold]\n")
    assert lines[1:3] == ["stderr:", "  uncaught: [bold]my text[/bold]"]
    assert "stdout:" not in lines


def test_output_that_is_printed_twice_is_explained_where_cases_run_twice(capsys: pytest.CaptureFixture[str]) -> None:
    print_result(Result("job_1", "ACCEPTED", "ACCEPTED", "", total_tests=4, data={"stdout": "here\nhere\n"}))
    assert "stdout (a case may be run more than once, and each run prints):" in capsys.readouterr().out


def test_of_long_output_the_end_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, stdout="".join(f"line {number}\n" for number in range(SHOWN_OUTPUT_LINES + 2)))
    assert lines[1:3] == ["stdout, without its first 2 lines:", "  line 2"]
    assert f"  line {SHOWN_OUTPUT_LINES + 1}" in lines


def test_values_that_json_cannot_hold_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    differences = {"(0, 0)": {"expected": 0.5, "actual": None, "diff": None}}
    [line] = [line for line in shown(capsys, debug_info={"sample_differences": differences}) if "(0, 0)" in line]
    assert line.count("NaN or inf") == len(("actual", "difference"))
    assert "0.5" in line
