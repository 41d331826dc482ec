"""ROCm's real runtime in our sandboxes, with files of a machine of eight MI300X and a stand-in for its driver.

It lists agents and hands out memory. Nothing runs on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.core.model.limits import StageLimits
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.sysfs import SYS, TOPOLOGY, gpu_mounts
from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import Command, Exit, Sandbox
from tests.services.executor.sandboxes.rocm_user_space.machine import PROCESSORS, Partition, machine
from tests.services.executor.sandboxes.rocm_user_space.standin import (
    PROGRAMS,
    StandinDevice,
    compile_programs,
    show_machine,
)
from tests.services.executor.sandboxes.shell import GENEROUS, SandboxedShell


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    compile_programs(folder)
    return folder


@pytest.fixture
def home(shell: SandboxedShell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a machine, and a ROCm that is new enough for the command of a run."""
    hipcc = shell.outside / "rocm" / "bin" / "hipcc"
    hipcc.parent.mkdir(parents=True)
    hipcc.write_text("#!/bin/sh\necho 'HIP version: 6.4.0'\n")
    hipcc.chmod(0o755)
    monkeypatch.setenv("ROCM_PATH", str(shell.outside / "rocm"))
    monkeypatch.setattr(toolchain, "rocm", toolchain.rocm.__wrapped__)
    show_machine(shell.outside, monkeypatch)
    return shell.outside


def run_with(home: Path, devices: Sequence[Partition], programs: Path) -> Command:
    """The command of a run with these devices."""
    (home / "build").mkdir()
    return StandinDevice(devices, home, programs).run_command(home / "build", BuildKind.SOLUTION)


async def answer(shell: SandboxedShell, command: Command, what: str) -> Exit:
    """The result of `devices.c` in the runner's place."""
    ready = replace(command, arguments=(*command.arguments[:-1], str(PROGRAMS / "devices"), what), workdir=PROGRAMS)
    return await (await shell.sandbox.start(ready, StageLimits().runner)).wait()


def has_root_of_its_own(sandbox: Sandbox) -> bool:
    return Gap.SOCKETS not in sandbox.gaps


def needs_a_root_of_its_own(sandbox: Sandbox) -> None:
    if not has_root_of_its_own(sandbox):
        pytest.skip("a sandbox without a root of its own has the machine's /sys, which no test can write")


@pytest.mark.rocm
@pytest.mark.parametrize(
    ("shape", "places"),
    [("1 SPX", [0]), ("8 SPX", [5]), ("8 SPX", [2, 6]), ("8 SPX", [*range(8)]), ("2 CPX", [0]), ("2 CPX", [13])],
)
async def test_the_runtime_finds_the_leased_devices_and_no_others(
    shell: SandboxedShell, home: Path, programs: Path, shape: str, places: list[int]
) -> None:
    needs_a_root_of_its_own(shell.sandbox)
    gpus, mode = shape.split()
    devices = machine(home / "sys", int(gpus), cpx=mode == "CPX")
    chosen = [devices[place] for place in places]
    command = run_with(home, chosen, programs)
    agents = await answer(shell, command, "agents")
    found = [*["cpu CPU-XX"] * PROCESSORS, *(f"gfx942 {one.uuid}" for one in chosen)]
    assert agents.stdout.decode().splitlines() == found, agents
    hip = await answer(shell, command, "hip")
    assert hip.stdout.decode().splitlines() == [f"{192 // chosen[0].parts} GiB"] * len(chosen), hip


@pytest.mark.rocm
async def test_without_the_drivers_topology_the_runtime_does_not_start(
    shell: SandboxedShell, home: Path, programs: Path
) -> None:
    """This was the state before sandboxes had the topology: HSA_STATUS_ERROR_OUT_OF_RESOURCES."""
    needs_a_root_of_its_own(shell.sandbox)
    devices = machine(home / "sys", 1)
    command = run_with(home, devices, programs)
    command = replace(
        command, mounts=[mount for mount in command.mounts if SYS not in (mount.target, *mount.target.parents)]
    )
    ended = await answer(shell, command, "agents")
    assert ended.stdout.decode().splitlines() == ["hsa_init: 0x1008"], ended


async def test_a_sandbox_sees_the_leased_cards_folder_and_nothing_else_of_sys(
    shell: SandboxedShell, home: Path
) -> None:
    leased, other = machine(home / "sys", 2)
    command = StandinDevice([leased], home, home).bare_command(shell.folder, BuildKind.SOLUTION)
    seen = SYS if has_root_of_its_own(shell.sandbox) else home / "sys"
    script = f"cat {seen}/{TOPOLOGY}/nodes/2/gpu_id {seen}/{leased.folder}/secret; cat {seen}/{other.folder}/secret"
    if has_root_of_its_own(shell.sandbox):
        script += "; cd /sys && find . -maxdepth 4 | sort"
    ready = replace(command, arguments=["/bin/sh", "-c", script], workdir=Path("/"))
    ended = await (await shell.sandbox.start(ready, GENEROUS)).wait()
    said = ended.stdout.decode().splitlines()
    assert said[:2] == ["1128", "of this card"], ended
    if Gap.FILES not in shell.sandbox.gaps:
        assert "of this card" not in said[2:]
    if has_root_of_its_own(shell.sandbox):
        assert {path.split("/")[1] for path in said[3:]} == {"class", "dev", "devices"}
        assert [path for path in said if path.startswith(("./class/drm/", "./dev/char/"))] == [
            "./class/drm/renderD128",
            "./dev/char/226:128",
        ]


def test_a_machine_without_the_driver_has_nothing_to_mount(tmp_path: Path) -> None:
    assert gpu_mounts(["/dev/dri/renderD128"], tmp_path / "views", tmp_path) == []


def test_what_two_processes_make_at_once_is_made_once(tmp_path: Path) -> None:
    devices = [one.node for one in machine(tmp_path / "sys")]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: gpu_mounts(devices, tmp_path / "views", tmp_path / "sys"), range(32)))
    assert all(mounts == made[0] for mounts in made)
    assert [folder.name for folder in (tmp_path / "views").iterdir()] == [made[0][0].source.name]
