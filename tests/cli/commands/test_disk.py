"""`wavepool disk`, and `--disk` of `wavepool reserve`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import QUEUED, QUOTE

DISKS = "/api/v1/disks"
TIME = "2027-01-15T08:10:00Z"
SNAPSHOT = {
    "id": "s-1",
    "time": TIME,
    "size_bytes": 1536,
    "files": 2,
    "reason": "end",
    "seconds": 2.0,
}
DISK: dict[str, Any] = {
    "id": "dsk_1",
    "name": "work",
    "owner": "ada",
    "state": "in_use",
    "size_limit_bytes": 1 << 30,
    "size_bytes": 1536,
    "safe_time": TIME,
    "last_used_time": None,
    "reservation_id": "res_1",
    "remove_time": None,
    "snapshots": [SNAPSHOT],
}
FREE = {**DISK, "state": "available", "reservation_id": None}


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    monkeypatch.setenv("WAVEPOOL_TOKEN", "t")
    monkeypatch.setenv("TZ", "UTC")
    gateway.on("GET", DISKS, Answer({"disks": [DISK]}))


def test_disks_are_listed_with_what_is_safe(gateway: ScriptedGateway) -> None:
    run = wavepool("disk")
    assert run.status == 0
    for word in ("work", "in use", "1.5 KiB", "1.0 GiB", "res_1"):
        assert word in run.out
    assert wavepool("disk", "list", "--user", "all", "--deleted", "--json").json == [DISK]
    assert gateway.asked("GET", DISKS)[-1].path == f"{DISKS}?user_id=all&deleted=true"
    gateway.only("GET", DISKS, Answer({"disks": []}))
    assert "wavepool disk create NAME" in wavepool("disk").err


@pytest.mark.parametrize(("size", "gib"), [("50g", 50), ("50", 50), ("512m", 0.5), ("1TB", 1024)])
def test_a_disk_is_made_with_its_size(gateway: ScriptedGateway, size: str, gib: float) -> None:
    gateway.on("POST", DISKS, Answer(FREE, 201))
    run = wavepool("disk", "create", "work", "--size", size)
    assert (run.status, "wavepool reserve --disk work" in run.err) == (0, True)
    assert gateway.asked("POST", DISKS)[-1].body == {"name": "work", "size_gib": gib}


@pytest.mark.parametrize("size", ["large", "0", "-1g", "5k"])
def test_a_size_that_is_none_is_refused_with_the_form(gateway: ScriptedGateway, size: str) -> None:
    run = wavepool("disk", "create", "work", f"--size={size}")
    assert (run.status, "give a size such as 50g" in run.err) == (2, True)
    assert not gateway.asked("POST", DISKS)


def test_a_script_deletes_a_disk_only_if_it_says_yes(gateway: ScriptedGateway) -> None:
    deleted = {**FREE, "state": "deleted", "remove_time": "2027-02-15T08:10:00Z"}
    gateway.on("DELETE", f"{DISKS}/work", Answer(deleted))
    refused = wavepool("disk", "delete", "work")
    assert (refused.status, "give --yes" in refused.err) == (2, True)
    assert not gateway.asked("DELETE", f"{DISKS}/work")
    run = wavepool("disk", "delete", "work", "--yes")
    assert (run.status, run.err) == (0, "work is deleted, removed 2027-02-15 08:10:00 UTC\n")


def test_a_disk_is_cloned_and_renamed(gateway: ScriptedGateway) -> None:
    gateway.on("POST", f"{DISKS}/work/clone", Answer({**FREE, "name": "copy"}, 201))
    gateway.on("PATCH", f"{DISKS}/work", Answer({**FREE, "name": "other"}))
    assert wavepool("disk", "clone", "work", "copy").err == "copy is work as of 2027-01-15 08:10:00 UTC\n"
    assert wavepool("disk", "rename", "work", "other").err == "work is now called other\n"
    assert gateway.asked("POST", f"{DISKS}/work/clone")[-1].body == {"name": "copy"}
    assert gateway.asked("PATCH", f"{DISKS}/work")[-1].body == {"name": "other"}


def test_the_files_of_a_disk_are_listed_and_it_is_said_if_there_are_more(gateway: ScriptedGateway) -> None:
    files = [{"path": "src/", "size_bytes": 0, "time": None}, {"path": "src/a", "size_bytes": 6, "time": None}]
    gateway.on("GET", f"{DISKS}/work/content", Answer({"snapshot": SNAPSHOT, "files": files, "is_cut": True}))
    run = wavepool("disk", "list-content", "work")
    assert [line.split() for line in run.out.splitlines()[1:]] == [["src/", "-", "-"], ["src/a", "6", "B", "-"]]
    assert "and more: 2 files in all" in run.err


@pytest.mark.parametrize(("files", "counted"), [(1, "1 file"), (2, "2 files")])
def test_a_snapshot_that_was_taken_is_described(gateway: ScriptedGateway, files: int, counted: str) -> None:
    taken = {**SNAPSHOT, "is_unchanged": False, "skipped": 1, "files": files}
    gateway.on("POST", f"{DISKS}/work/snapshot", Answer(taken))
    said = f"work is saved: 1.5 KiB, {counted} in 2.0 s; sockets, pipes and devices are left out (1)\n"
    assert wavepool("disk", "snapshot", "work").err == said


def test_unlock_says_who_has_a_disk_and_that_nothing_is_locked(gateway: ScriptedGateway) -> None:
    said = wavepool("disk", "unlock", "work").err
    assert all(word in said for word in ("res_1", "wavepool cancel res_1", "wavepool disk clone work"))
    gateway.only("GET", DISKS, Answer({"disks": [FREE]}))
    assert "no reservation uses work" in wavepool("disk", "unlock", "work").err
    assert wavepool("disk", "unlock", "other").status == 2


def test_usage_adds_up_what_is_on_disks() -> None:
    run = wavepool("disk", "usage")
    assert run.err == "1.5 KiB in the last snapshots of 1 disk\n"


@pytest.mark.parametrize(
    ("words", "disk"), [(["--disk", "work"], "work"), (["--disk", "None"], None), (["--no-persist"], None), ([], None)]
)
def test_a_reservation_has_the_disk_that_is_named(gateway: ScriptedGateway, words: list[str], disk: str | None) -> None:
    gateway.on("POST", "/api/v1/reservations/quote", Answer(QUOTE))
    gateway.on("POST", "/api/v1/reservations", Answer(QUEUED, 202))
    assert wavepool("reserve", "-h", "1", "--no-wait", *words).status == 0
    for path in ("/api/v1/reservations/quote", "/api/v1/reservations"):
        assert gateway.asked("POST", path)[-1].body.get("disk") == disk


def test_a_disk_and_no_disk_contradict_each_other() -> None:
    run = wavepool("reserve", "-h", "1", "--disk", "work", "--no-persist")
    assert (run.status, "contradict" in run.err) == (2, True)
