from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from services.executor.devices.cpu.prepare import forget_unused, refresh

if TYPE_CHECKING:
    from pathlib import Path

MONTH_SECONDS = 30 * 86_400


def test_builds_of_old_sources_go_when_nobody_used_them_for_long(tmp_path: Path) -> None:
    for name in ("include-old", "device-old", "device-new", "device-ours", "libraries-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "device-old.lock").touch()
    long_ago = time.time() - MONTH_SECONDS
    for name in ("include-old", "device-old", "device-old.lock", "device-ours", "libraries-1"):
        os.utime(tmp_path / name, (long_ago, long_ago))

    forget_unused(tmp_path, {tmp_path / "device-ours"})

    assert {path.name for path in tmp_path.iterdir()} == {"device-new", "device-ours", "libraries-1"}


def test_using_a_build_keeps_it() -> None:
    prepared = refresh()
    before = time.time()
    os.utime(prepared.device, (before - 86_400, before - 86_400))
    refresh()
    assert prepared.device.stat().st_mtime >= before - 1
