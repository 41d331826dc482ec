from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.prepare import Part, build_once, build_parts, forget_unused, prepare, refresh

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


def test_rocm_s_libraries_are_taken_if_all_of_them_were_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path / "some"))
    for name in toolchain.ROCM_LIBRARIES[1:]:
        (toolchain.fetched_rocm() / name).mkdir(parents=True)
    without = toolchain.prepared()
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path / "all"))
    for name in toolchain.ROCM_LIBRARIES:
        (toolchain.fetched_rocm() / name).mkdir(parents=True)

    assert "are not on this machine" in without.why_no_rocm
    assert toolchain.prepared().why_no_rocm == ""
    assert len(toolchain.prepared().parts) == len(without.parts) + 2


def test_a_release_of_rocm_s_libraries_that_does_not_compile_leaves_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in toolchain.ROCM_LIBRARIES:
        (tmp_path / "fetched" / name).mkdir(parents=True)
    prepared = replace(toolchain.prepared(), rocm_headers=tmp_path / "headers", rocm_preludes=tmp_path / "preludes")
    monkeypatch.setattr(toolchain, "fetched_rocm", lambda: tmp_path / "fetched")
    monkeypatch.setattr(toolchain, "prepared", lambda: prepared)

    assert prepare().complete

    assert "does not compile for the cpu device" in prepared.why_no_rocm
    assert "'rocprim/rocprim.hpp' file not found" in (tmp_path / "preludes" / toolchain.REFUSED).read_text()


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


class Terminal(io.StringIO):
    """Says when a text was written to it."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self._awaited = awaited
        self.has_it = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._awaited in self.getvalue():
            self.has_it.set()
        return written


def test_each_missing_part_has_lines_with_its_number_and_time(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    parts = [Part(name, tmp_path / name, lambda new: (new / "file").touch()) for name in ("there", "first", "second")]
    shown = io.StringIO()
    build_parts("compiler", parts, shown)
    assert re.sub(r"\d+ s", "0 s", shown.getvalue()).splitlines() == [
        "compiler [1/2] first: begun, 0 s",
        "compiler [1/2] first: done, 0 s",
        "compiler [2/2] second: begun, 0 s",
        "compiler [2/2] second: done, 0 s",
    ]
    build_parts("compiler", parts, shown := io.StringIO())
    assert not shown.getvalue(), "a part that is there was shown"


def test_a_terminal_has_one_line_that_counts_the_compiled_files(tmp_path: Path) -> None:
    shown = Terminal(awaited="1 files compiled")

    def build(new: Path) -> None:
        (new.parent / "work").mkdir()
        (new.parent / "work" / "printf.o").touch()
        assert shown.has_it.wait(30), shown.getvalue()

    build_parts("compiler", [Part("libraries", tmp_path / "libraries", build)], shown)
    first, *_, last = shown.getvalue().split("\r\033[K")[1:]
    assert first.startswith("compiler [1/1] libraries: begun")
    assert last.startswith("compiler [1/1] libraries: done")
    assert shown.getvalue().count("\n") == 1


def test_a_part_that_fails_is_shown_so(tmp_path: Path) -> None:
    def build(new: Path) -> None:
        raise toolchain.ToolchainError(f"no room for {new.name}")

    shown = io.StringIO()
    with pytest.raises(toolchain.ToolchainError):
        build_parts("compiler", [Part("libraries", tmp_path / "libraries", build)], shown)
    assert "libraries: failed" in shown.getvalue()
