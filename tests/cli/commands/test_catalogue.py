from __future__ import annotations

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool

RELU = {"slug": "relu", "title": "ReLU", "difficulty": "EASY", "tags": ["activation"], "signature": "float* x"}


def test_the_catalogue_is_listed_with_and_without_the_subcommand(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/problems", Answer({"problems": [RELU]}))
    for arguments in (["problems"], ["problems", "list"]):
        run = wavepool(*arguments, "--endpoint", gateway.endpoint)
        assert (run.status, run.out.splitlines()[1].split()) == (0, ["relu", "ReLU", "EASY", *"----", "activation"])
    assert wavepool("problems", "--json", "--endpoint", gateway.endpoint).json == [RELU]


def test_the_list_shows_what_was_reached_on_the_chosen_hardware(gateway: ScriptedGateway) -> None:
    reached = {"status": "solved", "best_runtime_ms": 2.0, "record_runtime_ms": None, "users": 3}
    gateway.on("GET", "/api/v1/problems", Answer({"problems": [RELU | reached, RELU | {"status": "none", "users": 0}]}))
    run = wavepool("problems", "--gpu", "cpu", "--dtype", "float16", "--endpoint", gateway.endpoint)
    first, second = [line.split() for line in run.out.splitlines()[1:3]]
    assert first == ["relu", "ReLU", "EASY", "solved", "2", "ms", "-", "3", "activation"]
    assert second == ["relu", "ReLU", "EASY", "-", "-", "-", "0", "activation"]
    assert gateway.requests[-1].path.endswith("/problems?gpu_type=cpu&dtype=float16")


def test_a_problem_s_statement_and_starter_are_shown(gateway: ScriptedGateway) -> None:
    texts = {"statement": "# ReLU\n\nKeep what is positive.", "starter": "// begin [here]\n"}
    gateway.on("GET", "/api/v1/problems/relu", Answer({**RELU, **texts}))
    assert "Keep what is positive." in wavepool("problems", "show", "relu", "--endpoint", gateway.endpoint).out
    assert wavepool("problems", "starter", "relu", "--endpoint", gateway.endpoint).out == "// begin [here]\n"


def test_a_starter_can_be_had_in_another_element_type(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/problems/relu", Answer({**RELU, "starter": "// in halfs\n"}))
    run = wavepool("problems", "starter", "relu", "--dtype", "float16", "--endpoint", gateway.endpoint)
    assert run.out == "// in halfs\n"
    assert gateway.requests[-1].path.endswith("/relu?dtype=float16")


def test_an_unknown_problem_is_bad_input(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/problems/rellu", Answer({"title": "Not Found", "detail": "did you mean relu?"}, 404))
    run = wavepool("problems", "show", "rellu", "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert "did you mean relu?" in run.err


def test_lint_of_an_unknown_problem_says_so_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert wavepool("problems", "lint", "rellu").status == 2
    assert capfd.readouterr().err.count("did you mean relu") == 1
