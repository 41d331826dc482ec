"""`wavepool admin`: backups of an installation, whose services need not run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.local import backup_set
from wavepool_client.commands.options import DataDirOption, JsonOption, examples
from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import DEFAULT_DATA_DIR
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of

PLACE = "A folder, or a repository of restic such as s3:https://HOST/BUCKET or local:/srv/backup."
_REPOSITORY = re.compile(r"[a-z0-9]+:.")
_PASSWORDS = ("RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND", "RESTIC_PASSWORD")
_LAST_WORDS = 500
PlaceArgument = Annotated[str, typer.Argument(metavar="PLACE", help=PLACE)]
SnapshotOption = Annotated[str, typer.Option(help="Which snapshot of a repository: its id of restic.")]
app = typer.Typer(help="Back up an installation, restore it, and prove a backup.", no_args_is_help=True)


def add_to(main: typer.Typer, panel: str) -> None:
    """Adds `admin` to a panel of the help."""
    main.add_typer(app, name="admin", rich_help_panel=panel)


@app.command(
    epilog=examples(
        "wavepool admin backup /srv/backup/monday", "wavepool admin backup s3:https://s3.example.org/backup"
    )
)
def backup(place: PlaceArgument, *, data_dir: DataDirOption = DEFAULT_DATA_DIR, as_json: JsonOption = False) -> None:
    """Back up the databases, secrets and keys, while services run or not.

    The databases are those of the settings (BILLING_DATABASE_URL, …) or in the data folder. A repository is encrypted:
    RESTIC_PASSWORD_FILE names the file of its password. Snapshots of disks are not part of it.
    """
    if not _REPOSITORY.match(place):
        manifest = backup_set.make(Path(place), data_dir)
    else:
        with tempfile.TemporaryDirectory(prefix="wavepool-backup-") as folder:
            _check_restic()
            manifest = backup_set.make(Path(folder, "set"), data_dir)
            if not _restic(place, "cat", "config", may_fail=True):
                _restic(place, "init")
            _restic(place, "backup", ".", "--host", "wavepool", "--tag", "wavepool", folder=Path(folder, "set"))
    _show(manifest, as_json=as_json)
    say(f"backed up to {place}; prove it: wavepool admin verify {place}")


@app.command(epilog=examples("wavepool admin verify /srv/backup/monday"))
def verify(
    place: PlaceArgument,
    *,
    snapshot: SnapshotOption = "latest",
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    as_json: JsonOption = False,
) -> None:
    """Prove a backup: restore it into temporary databases, count their rows, and prove the ledger.

    Exit status 1 if something differs. Backups of PostgreSQL need a server, that of the settings, and the right to
    make databases there.
    """
    with _set_at(place, snapshot) as folder:
        manifest, faults = backup_set.verify(folder, data_dir)
    _show(manifest | {"faults": faults}, as_json=as_json)
    for fault in faults:
        say(f"FAULT {fault}")
    if faults:
        raise typer.Exit(ExitCode.NOT_ACCEPTED)
    say("VERIFIED: the ledger is proven, and all rows are there")


@app.command(epilog=examples("wavepool admin restore /srv/backup/monday --data-dir /srv/wavepool"))
def restore(
    place: PlaceArgument,
    *,
    snapshot: SnapshotOption = "latest",
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into an empty installation, before its services start.

    Submissions and reservations that were not over at the time of the backup end as INFRA_ERROR, and cost nothing.
    """
    with _set_at(place, snapshot) as folder:
        manifest, told = backup_set.restore(folder, data_dir)
    _show(manifest | {"ended_jobs": told["failed_jobs"]}, as_json=as_json)
    say(f"restored as of {manifest['time']}; what happened since then is lost:")
    _say_what_ended(told)


@app.command(epilog=examples("wavepool admin recovered"))
def recovered(*, data_dir: DataDirOption = DEFAULT_DATA_DIR, as_json: JsonOption = False) -> None:
    """Put the databases right that PostgreSQL itself recovered to an earlier time, before services start on them.

    Does to their records what `restore` does.
    """
    told = backup_set.recover(data_dir)
    if as_json:
        print_json({"ended_jobs": told["failed_jobs"]})
    _say_what_ended(told)


def _say_what_ended(told: dict[str, Any]) -> None:
    say(f"- {told['failed_jobs']} jobs that were not over end as INFRA_ERROR and cost nothing")
    say(f"- {told['machines']} machines are in the record; those that run are used again, others are adopted or ended")
    say("- tokens, users, roles and prices are as they were then: revoke again what was revoked since")


def _show(shown: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    rows = [
        (name, one["engine"], one["revision"], one["time"], str(one["bytes"]), _counts(one["rows"]))
        for name, one in shown["databases"].items()
    ]
    results.print(table_of(("database", "engine", "schema", "time", "bytes", "rows"), rows))


def _counts(rows: dict[str, int]) -> str:
    shown = ("jobs", "job_events", "disks", "machines", "leases", "users", "tokens", "transactions")
    return ", ".join(f"{rows[name]} {name}" for name in shown if name in rows)


@contextmanager
def _set_at(place: str, snapshot: str) -> Generator[Path]:
    if not _REPOSITORY.match(place):
        yield Path(place)
        return
    _check_restic()
    with tempfile.TemporaryDirectory(prefix="wavepool-restore-") as folder:
        _restic(place, "restore", snapshot, "--tag", "wavepool", "--target", folder)
        yield Path(folder)


def _check_restic() -> None:
    if not shutil.which("restic"):
        raise InputError("a repository needs restic: install Debian's package, or name a folder")
    if not any(map(os.environ.get, _PASSWORDS)):
        raise InputError(
            "RESTIC_PASSWORD_FILE: set it to a file with the repository's password; keep a copy of that elsewhere, as "
            "the backup cannot be read without it"
        )


def _restic(place: str, *words: str, folder: Path | None = None, may_fail: bool = False) -> bool:
    ended = subprocess.run(  # noqa: S603 - its words are ours
        ["restic", "--repo", place, *words],  # noqa: S607 - wherever it is installed
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode and not may_fail:
        said = ended.stderr.strip()[-_LAST_WORDS:]
        raise UnreachableError(f"restic {words[0]} ended with status {ended.returncode}: {said}")
    return not ended.returncode
