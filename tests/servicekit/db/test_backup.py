"""Copies of a service's database, on each kind of engine: made in use, put back into an empty database, and proven."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from servicekit.db import backup, database
from servicekit.db.backup import Keeping
from servicekit.db.database import Database
from servicekit.settings.config import WrongSettingsError
from services.vmpool.config import VmPoolSettings
from tests.postgres_server import PostgresServer
from tests.schemas import migrate

MIGRATIONS = "services.vmpool:migrations"
NEWEST = max(
    file.name[:4] for file in Path(database.__file__).parents[2].glob("services/vmpool/migrations/versions/0*")
)


@pytest.fixture
def schema() -> str:
    return MIGRATIONS


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """A database of vmpool that is in use, with a row."""
    db = Database(database_url)
    await migrate(db, MIGRATIONS)
    await resume(db, "one")
    yield db
    await db.close()


@pytest.fixture
def empty_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database of the same kind."""
    if database_url.startswith("sqlite"):
        yield f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    yield url
    server.drop_database(url)


@pytest.fixture
async def empty(empty_url: str) -> AsyncIterator[Database]:
    db = Database(empty_url)
    yield db
    await db.close()


async def resume(db: Database, backend: str) -> None:
    async with db.transaction() as connection:
        await connection.execute(text("INSERT INTO resumes VALUES ('dstack', :name, 'MI300X', 0)"), {"name": backend})


async def backends(db: Database) -> list[str]:
    async with db.reading() as connection:
        return list((await connection.execute(text("SELECT backend FROM resumes ORDER BY backend"))).scalars())


def keeping(db: Database, faults: tuple[str, ...] = ()) -> Keeping:
    url = db.engine.url.render_as_string(hide_password=False)

    async def restored(_database: Database, told: dict[str, Any]) -> dict[str, Any]:
        return {"told": told}

    async def found(_database: Database) -> tuple[str, ...]:
        return faults

    return Keeping("vmpool", lambda: VmPoolSettings(database_url=url), restored=restored, faults=found)


@pytest.fixture
def answers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """What was printed; the services before told `{"before": 1}`."""
    monkeypatch.setattr("sys.stdin", io.StringIO('{"before": 1}'))
    return lambda: json.loads(capsys.readouterr().out)


async def test_a_copy_of_a_database_in_use_is_of_one_moment_and_is_restored_as_it_was(
    db: Database, empty: Database, tmp_path: Path, answers: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = backup.Keeping._run  # pyright: ignore[reportPrivateUsage] - between the copy's moment and its making

    async def run_late(self: Keeping, *words: Any, **options: Any) -> str:
        await resume(db, "too late")
        return await run(self, *words, **options)

    monkeypatch.setattr(Keeping, "_run", run_late)
    await keeping(db).do("back-up", tmp_path / "copy")
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", io.StringIO('{"before": 1}'))
    made = answers()
    assert (made["revision"], made["rows"]["resumes"], made["engine"]) == (NEWEST, 1, db.dialect_name)
    await resume(db, "later")
    await keeping(empty).do("check-restore", tmp_path / "copy")
    await keeping(empty).do("restore", tmp_path / "copy")
    assert answers() == {"told": {"before": 1}}
    assert await backends(empty) == ["one"]
    with pytest.raises(WrongSettingsError, match="a restore did not end; run `wavepool admin restore` again"):
        await database.migrate(empty, MIGRATIONS)
    await keeping(empty).do("open-restored", Path())
    await database.migrate(empty, MIGRATIONS)


async def test_a_restore_that_did_not_end_can_be_repeated(
    db: Database, empty: Database, tmp_path: Path, answers: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await keeping(db).do("back-up", tmp_path / "copy")
    await keeping(empty).do("restore", tmp_path / "copy")
    await resume(empty, "of the first try")
    monkeypatch.setattr("sys.stdin", io.StringIO("{}"))
    await keeping(empty).do("restore", tmp_path / "copy")
    assert await backends(empty) == ["one"]


async def test_a_copy_is_not_restored_into_a_database_that_has_tables(db: Database, tmp_path: Path) -> None:
    await keeping(db).do("back-up", tmp_path / "copy")
    await resume(db, "later")
    for work in ("check-restore", "restore"):
        with pytest.raises(WrongSettingsError, match=r"VMPOOL_DATABASE_URL: .* has \d+ tables; .* an empty database"):
            await keeping(db).do(work, tmp_path / "copy")
    assert await backends(db) == ["later", "one"]


async def test_a_copy_of_a_newer_version_is_refused(db: Database, empty: Database, tmp_path: Path) -> None:
    async with db.transaction() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await keeping(db).do("back-up", tmp_path / "copy")
    with pytest.raises(WrongSettingsError, match="revision 9999, and this version of Wavepool knows 0013 to"):
        await keeping(empty).do("restore", tmp_path / "copy")
    await keeping(db).do("back-up", tmp_path / "again")


async def test_a_copy_is_proven_in_a_database_that_is_gone_then(
    db: Database, tmp_path: Path, answers: Callable[[], Any]
) -> None:
    await keeping(db).do("back-up", tmp_path / "copy")
    made = answers()
    await resume(db, "later")
    await keeping(db, ("a balance differs",)).do("verify", tmp_path / "copy")
    proven = answers()
    assert (proven["rows"], proven["faults"]) == (made["rows"], ["a balance differs"])
    if db.dialect_name == "postgresql":
        async with db.reading() as connection:
            left = "SELECT count(*) FROM pg_database WHERE datname LIKE 'wavepool_verify_%'"
            assert await connection.scalar(text(left)) == 0


async def test_a_database_without_tables_is_no_backup(empty: Database, tmp_path: Path) -> None:
    with pytest.raises(WrongSettingsError, match=r"VMPOOL_DATABASE_URL: .* has no tables of vmpool"):
        await keeping(empty).do("back-up", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


async def test_a_database_that_was_recovered_by_its_server_is_put_right_where_it_is(
    db: Database, answers: Callable[[], Any]
) -> None:
    await keeping(db).do("recovered", Path())
    assert (answers(), await backends(db)) == ({"told": {"before": 1}}, ["one"])
