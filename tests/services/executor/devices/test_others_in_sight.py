"""If ROCm's runtime would fail in every run, the executor says so at its start."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.others_in_sight import refusal
from services.executor.devices.rocm import rocm_device, sysfs
from services.executor.devices.rocm.gpu import Gpu
from services.executor.devices.rocm.rocm_device import RocmDevice
from services.executor.sandboxes.gaps import Gap, shows_all_nodes


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """The first GPU of a folder that replaces /dev/dri."""
    monkeypatch.setattr(rocm_device, "render_nodes_beside", lambda own: sysfs.render_nodes_beside(own, tmp_path))
    (tmp_path / "card0").touch()
    node = tmp_path / "renderD128"
    node.touch()
    return Gpu("AMD Instinct MI300X", "gfx942", 196_608, 304, str(node))


def test_one_gpu_is_found_in_every_sandbox(gpu: Gpu) -> None:
    assert refusal(RocmDevice(gpu), shows_all_nodes=True) == ""


def test_a_second_one_is_named_with_what_to_do_unless_the_sandbox_hides_it(gpu: Gpu, tmp_path: Path) -> None:
    (tmp_path / "renderD136").touch()
    assert refusal(RocmDevice(gpu), shows_all_nodes=False) == ""
    why = refusal(RocmDevice(gpu), shows_all_nodes=True)
    assert f"a run sees {tmp_path}/renderD136 and may not open" in why
    assert "EXECUTOR_SANDBOX=required" in why


def test_no_other_device_minds() -> None:
    assert refusal(CpuDevice(), shows_all_nodes=True) == ""


@pytest.mark.parametrize(
    ("gaps", "shown"),
    [((), False), ((Gap.MEMORY,), False), ((Gap.SOCKETS, Gap.PROCESS_LIST), True), ((Gap.FILES, Gap.SOCKETS), False)],
)
def test_sandboxes_without_a_root_of_their_own_see_all_nodes(gaps: tuple[Gap, ...], shown: bool) -> None:
    assert shows_all_nodes(gaps) is shown
