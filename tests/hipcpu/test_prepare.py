from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from hipcpu import toolchain
from hipcpu.prepare import build_once, forget_unused, refresh

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

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


def test_whoever_names_another_folder_has_their_parts_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = toolchain.prepared()
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path))
    assert toolchain.prepared().device == tmp_path / "cpu" / usual.device.name
    monkeypatch.undo()
    assert toolchain.prepared() == usual


def test_using_a_build_keeps_it() -> None:
    prepared = refresh()
    before = time.time()
    os.utime(prepared.device, (before - 86_400, before - 86_400))
    refresh()
    assert prepared.device.stat().st_mtime >= before - 1


def test_what_a_killed_build_left_goes_when_the_next_one_begins(tmp_path: Path) -> None:
    killed = "lambda new: ((new / 'half').touch(), os._exit(9))"
    program = f"import os; from pathlib import Path; from {build_once.__module__} import build_once; "
    program += f"build_once(Path({str(tmp_path / 'libraries-1')!r}), {killed})"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert [path for path in tmp_path.iterdir() if path.is_dir()], "the killed build left nothing to test with"

    build_once(tmp_path / "libraries-1", lambda new: (new / "whole").touch())

    assert {path.name for path in tmp_path.iterdir()} == {"libraries-1", "libraries-1.lock"}
    assert (tmp_path / "libraries-1" / "whole").exists()
