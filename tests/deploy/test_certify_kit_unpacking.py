"""Unpacking a kit into a folder: a kit with the real start code, and a kit of a tree that prints its name."""

from __future__ import annotations

import hashlib
import io
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

START = Path(__file__).parents[2] / "deploy" / "certify_kit" / "start.py"
MAIN = "tree/services/executor/core/__main__.py"
FILES = 3_000


def _kit(path: Path, name: str, **others: str) -> Path:
    packed = io.BytesIO()
    texts = {
        MAIN: f"print({name!r})",
        "packages/any/only.py": "",
        **{file.replace("__", "/"): text for file, text in others.items()},
    }
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for file, text in texts.items():
            entry = tarfile.TarInfo(file)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        for at in range(FILES):
            entry = tarfile.TarInfo(f"packages/any/same_{at}.py")
            entry.type, entry.linkname = tarfile.LNKTYPE, "packages/any/only.py"
            archive.addfile(entry)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(START, "__main__.py")
        archive.writestr("identity", hashlib.sha256(packed.getvalue()).hexdigest())
        archive.writestr("payload.tar.xz", packed.getvalue())
    return path


def _run(kit: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(kit)]
    return subprocess.run(command, cwd=kit.parent, capture_output=True, text=True, timeout=120, check=False)


def test_an_unpacking_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    kit = _kit(tmp_path / "kit.pyz", "first")
    running = subprocess.Popen([sys.executable, "-I", str(kit)], cwd=tmp_path, stderr=subprocess.PIPE)
    assert running.stderr is not None
    assert b"unpacking" in running.stderr.readline()
    while running.poll() is None and not list(tmp_path.glob("wavepool-certify/*/packages/any/same_9*")):
        pass
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert not list(tmp_path.glob("wavepool-certify/packages"))
    done = _run(kit)
    assert (done.returncode, done.stdout) == (0, "first\n"), done.stderr
    found = {path.name for path in (tmp_path / "wavepool-certify").iterdir()}
    version = f"python{sys.version_info.major}{sys.version_info.minor}"
    assert found == {"packages", "tree", "unpacked", version}
    assert len(list((tmp_path / "wavepool-certify" / "packages" / "any").iterdir())) == FILES + 1
    assert "unpacking" not in _run(kit).stderr


def test_a_newer_kit_replaces_the_tree_and_keeps_results(tmp_path: Path) -> None:
    assert _run(_kit(tmp_path / "kit.pyz", "old", tree__gone="old")).stdout == "old\n"
    result = tmp_path / "wavepool-certify" / "certify-rocm" / "result.json"
    result.parent.mkdir()
    result.write_text("{}")
    done = _run(_kit(tmp_path / "kit.pyz", "new"))
    assert done.stdout == "new\n", done.stderr
    assert not (tmp_path / "wavepool-certify" / "tree" / "gone").exists()
    assert result.read_text() == "{}"


@pytest.mark.parametrize("name", ["tree", "packages"])
def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path, name: str) -> None:
    theirs = tmp_path / "wavepool-certify" / name / "work.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    done = _run(_kit(tmp_path / "kit.pyz", "first"))
    assert done.returncode == 2
    assert f"has a `{name}` that is of no kit: name another folder with --unpack" in done.stderr
    assert theirs.read_text() == "mine"


def test_a_file_that_was_copied_in_part_is_reported_in_one_line(tmp_path: Path) -> None:
    kit = _kit(tmp_path / "kit.pyz", "first")
    with zipfile.ZipFile(kit) as archive:
        payload = archive.read("payload.tar.xz")
        identity = archive.read("identity")
    with zipfile.ZipFile(kit, "w") as archive:
        archive.write(START, "__main__.py")
        archive.writestr("identity", identity)
        archive.writestr("payload.tar.xz", payload[: len(payload) // 2])
    done = _run(kit)
    assert done.returncode == 3
    assert "cannot be unpacked to" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("wavepool-certify/[!u]*"))
