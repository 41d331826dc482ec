from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from servicekit.storage import IMAGE_GB
from services.executor.devices.checkup import GB, memory_for_a_run, room_for_image
from services.vmpool.providers.dstack.config import DISK


def test_a_disk_with_room_for_an_image_is_reported_with_its_place(tmp_path: Path) -> None:
    found = room_for_image(tmp_path / "not" / "there", needed_gb=0)
    assert (found.ok, found.message.endswith(f" GB free for one at {tmp_path}")) == (True, True)


def test_a_disk_too_small_for_an_image_is_reported_with_the_remedy_and_hinders_no_run(tmp_path: Path) -> None:
    free_gb = shutil.disk_usage(tmp_path).free // GB
    found = room_for_image(tmp_path, needed_gb=free_gb + 50)
    assert (found.ok, found.hinders) == (False, False)
    assert f"takes up to {free_gb + 50} GB" in found.message
    assert f"free {free_gb + 50} GB there, or name a folder of a larger disk as `data-root`" in found.remedy


def test_rented_machines_have_room_for_an_image_and_as_much_again() -> None:
    assert float(DISK.removesuffix("GB..")) >= 2 * IMAGE_GB


@pytest.mark.parametrize(("gib", "is_enough"), [(64, True), (58, True), (57, False), (24, False)])
def test_a_host_with_less_memory_than_a_run_may_take_is_told_and_hinders_no_run(gib: int, *, is_enough: bool) -> None:
    found = memory_for_a_run(gib << 30)
    assert (found.ok, found.hinders and not found.ok) == (is_enough, False)
    assert f"{gib} GiB" in found.message
    assert ("64 GiB" in found.remedy) is not is_enough
