"""Each fault is real: a missing file, a node that may not be opened, a hipcc that is too old."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.checkup import RocmCheckup, compiler, management_library, no_device
from services.executor.devices.rocm.rocm_device import RocmDevice
from tests.services.executor.sandboxes.rocm_user_space.machine import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

needs_no_gpu = pytest.mark.skipif(Path("/dev/kfd").exists(), reason="this machine has the driver")


@pytest.fixture
def checkup(tmp_path: Path) -> RocmCheckup:
    """A machine with two MI300X."""
    dev, sys_folder = tmp_path / "dev", tmp_path / "sys"
    (dev / "dri").mkdir(parents=True)
    (dev / "kfd").touch()
    for device in machine(sys_folder, gpus=2):
        (dev / device.node.removeprefix("/dev/")).touch()
    return RocmCheckup(dev, sys_folder)


@pytest.fixture(autouse=True)
def fresh_toolchain() -> Iterator[None]:
    toolchain.rocm.cache_clear()
    yield
    toolchain.rocm.cache_clear()


def test_a_whole_machine_is_well(checkup: RocmCheckup, tmp_path: Path) -> None:
    found = [checkup.nodes(), checkup.permission(), checkup.topology(), checkup.driver()]
    assert [each.ok for each in found] == [True] * 4
    assert found[0].message.endswith(f"{tmp_path}/dev/dri/renderD128, {tmp_path}/dev/dri/renderD136")
    assert found[2].message == "2 GPUs or partitions: gfx942"


def test_a_missing_driver_node_is_no_device_with_both_remedies(checkup: RocmCheckup, tmp_path: Path) -> None:
    (tmp_path / "dev" / "kfd").unlink()
    found = checkup.nodes()
    assert not found.ok
    assert found.message.startswith(f"no device: {tmp_path}/dev/kfd is missing")
    assert "modprobe amdgpu" in found.message
    assert "--device /dev/kfd --device /dev/dri" in found.message


def test_missing_render_nodes_are_reported(checkup: RocmCheckup, tmp_path: Path) -> None:
    for node in (tmp_path / "dev" / "dri").iterdir():
        node.unlink()
    found = checkup.nodes()
    assert (found.ok, "--device /dev/dri" in found.remedy) == (False, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may not open a node of root's")
def test_nodes_that_the_user_may_not_open_are_reported_with_their_groups(checkup: RocmCheckup, tmp_path: Path) -> None:
    video = 44
    for node in (tmp_path / "dev" / "kfd", tmp_path / "dev" / "dri" / "renderD128"):
        os.chown(node, 0, video)
        node.chmod(0o660)
    (tmp_path / "dev" / "dri" / "renderD136").chmod(0o666)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    code = (
        "import os, sys; from pathlib import Path; from services.executor.devices.rocm.checkup import RocmCheckup;"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        f"found = RocmCheckup(Path({str(tmp_path / 'dev')!r}), Path('/nowhere')).permission();"
        "print(found.ok, found.message, found.remedy, sep='|')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    ok, message, remedy = run.stdout.strip().split("|")
    assert ok == "False"
    assert message.endswith(f"may not open {tmp_path}/dev/kfd, {tmp_path}/dev/dri/renderD128")
    assert "usermod -aG video USER" in remedy


def test_a_topology_without_gpus_is_reported(checkup: RocmCheckup, tmp_path: Path) -> None:
    assert not RocmCheckup(tmp_path / "dev", tmp_path / "nowhere").topology().ok
    cpu_only = tmp_path / "cpu"
    machine(cpu_only, gpus=0)
    assert "shows no GPU" in RocmCheckup(tmp_path / "dev", cpu_only).topology().message


def test_a_gpu_whose_node_the_container_was_not_given_is_reported(checkup: RocmCheckup, tmp_path: Path) -> None:
    (tmp_path / "dev" / "dri" / "renderD136").unlink()
    found = checkup.topology()
    assert (found.ok, "there is no renderD136" in found.message, "ROCM_INDEX" in found.remedy) == (False, True, True)


def test_a_gpu_that_is_no_mi300x_is_reported(checkup: RocmCheckup, tmp_path: Path) -> None:
    for properties in (tmp_path / "sys").rglob("properties"):
        text = properties.read_text()
        properties.write_text(text.replace("gfx_target_version 90402", "gfx_target_version 90010"))
    found = checkup.topology()
    assert (found.ok, found.message) == (False, "2 GPUs or partitions: gfx90a")


def test_a_driver_that_is_missing_or_too_old_is_reported_and_one_without_a_version_is_not(
    checkup: RocmCheckup, tmp_path: Path
) -> None:
    version = tmp_path / "sys" / "module" / "amdgpu" / "version"
    version.write_text("6.2.4\n")
    assert checkup.driver().message == "amdgpu 6.2.4 is too old"
    version.unlink()
    assert checkup.driver().ok
    shutil.rmtree(version.parent)
    assert "is not loaded" in checkup.driver().message


def _hipcc(folder: Path, says: str) -> None:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "hipcc"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("says", "ok", "reported"),
    [
        ("HIP version: 6.4.43482", True, "ROCm 6.4"),
        ("HIP version: 6.1.40091", False, "ROCm 6.1 is too old; install ROCm 6.2 or newer"),
        ("clang version 14", False, "does not say its version"),
    ],
)
def test_the_compiler_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, ok: bool, reported: str
) -> None:
    _hipcc(tmp_path / "rocm", says)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    found = compiler()
    assert (found.ok, reported in found.message) == (ok, True)


def test_a_missing_compiler_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    found = compiler()
    assert (found.ok, "no hipcc at" in found.message) == (False, True)
    assert ("on a machine: " in found.remedy, "in a container: " in found.remedy) == (True, True)


@needs_no_gpu
def test_here_the_library_and_the_device_say_that_there_is_no_gpu() -> None:
    assert not management_library().ok
    assert no_device().startswith("no device: /dev/kfd is missing")
    with pytest.raises(ToolchainError, match=r"^no device: /dev/kfd is missing; load the driver"):
        RocmDevice().describe()


@needs_no_gpu
@pytest.mark.parametrize(
    ("device", "first"),
    [("rocm", "no device: /dev/kfd is missing"), ("nvidia", "no device: /dev/nvidiactl is missing")],
)
def test_the_program_prints_its_findings(device: str, first: str) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has NVIDIA's driver")
    program = [sys.executable, "-m", "services.executor.devices.checkup", device]
    run = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    findings = json.loads(run.stdout)
    assert (run.returncode, findings[0]["ok"], findings[0]["message"].startswith(first)) == (0, False, True)


def test_another_device_is_refused_by_the_program() -> None:
    program = [sys.executable, "-m", "services.executor.devices.checkup", "abacus"]
    run = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, "choose rocm or nvidia" in run.stderr) == (2, True)
