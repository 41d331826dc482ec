"""What a session with an image needs of the machine's own programs."""

from __future__ import annotations

import secrets
import subprocess
from pathlib import Path

import pytest

from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sessions.access.session_files import SessionFiles
from services.executor.sessions.root.image_root import Tools, programs_of_sshd


def program(folder: Path, script: str) -> str:
    """The path of a new program in the folder, which stands for an sshd of another release than this machine's."""
    path = folder / "sshd"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_what_sshd_starts_by_itself_is_started_with_the_loader_that_we_name(tmp_path: Path) -> None:
    loader = Path(f"/tmp/{secrets.token_hex(4)}.so")  # noqa: S108 - a path has to be as short as the usual one
    sshd = program(tmp_path, '[ "$*" = "-G -f /dev/null" ] && printf "port 22\\nsshdsessionpath /usr/bin/cat\\n"')
    files = SessionFiles(tmp_path / "session")
    files.write([], {}, 1000, "wp-1")
    copies = programs_of_sshd(sshd, str(loader))
    files.write_programs_of_sshd(copies, Tools().loader)
    try:
        loader.symlink_to(files.folder / "ld.so")
        maps = subprocess.run(
            [files.folder / "cat", "/proc/self/maps"], capture_output=True, text=True, check=True, env={}
        ).stdout
    finally:
        loader.unlink()
    assert str(files.folder / "ld.so") in maps
    assert str(Path("/lib64/ld-linux-x86-64.so.2").resolve()) not in maps
    config = (files.folder / "sshd_config").read_text().splitlines()
    assert "sshdsessionpath /session/cat" in config
    assert "AllowUsers dev" in config


def test_an_sshd_that_starts_nothing_by_itself_needs_no_copies(tmp_path: Path) -> None:
    sshd = program(tmp_path, "echo 'unknown option -- G' >&2; exit 1")
    assert not programs_of_sshd(sshd, "/session/ld.so")


def test_a_program_of_sshd_without_the_usual_loader_is_refused(tmp_path: Path) -> None:
    sshd = program(tmp_path, "echo sshdsessionpath $0")
    with pytest.raises(SandboxError, match="do not name the loader"):
        programs_of_sshd(sshd, "/session/ld.so")
