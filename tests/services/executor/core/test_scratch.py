from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from services.executor.core.scratch import ScratchFolder, sweep

if TYPE_CHECKING:
    from pathlib import Path

_HOLDER = """
import sys, signal
from pathlib import Path
from services.executor.core.scratch import ScratchFolder
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
