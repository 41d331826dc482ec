"""What the command refuses before it asks a gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import ScriptedGateway
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import ACTIVE, ID, introduce, listed


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    introduce(tmp_path, monkeypatch, gateway)
    listed(gateway, ACTIVE)


def posted(gateway: ScriptedGateway) -> list[str]:
    return [asked.path for asked in gateway.requests if asked.method != "GET"]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400"])
@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (("reserve", "--hours"), (), "--hours"),
        (("reserve", "-h", "1", "--max-price"), (), "--max-price"),
        (("run", "-h"), ("--", "true"), "--hours"),
        (("reservations", "edit", ID, "--extend"), (), "--extend"),
        (("machines", "request", "--max-hours"), (), "--max-hours"),
        (("extend", "--", ID), (), "HOURS"),
    ],
)
def test_a_number_that_is_not_finite_is_refused_with_the_name_of_the_option(
    gateway: ScriptedGateway, before: tuple[str, ...], after: tuple[str, ...], name: str, number: str
) -> None:
    run = wavepool(*before, number, *after)
    assert (run.status, name in run.err) == (2, True), run.err
    assert posted(gateway) == []


@pytest.mark.parametrize("gpus", ["0", "-1"])
def test_no_gpus_are_not_one_gpu(gateway: ScriptedGateway, gpus: str) -> None:
    for words in (("reserve", "-h", "1", "-g", gpus), ("run", "-g", gpus, "--", "true")):
        run = wavepool(*words)
        assert (run.status, run.err) == (2, f"wavepool: gpu_count: is {gpus}; it must be one of 1, 2, 4, 8\n")
    assert posted(gateway) == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        *(
            (words, option)
            for option in ("--gpu-type", "--disk", "--name", "--queue", "--image", "--start", "--fallback-gpu")
            for words in (("reserve", "-h", "1", option, ""), ("run", option, "", "--", "true"))
        ),
        (("cancel", "--yes", ""), "ID…"),
        (("cancel", "--yes", ID, ""), "ID…"),
        (("extend", "", "1"), "[ID] HOURS"),
        (("connect", ""), "ID"),
        (("ssh-config", ""), "ID"),
        (("jupyter", ""), "ID"),
        (("forward", "8000", ""), "ID"),
        (("reservations", "show", ""), "ID"),
        (("reservations", "edit", "--extend", "1", ""), "ID"),
        (("reservations", "debug", ""), "ID"),
        (("reservations", "notify", ID, ""), "TEXT"),
        (("reservations", "list", "--user", ""), "--user"),
        (("reservations", "--user", ""), "--user"),
        (("keys", "--user", ""), "--user"),
        (("tokens", "create", "laptop", "--user", ""), "--user"),
        (("statement", "--month", ""), "--month"),
        (("submit", ""), "FILE"),
        (("submit", "k.hip", "--problem", " "), "--problem"),
        (("show", ""), "ID"),
        (("--profile", "", "jobs"), "--profile"),
    ],
)
def test_an_empty_word_is_not_taken_as_left_out(gateway: ScriptedGateway, words: tuple[str, ...], name: str) -> None:
    wavepool("config", "set", "default_gpu_type", "MI210")
    run = wavepool(*words)
    assert (run.status, run.err) == (2, f"wavepool: {name}: is empty; give what it needs, or leave it out\n")
    assert gateway.requests == []


def test_lines_that_are_no_keys_are_refused_and_shown_as_they_are(gateway: ScriptedGateway, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root:x:0\n[bold]\n")
    for words in (("reserve", "-h", "1", "--key", "passwd"), ("keys", "add", "passwd")):
        run = wavepool(*words)
        assert (run.status, "not public keys: 'root:x:0', '[bold]'; a key" in run.err) == (2, True), run.err
    assert posted(gateway) == []
