"""EXECUTOR_SANDBOX selects the sandbox that it names, or is clearly refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.executor.sandboxes import choice
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.docker import sandbox as docker_sandbox
from services.executor.sandboxes.process import tree
from services.executor.sandboxes.sandbox import Command, SandboxError
from tests.services.executor.sandboxes.shell import GENEROUS


@pytest.fixture(autouse=True)
def _nothing_chosen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_chosen", {})


@pytest.fixture
def _no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def _no_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")


@pytest.mark.bubblewrap
@pytest.mark.parametrize("setting", ["auto", "required", "bubblewrap"])
async def test_bubblewrap_is_taken_where_it_works(setting: str) -> None:
    assert (await choose_sandbox(setting)).name == "bubblewrap"


async def test_the_sandbox_is_tried_out_once() -> None:
    assert await choose_sandbox("process") is await choose_sandbox("process")


async def test_a_launcher_that_cannot_start_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a power cut that left half a file of bytecode."""
    monkeypatch.setattr(tree, "_LAUNCH", "raise EOFError('marshal data too short')")
    with pytest.raises(SandboxError, match="the launcher cannot make a sandbox: EOFError: marshal data too short"):
        await choose_sandbox("process")


@pytest.mark.usefixtures("_no_bubblewrap")
@pytest.mark.docker
async def test_docker_is_the_second_choice() -> None:
    assert (await choose_sandbox("auto")).name == "docker"
    assert (await choose_sandbox("required")).name == "docker"


@pytest.mark.usefixtures("_no_bubblewrap", "_no_docker")
async def test_auto_takes_the_plain_sandbox_where_nothing_better_works() -> None:
    assert (await choose_sandbox("auto")).name == "process"


@pytest.mark.usefixtures("_no_bubblewrap", "_no_docker")
@pytest.mark.parametrize("setting", ["required", "bubblewrap"])
async def test_a_real_sandbox_that_is_missing_is_refused_with_what_to_install(setting: str) -> None:
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        await choose_sandbox(setting)


async def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"'dcoker'.*auto, required, bubblewrap, docker, process"):
        await choose_sandbox("dcoker")


@pytest.mark.parametrize("setting", ["process:runsc", "docker:", "auto:runsc"])
async def test_only_docker_takes_a_runtime(setting: str) -> None:
    with pytest.raises(SandboxError, match="only docker takes a runtime"):
        await choose_sandbox(setting)


@pytest.mark.runsc
async def test_another_runtime_of_the_engine_can_be_asked_for() -> None:
    sandbox = await choose_sandbox("docker:runsc")
    assert sandbox.name == "docker:runsc"

    command = Command(["/bin/uname", "-r"], Path("/"))
    ending = await (await sandbox.start(command, GENEROUS)).wait()

    # This sandbox has its own kernel.
    assert ending.code == 0
    assert ending.stdout.decode().strip() != os.uname().release


@pytest.mark.docker
async def test_a_runtime_that_the_engine_does_not_know_is_refused_with_those_that_it_knows() -> None:
    with pytest.raises(SandboxError, match=r"no runtime 'rnsc'; it has .*runc.*daemon\.json"):
        await choose_sandbox("docker:rnsc")


@pytest.mark.docker
async def test_a_missing_image_is_refused_with_what_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_sandbox, "IMAGE", "wavepool-sandbox:none-such")
    with pytest.raises(SandboxError, match="deploy/sandbox-image"):
        await choose_sandbox("docker")


@pytest.mark.parametrize(
    ("address", "advice"),
    [("unix:///nowhere/docker.sock", "Start one"), ("tcp://elsewhere:2375", "the engine must be here")],
)
async def test_without_an_engine_docker_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, address: str, advice: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(SandboxError, match=advice):
        await choose_sandbox("docker")
