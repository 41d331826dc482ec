"""The fence's memory outlives the process, and is never taken for another machine's."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.executor.leases.fence_file import FenceFile

SEEN = (7, 7, 0, 3)


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "data" / "fence.json"
    FenceFile(path, "token").write(SEEN)

    assert FenceFile(path, "token").read() == SEEN
    assert "token" not in path.read_text()


def test_nothing_is_left_of_what_was_written_before(tmp_path: Path) -> None:
    path = tmp_path / "fence.json"
    for seen in ((2**63,) * 300, SEEN, (8, 8, 0, 3)):
        FenceFile(path, "token").write(seen)
        assert FenceFile(path, "token").read() == seen


def test_another_machines_tokens_count_something_else(tmp_path: Path) -> None:
    path = tmp_path / "fence.json"
    FenceFile(path, "token of a machine before").write(SEEN)

    assert FenceFile(path, "token").read() == ()


def test_without_a_machine_nothing_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "fence.json"
    FenceFile(path, "").write(SEEN)

    assert not path.exists()
    assert FenceFile(path, "").read() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"machine": "x"}', '{"machine": 1, "newest": "abc"}'])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fence.json"
    path.write_text(text)

    assert FenceFile(path, "token").read() == ()


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    kept = FenceFile(tmp_path / "file" / "fence.json", "token")

    kept.write(SEEN)

    assert kept.read() == ()
