from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.executor.core.__main__ import main
from tests.services.executor.core.conftest import SUBMISSIONS

Bench = Callable[..., int]

pytestmark = pytest.mark.usefixtures("cpu_device")


@pytest.fixture
def bench(builds_folder: Path) -> Bench:
    def run_bench(*arguments: str) -> int:
        return main(["bench", *arguments, "--cache-folder", str(builds_folder)])

    return run_bench


def _file(name: str) -> str:
    return str(SUBMISSIONS / f"{name}.hip")


def test_an_accepted_file_shows_its_table_and_exits_with_0(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench(_file("surviving_daemon"), "--problem", "vector-addition") == 0
    screen = capfd.readouterr().out
    for text in ("sandbox: ", "compiling with ", "5/5 PASSED", "times of device `cpu`", "ACCEPTED: All 5 cases"):
        assert text in screen


def test_a_wrong_file_exits_with_1_and_json_goes_alone_to_stdout(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    assert bench(_file("wrong_answer"), "--problem", "vector-addition", "--mode", "check", "--json") == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["verdict"] == "WRONG_ANSWER"
    assert "d_output[2]: expected" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.hip", "--problem", "softmax"), "No such file"),
        ((_file("wrong_answer"),), "problem: is empty"),
        ((_file("wrong_answer"), "--problem", "sofmax"), "Did you mean softmax"),
        ((_file("wrong_answer"), "--problem", "softmax", "--dtype", "int4"), "dtype"),
        ((_file("wrong_answer"), "--problem", "softmax", "--device", "abacus"), "known are cpu"),
        (
            (_file("wrong_answer"), "--problem", "softmax", "--sandbox", "cardboard"),
            "'cardboard'; it must be one of auto",
        ),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_fault(
    bench: Bench, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert bench(*arguments) == 2
    assert said in capfd.readouterr().err
