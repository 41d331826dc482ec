"""Backup sets: a folder with a copy of each service's database, the secrets of the data folder, and a manifest.

The copies are made one after the other, so a set is of a moment for each database. What they say of each other is put
right when they are restored, for which the order matters: nothing that a later one has is missing in an earlier one
except what was made in between (docs/decisions/0047-backups.md).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from cli.local.data_folder import LOCK_FILE, holder
from cli.local.program import WRONG_SETTINGS
from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.http.connection import ENDPOINT_FILE

SERVICES = ("vmpool", "scheduler", "billing")
"""In the order of their copies."""
MANIFEST, FORMAT = "manifest.json", 1
_FILES = "files"
_NOT_KEPT = {LOCK_FILE, ENDPOINT_FILE}
_KEPT_FOLDERS = ("tls",)
_LAST_WORDS = 2000
_CHUNK_BYTES = 1 << 20

Facts = dict[str, Any]


def make(folder: Path, data_dir: Path) -> Facts:
    """Makes a set in a new folder, while services run or not; gives its manifest.

    Raises InputError if the folder has something in it already or the settings are wrong. Leaves nothing then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already; name a new folder for each backup")
    partial = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(4)}")
    try:
        partial.mkdir(mode=0o700, parents=True)
        manifest = _fill(partial, data_dir)
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"the backup cannot be written: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def _fill(folder: Path, data_dir: Path) -> Facts:
    databases: Facts = {}
    for service in SERVICES:
        copy = folder / f"{service}.copy"
        facts = _work(service, data_dir, "--back-up", copy)
        databases[service] = facts | {"sha256": _digest(copy), "bytes": copy.stat().st_size}
    for file in _kept_files(data_dir):
        target = folder / _FILES / file.relative_to(data_dir)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(file, target)
        target.chmod(0o600)
    files = {str(one.relative_to(folder / _FILES)): _digest(one) for one in sorted(_below(folder / _FILES))}
    manifest: Facts = {
        "format": FORMAT,
        "wavepool": version("wavepool"),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "databases": databases,
        "files": files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    (folder / MANIFEST).chmod(0o600)
    for one in _below(folder):
        _sync(one)
    return manifest


def read(folder: Path) -> Facts:
    """The manifest of a set, all of whose files are as it says; raises InputError."""
    try:
        manifest = cast("Facts", json.loads((folder / MANIFEST).read_text("utf-8")))
        if manifest["format"] != FORMAT:
            raise InputError(f"{folder} is of another form, made by Wavepool {manifest['wavepool']}; use that version")
        said = {f"{name}.copy": one["sha256"] for name, one in manifest["databases"].items()}
        said |= {f"{_FILES}/{name}": digest for name, digest in manifest["files"].items()}
        wrong = [name for name, digest in said.items() if _digest(folder / name) != digest]
    except FileNotFoundError as error:
        raise InputError(f"{folder} is no whole backup: {error.filename} is missing") from error
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder} is no whole backup: {error}") from error
    if wrong:
        raise InputError(f"{folder} is damaged: {', '.join(wrong)} is not as {MANIFEST} says; use another backup")
    return manifest


def restore(folder: Path, data_dir: Path) -> tuple[Facts, Facts]:
    """Restores a set into empty databases and a data folder; gives its manifest, and what was ended.

    Raises InputError, before anything is changed, if something is there already. If it is stopped half-way, no service
    starts on what is there, and it can be repeated.
    """
    manifest = read(folder)
    if (process_id := holder(data_dir)) is not None:
        raise InputError(f"--data-dir: process {process_id} runs on {data_dir}; stop it first: wavepool down")
    for name, digest in manifest["files"].items():
        there = data_dir / name
        if there.exists() and _digest(there) != digest:
            raise InputError(
                f"--data-dir: {there} is there and is not the backup's; move it away, or name another folder"
            )
    _all_work("--check-restore", folder, data_dir)
    told: Facts = {}
    for service in SERVICES:
        told |= _work(service, data_dir, "--restore", folder / f"{service}.copy", told=told)
    for name in manifest["files"]:
        (data_dir / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(folder / _FILES / name, data_dir / name)
    for service in SERVICES:
        _work(service, data_dir, "--open-restored")
    return manifest, told


def recover(data_dir: Path) -> Facts:
    """Does to the databases as they are what a restore does to them; gives what was ended."""
    told: Facts = {}
    for service in SERVICES:
        told |= _work(service, data_dir, "--recovered", told=told)
    return told


def verify(folder: Path, data_dir: Path) -> tuple[Facts, list[str]]:
    """Restores a set into temporary databases; gives its manifest and the faults that were found."""
    manifest = read(folder)
    found = _all_work("--verify", folder, data_dir)
    return manifest, [
        fault
        for service, facts in found.items()
        for fault in [*_differences(service, manifest["databases"][service]["rows"], facts["rows"]), *facts["faults"]]
    ]


def _differences(service: str, said: dict[str, int], found: dict[str, int]) -> list[str]:
    wrong = [one for one in sorted({*said, *found}) if said.get(one) != found.get(one)]
    return [f"{service}: {one} has {found.get(one)} rows, and had {said.get(one)}" for one in wrong]


def _all_work(option: str, folder: Path, data_dir: Path) -> dict[str, Facts]:
    def work(service: str) -> Facts:
        return _work(service, data_dir, option, folder / f"{service}.copy")

    with ThreadPoolExecutor() as pool:
        return dict(zip(SERVICES, pool.map(work, SERVICES), strict=True))


def _work(service: str, data_dir: Path, *words: str | Path, told: Facts | None = None) -> Facts:
    """Has a service, which need not run, work on its database; raises InputError or UnreachableError."""
    asked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", f"services.{service}", *map(str, words)],
        input=json.dumps(told or {}),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {f"{one.upper()}_DATA_DIR": str(data_dir.resolve()) for one in SERVICES},
    )
    if asked.returncode == WRONG_SETTINGS:
        raise InputError(asked.stderr.strip())
    if asked.returncode:
        raise UnreachableError(f"{service} could not do {words[0]}: {asked.stderr.strip()[-_LAST_WORDS:]}")
    return cast("Facts", json.loads(asked.stdout or "{}"))


def _kept_files(data_dir: Path) -> list[Path]:
    """Secrets, keys and settings: what is no database, no log, and no machine's own folder."""
    top = [one for one in data_dir.glob("*") if one.is_file() and one.name not in _NOT_KEPT and not _is_other(one)]
    return [*top, *(file for name in _KEPT_FOLDERS for file in _below(data_dir / name))]


def _is_other(file: Path) -> bool:
    return ".db" in file.name or file.suffix in {".log", ".lock", ".partial"}


def _below(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _sync(file: Path) -> None:
    with file.open("rb") as content:
        os.fsync(content.fileno())
