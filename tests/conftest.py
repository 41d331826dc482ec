"""Fixtures for every test: a real database of each kind, a clock that the test moves, and honest skips."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servicekit.clock import ManualClock
from tests.identity_provider.running_provider import RunningProvider, running_provider
from tests.needs import Needs, needs
from tests.postgres_server import PostgresServer
from tests.tiers import Tiers
from tests.work_units import WorkUnits, long_first

if TYPE_CHECKING:
    from xdist.remote import Producer

# Before numpy is imported. Workers share the cores: threads of its linear algebra library would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests start hundreds of Python processes: without kept bytecode, each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Tests in the background of a script have SIGINT ignored, and so do all their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


WAITING_SECONDS = 600
"""Of a test of an ordinary user, which may wait for those that start many processes: see `_room_for_processes`."""

INTERNAL_ERRORS: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Adds the skips and the tiers."""
    config.pluginmanager.register(Needs(), "needs")
    config.pluginmanager.register(Tiers(), "tiers")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WorkUnits | None:
    """Uses WorkUnits unless the command line names single files or another way to distribute the tests."""
    in_folders = any(Path(argument).is_dir() for argument in config.args)
    return WorkUnits(config, log) if in_folders and config.getvalue("dist") == "load" else None


def pytest_internalerror(excrepr: object) -> None:
    """Keeps the first error of pytest itself: a worker's makes xdist fail with one that does not say what happened."""
    INTERNAL_ERRORS.append(str(excrepr))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Says the first internal error once more, as the last thing of a long log."""
    if INTERNAL_ERRORS and not hasattr(config, "workerinput"):
        for line in ("pytest failed, first with this:", *INTERNAL_ERRORS[0].splitlines()[-40:]):
            config.get_terminal_writer().line(line)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without the garbage collector, which would look through them again and again for half of the time.

    Nothing of them goes away before the end, so later it need not look at them either.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reorders the tests after they were shuffled, and lets those wait that may have to."""
    long_first(items)
    if os.getuid() != 0:
        for item in items:
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(WAITING_SECONDS))


@pytest.fixture(autouse=True)
def _room_for_processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs tests that start many processes alone: a user's processes count together (`Gap.PROCESS_COUNT`)."""
    if os.getuid() == 0:
        yield
        return
    starts_many = any(name in request.node.nodeid for name in ("10_daemon", "fork_bomb", "spinning_threads"))
    path = Path(tempfile.gettempdir(), f"wavepool-tests-{os.getuid()}")
    with path.with_suffix(".gate").open("a") as gate, path.open("a") as lock:
        # A process that waits for the others holds the gate, so that nobody overtakes it.
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX if starts_many else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@pytest.fixture
def free_clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="session")
@needs("postgres")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
@needs("oidc")
def identity_provider() -> Iterator[RunningProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def schema() -> str:
    """The migrations of which `database_url` has the schema already on PostgreSQL; the conftest of a service names its.

    On SQLite `tests.schemas.migrate` makes it.
    """
    return ""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, schema: str) -> Iterator[str]:
    """The URL of a database, empty without `schema`; a test that uses it runs once on each kind."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database(schema)
    yield url
    server.drop_database(url)
