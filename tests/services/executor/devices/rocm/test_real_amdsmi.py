"""AMD's real management library, over a machine described in files and the stand-in for its driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.executor.devices.rocm.sysfs import SYS
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Command, Mount
from tests.needs import REPOSITORY, ROCM
from tests.services.executor.sandboxes.rocm_user_space.machine import machine
from tests.services.executor.sandboxes.rocm_user_space.standin import PROGRAMS, compile_programs
from tests.services.executor.sandboxes.shell import GENEROUS


@pytest.mark.rocm
@pytest.mark.bubblewrap
@pytest.mark.parametrize(("gpus", "cpx"), [(1, False), (8, False), (2, True)])
async def test_amds_own_library_tells_of_a_machine_that_is_written_down(tmp_path: Path, gpus: int, cpx: bool) -> None:
    """Our code queries ROCm's Python package and library."""
    home = tmp_path / "machine"
    devices = machine(home / "sys", gpus, cpx=cpx)
    compile_programs(tmp_path)
    libraries = ROCM / "lib" / "x86_64-linux-gnu"
    loader = (libraries / "ld-linux-x86-64.so.2", "--library-path", libraries, "--preload", PROGRAMS / "kfd_standin.so")
    asking = (ROCM / "bin" / "python3", "-B", "-m", "tests.services.executor.devices.rocm.ask_amdsmi")
    files = [Path("/dev/kfd"), *(Path(one.node) for one in devices)]
    for file in files:
        (home / file.name).touch()
        (home / file.name).chmod(0o666)
    mounts = [Mount(home / file.name, file) for file in files]
    mounts += [Mount(home / "sys", SYS), Mount(tmp_path, PROGRAMS), Mount(ROCM, ROCM)]
    mounts += [Mount(REPOSITORY / name, REPOSITORY / name) for name in ("hipcpu", "services", "problems", "tests")]
    environment = {"ROCM_PATH": str(ROCM), "PYTHONHOME": str(ROCM), "PYTHONPATH": str(REPOSITORY)}
    command = Command(list(map(str, (*loader, *asking))), PROGRAMS, mounts, environment)
    ended = await (await (await choose_sandbox("bubblewrap")).start(command, GENEROUS)).wait()

    assert ended.stdout, ended
    found = json.loads(ended.stdout.decode().splitlines()[-1])

    assert found["library"] == str(ROCM / "share/amd_smi/amdsmi/__init__.py")
    mode, memory = ("CPX", "NPS4") if cpx else ("SPX", "NPS1")
    assert [gpu["render_node"] for gpu in found["gpus"]] == [one.node for one in devices]
    assert {gpu["uuid"] for gpu in found["gpus"]} == {one.uuid for one in devices}
    assert {(gpu["architecture"], gpu["compute_partition"], gpu["memory_partition"]) for gpu in found["gpus"]} == {
        ("gfx942", mode, memory)
    }
    assert {reading["temperature_celsius"] for reading in found["readings"]} == {47}
    assert {version["driver"] for version in found["versions"]} == {"6.12.12"}
    assert [gpu["device_count"] for gpu in found["facts"]["gpus"]] == [8 if cpx else 1] * gpus
    assert {gpu["memory_mib"] * gpu["device_count"] for gpu in found["facts"]["gpus"]} == {192 << 10}
    assert [one["field"] for one in found["facts"]["unread"]] == ["rocm_version"]
