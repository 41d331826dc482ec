from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from services.executor.core.compile.cache import BuildFacts, CachedBuild, CompileCache
from services.executor.core.compile.code_objects import CodeObject

FACTS = BuildFacts(("malloc",), ("libc.so.6",), (CodeObject(".text", "0" * 64, 5, is_device=False),))
BUILD = CachedBuild.of(b"\x7fELF" * 1000, "a warning", FACTS, {"recorder": b"another file"})


def test_a_published_build_is_found_by_every_process_that_shares_the_folder(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 1 << 20)
    assert cache.get("k") is None
    cache.put("k", BUILD)
    assert CompileCache(tmp_path, 1 << 20).get("k") == BUILD


def test_the_first_to_publish_wins_and_nothing_is_left_in_staging(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 1 << 20)
    cache.put("k", BUILD)
    cache.put("k", CachedBuild.of(b"other", ""))
    assert cache.get("k") == BUILD
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_damaged_entry_is_a_miss_and_is_removed(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 1 << 20)
    cache.put("k", BUILD)
    (tmp_path / "entries" / "k" / "executable").write_bytes(b"\x7fELF but not the same")
    assert cache.get("k") is None
    cache.put("k", BUILD)
    assert cache.get("k") == BUILD


@pytest.mark.parametrize("facts", ["{", "{}", '{"parts": {}, "crc32": 0, "code_objects": [{}]}'])
def test_an_entry_without_its_facts_is_a_miss_and_makes_way_for_a_new_one(tmp_path: Path, facts: str) -> None:
    cache = CompileCache(tmp_path, 1 << 20)
    cache.put("k", BUILD)
    (tmp_path / "entries" / "k" / "facts.json").write_text(facts)
    assert cache.get("k") is None
    cache.put("k", BUILD)
    assert cache.get("k") == BUILD


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 3 * 5000)
    for at, key in enumerate("abc"):
        cache.put(key, BUILD)
        os.utime(tmp_path / "entries" / key, (at, at))
    assert cache.get("a") == BUILD
    cache.put("d", BUILD)
    assert {key for key in "abcd" if cache.get(key)} == {"a", "c", "d"}


def test_what_a_killed_process_left_in_staging_is_cleared_in_time(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 1 << 20)
    for name in ("old", "new"):
        (tmp_path / "staging" / name).mkdir()
    os.utime(tmp_path / "staging" / "old", (0, 0))
    cache.put("k", BUILD)
    assert [folder.name for folder in (tmp_path / "staging").iterdir()] == ["new"]


def _work(folder: Path) -> int:
    """Publishes and reads the same keys as all other workers, with room for half of them; counts wrong reads."""
    cache = CompileCache(folder, 4 * 5000)
    wrong = 0
    for at in range(200):
        key = f"k{at % 8}"
        build = CachedBuild.of(BUILD.executable + key.encode(), key)
        cache.put(key, build)
        wrong += cache.get(key) not in {None, build}
    return wrong


def test_processes_that_publish_read_and_evict_at_once_never_see_half_an_entry(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert sum(pool.map(_work, [tmp_path] * 3)) == 0
    assert len(list((tmp_path / "entries").iterdir())) <= 8
    assert list((tmp_path / "staging").iterdir()) == []
