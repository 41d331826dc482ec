"""`wavepool admin` on databases that no service uses, in folders and repositories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.local.data_folder import claimed
from tests import schemas
from tests.cli.invocation import wavepool

SECRETS = {"pool_secret": "32 bytes", "token": "wp_token", "tls/ca.pem": "an authority"}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of an installation that has stopped."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "tls").mkdir(parents=True)
    (folder / "logs").mkdir()
    (folder / "logs" / "billing.log").write_text("a log")
    (folder / "endpoint").write_text("http://127.0.0.1:1")
    schemas.prepare(folder)
    for name, content in SECRETS.items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture(scope="module")
def backup(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it."""
    folder = tmp_path_factory.mktemp("backups") / "monday"
    run = wavepool("admin", "backup", str(folder), "--data-dir", str(data_dir))
    assert run.status == 0, run.err
    return folder


def files_of(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in SECRETS}


def test_a_backup_has_what_is_needed_is_for_its_owner_alone_and_replaces_no_other(backup: Path, data_dir: Path) -> None:
    manifest = json.loads((backup / "manifest.json").read_text())
    assert list(manifest["databases"]) == ["vmpool", "scheduler", "billing"]
    assert sorted(manifest["files"]) == sorted(SECRETS)
    assert {one.stat().st_mode & 0o777 for one in backup.rglob("*") if one.is_file()} == {0o600}
    copies = ["billing.copy", "files", "manifest.json", "scheduler.copy", "vmpool.copy"]
    assert (sorted(one.name for one in backup.iterdir()), backup.stat().st_mode & 0o777) == (copies, 0o700)
    run = wavepool("admin", "backup", str(backup), "--data-dir", str(data_dir))
    assert (run.status, "exists already; name a new folder" in run.err) == (2, True)


def test_a_backup_is_restored_into_an_empty_installation_alone(backup: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    command = ("admin", "restore", str(backup), "--data-dir", str(there))
    there.mkdir()
    (there / "token").write_text("another")
    refused = wavepool(*command)
    assert (refused.status, [one.name for one in there.iterdir()]) == (2, ["token"])
    assert f"--data-dir: {there / 'token'} is there and is not the backup's" in refused.err
    (there / "token").unlink()
    with claimed(there, "http://127.0.0.1:1"):
        assert "stop it first: wavepool down" in wavepool(*command).err
    run = wavepool(*command)
    assert run.status == 0, run.err
    assert "0 jobs that were not over end as INFRA_ERROR" in run.err
    assert files_of(there) == SECRETS
    again = wavepool(*command)
    assert (again.status, "_DATABASE_URL: " in again.err, "an empty database" in again.err) == (2, True, True)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda kept: (kept / "files" / "token").write_text("changed"), "files/token is not as manifest.json says"),
        (lambda kept: (kept / "billing.copy").unlink(), "billing.copy is missing"),
        (lambda kept: (kept / "manifest.json").write_text("{}"), "is no whole backup"),
    ],
)
def test_a_damaged_backup_is_refused(backup: Path, tmp_path: Path, harm: Callable[[Path], object], said: str) -> None:
    kept, there = tmp_path / "kept", tmp_path / "there"
    shutil.copytree(backup, kept)
    harm(kept)
    run = wavepool("admin", "restore", str(kept), "--data-dir", str(there))
    assert (run.status, said in run.err, there.exists()) == (2, True, False)


@pytest.mark.restic
def test_a_repository_keeps_a_backup_and_needs_its_password(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"local:{tmp_path / 'repository'}"
    command = ("admin", "backup", place, "--data-dir", str(data_dir))
    refused = wavepool(*command)
    assert (refused.status, "RESTIC_PASSWORD_FILE: set it" in refused.err) == (2, True)
    (tmp_path / "password").write_text("secret")
    monkeypatch.setenv("RESTIC_PASSWORD_FILE", str(tmp_path / "password"))
    monkeypatch.setenv("RESTIC_CACHE_DIR", str(tmp_path / "cache"))
    assert wavepool(*command).status == 0
    (tmp_path / "token").write_text("another")
    read = wavepool("admin", "restore", place, "--data-dir", str(tmp_path))
    assert (read.status, f"{tmp_path / 'token'} is there and is not the backup's" in read.err) == (2, True)
