"""Folders filled by untrusted programs are read and removed, whatever is in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.executor.sandboxes.limits.file_tree import folder_exceeds, remove_tree

MIB = 1 << 20
# Deeper than Python may recurse.
LEVELS = 1200


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def make_deep(folder: Path) -> None:
    parent = os.open(folder, os.O_RDONLY)
    for _ in range(LEVELS):
        os.mkdir("d", dir_fd=parent)
        inner = os.open("d", os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=parent))
    os.close(parent)


def test_a_tree_of_all_kinds_of_files_is_removed_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("ours")
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("theirs")
    (tree / "a" / "link").symlink_to(outside)
    (tree / "link").symlink_to(outside / "kept")
    os.mkfifo(tree / "a" / "fifo")
    os.link(outside / "kept", tree / "a" / "hard")

    remove_tree(tree)

    assert not tree.exists()
    assert (outside / "kept").read_text() == "ours"


def test_a_tree_deeper_than_functions_may_recurse_is_removed(tree: Path) -> None:
    make_deep(tree)

    remove_tree(tree)

    assert not tree.exists()


def test_closed_folders_are_removed_too(tree: Path) -> None:
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").touch()
    for folder in (tree / "a" / "b", tree / "a", tree):
        folder.chmod(0)

    remove_tree(tree)

    assert not tree.exists()


def test_removing_what_is_not_there_is_no_error(tree: Path) -> None:
    remove_tree(tree / "nothing")


def test_a_folder_exceeds_by_its_bytes_at_any_level(tree: Path) -> None:
    (tree / "a").mkdir()
    (tree / "a" / "big").write_bytes(bytes(2 * MIB))

    assert folder_exceeds(tree, MIB)
    assert not folder_exceeds(tree, 4 * MIB)


def test_a_folder_exceeds_by_its_depth(tree: Path) -> None:
    make_deep(tree)

    assert folder_exceeds(tree, MIB)
    remove_tree(tree)


def test_links_do_not_count_for_what_they_lead_to(tree: Path) -> None:
    (tree / "loop").symlink_to(tree)
    (tree / "system").symlink_to("/usr")

    assert not folder_exceeds(tree, MIB)


def test_a_folder_that_is_gone_exceeds_nothing(tree: Path) -> None:
    assert not folder_exceeds(tree / "nothing", MIB)
