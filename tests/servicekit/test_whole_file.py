from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from servicekit.whole_file import write_whole


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_for_its_owner_alone_and_takes_the_place_of_the_last(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(b"a longer one from before")
    path.chmod(0o644)
    write_whole(path, b"new", durable=durable)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)
    assert [file.name for file in tmp_path.iterdir()] == ["kept.json"]


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, f"no room for {descriptor}")

    path = tmp_path / "kept.json"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
