"""A GitHub of this machine, and billing that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.billing.keys.github_keys import GithubKeys
from services.billing.service.billing_service import Stores
from tests.local_github import LocalGithub, local_github

LONG_SECONDS = 60.0


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def move(self, **time: float) -> None:
        self.time += timedelta(**time)


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the store cover both."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def github() -> Iterator[LocalGithub]:
    with local_github() as running:
        yield running


@pytest.fixture
def source(github: LocalGithub, stores: Stores, clock: Hands) -> GithubKeys:
    """Waits for as long as a busy machine may need."""
    return GithubKeys(f"{github.url}/", stores.github, clock, LONG_SECONDS)
