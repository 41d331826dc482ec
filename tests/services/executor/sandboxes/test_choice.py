"""EXECUTOR_SANDBOX gives the box that it names or a clear refusal."""

from __future__ import annotations

import pytest

from services.executor.sandboxes import choice
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import SandboxError


@pytest.fixture(autouse=True)
def _nothing_chosen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_chosen", {})


@pytest.fixture
def _no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.mark.bubblewrap
@pytest.mark.parametrize("setting", ["auto", "required", "bubblewrap"])
async def test_bubblewrap_is_taken_where_it_works(setting: str) -> None:
    assert (await choose_sandbox(setting)).name == "bubblewrap"


async def test_the_box_is_tried_out_once() -> None:
    assert await choose_sandbox("process") is await choose_sandbox("process")


@pytest.mark.usefixtures("_no_bubblewrap")
async def test_auto_takes_the_plain_box_where_bubblewrap_is_missing() -> None:
    assert (await choose_sandbox("auto")).name == "process"


@pytest.mark.usefixtures("_no_bubblewrap")
@pytest.mark.parametrize("setting", ["required", "bubblewrap"])
async def test_a_real_box_that_is_missing_is_refused_with_what_to_install(setting: str) -> None:
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        await choose_sandbox(setting)


async def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"'dcoker'.*auto, required, bubblewrap, process"):
        await choose_sandbox("dcoker")
