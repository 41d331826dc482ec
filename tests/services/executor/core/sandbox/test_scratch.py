from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from services.executor.core.sandbox.scratch import ScratchFolder, sweep

_HOLDER = """
import sys, signal
from pathlib import Path
from services.executor.core.sandbox.scratch import ScratchFolder
folder = ScratchFolder(Path(sys.argv[1]))
print(folder.path, flush=True)
signal.pause()
"""


def test_it_is_gone_after_its_context_with_all_that_is_in_it(tmp_path: Path) -> None:
    with ScratchFolder(tmp_path) as path:
        (path / "deep").mkdir()
        (path / "deep" / "file").write_text("x")
        assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_what_is_in_use_and_takes_what_a_killed_process_left(tmp_path: Path) -> None:
    (tmp_path / "somebody-elses").mkdir()
    with (
        ScratchFolder(tmp_path) as mine,
        subprocess.Popen([sys.executable, "-c", _HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder,
    ):
        assert holder.stdout is not None
        theirs = holder.stdout.readline().decode().strip()
        sweep(tmp_path)
        assert {str(path) for path in tmp_path.iterdir()} == {str(mine), theirs, str(tmp_path / "somebody-elses")}
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        sweep(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {mine.name, "somebody-elses"}


def test_a_folder_that_a_sweep_takes_before_it_is_locked_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, []

    def make_and_lose_the_first(**arguments: object) -> str:
        made.append(make(**arguments))
        if len(made) == 1:
            sweep(tmp_path)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose_the_first)
    with ScratchFolder(tmp_path) as mine:
        assert mine.is_dir()
    assert len(made) == 2


def test_folders_that_never_stay_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = tempfile.mkdtemp

    def make_and_lose(**arguments: object) -> str:
        path = make(**arguments)
        shutil.rmtree(path)
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    with pytest.raises(OSError, match="TMPDIR"):
        ScratchFolder(tmp_path)
