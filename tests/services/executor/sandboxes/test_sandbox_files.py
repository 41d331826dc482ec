from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from services.executor.sandboxes.sandbox_files import LeftFileError, read_left, read_left_head, write_source

MOST_BYTES = 64


@pytest.fixture(params=[read_left, read_left_head])
def read(request: pytest.FixtureRequest) -> object:
    return request.param


def test_what_a_sandbox_left_is_read_to_its_limit(tmp_path: Path, read: object) -> None:
    content = os.urandom(MOST_BYTES)
    (tmp_path / "left").write_bytes(content)
    assert read(tmp_path / "left", MOST_BYTES) == content


def test_a_longer_file_is_refused_as_a_whole_and_has_a_head(tmp_path: Path) -> None:
    (tmp_path / "left").write_bytes(b"h" * MOST_BYTES + b"t")
    with pytest.raises(LeftFileError, match=f"left is no regular file of at most {MOST_BYTES} bytes"):
        read_left(tmp_path / "left", MOST_BYTES)
    assert read_left_head(tmp_path / "left", MOST_BYTES) == b"h" * MOST_BYTES


def test_a_missing_file_is_reported(tmp_path: Path, read: object) -> None:
    with pytest.raises(LeftFileError, match="left: No such file"):
        read(tmp_path / "left", MOST_BYTES)


def test_no_link_is_followed(tmp_path: Path, read: object) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "left").symlink_to(tmp_path / "secret")
    with pytest.raises(LeftFileError, match=r"left: .*symbolic links"):
        read(tmp_path / "left", MOST_BYTES)


def test_a_pipe_that_has_no_writer_is_not_waited_for(tmp_path: Path, read: object) -> None:
    os.mkfifo(tmp_path / "left")
    with pytest.raises(LeftFileError, match="left is no regular file"):
        read(tmp_path / "left", MOST_BYTES)


def test_a_folder_and_a_socket_are_no_files(tmp_path: Path, read: object, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "left").mkdir()
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        for name in ("left", "socket"):
            with pytest.raises(LeftFileError, match=name):
                read(tmp_path / name, MOST_BYTES)


def test_no_descriptor_is_left_open(tmp_path: Path, read: object) -> None:
    os.mkfifo(tmp_path / "left")
    (tmp_path / "long").write_bytes(b"h" * 2 * MOST_BYTES)
    before = psutil.Process().num_fds()
    for name in ("left", "long", "missing"):
        with suppress(LeftFileError):
            read(tmp_path / name, MOST_BYTES)
    assert psutil.Process().num_fds() == before


def test_a_source_is_readable_for_all_and_never_refused(tmp_path: Path) -> None:
    write_source(tmp_path / "solution.hip", "int x; // \ud800 \u00e4")
    assert (tmp_path / "solution.hip").read_text("utf-8") == "int x; // ? \u00e4"
    assert stat.S_IMODE((tmp_path / "solution.hip").stat().st_mode) == 0o644
