"""What was read on GitHub, and texts to sign, in each kind of database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.billing.errors import GithubNameTakenError
from services.billing.service.billing_service import Stores
from services.billing.store.github_store import KeptKeys

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


async def test_the_last_list_is_kept_until_it_is_too_old(stores: Stores) -> None:
    first, second = KeptKeys("a", '"1"', NOW), KeptKeys("b", "", NOW + HOUR)
    await stores.github.keep("alice", first, NOW - HOUR)
    assert await stores.github.kept("alice") == first
    await stores.github.keep("alice", second, NOW - HOUR)
    assert await stores.github.kept("alice") == second
    await stores.github.keep("bob", first, NOW)
    assert await stores.github.kept("alice") == second
    await stores.github.keep("carl", second, NOW + HOUR)
    assert [await stores.github.kept(name) for name in ("alice", "bob")] == [second, None]
    await stores.github.forget("alice")
    assert await stores.github.kept("alice") is None


async def test_a_text_to_sign_is_taken_once_by_whom_it_is_for_while_it_is_new(stores: Stores) -> None:
    ada, eve = [(await stores.users.create(name)).user_id for name in ("ada", "eve")]
    await stores.github.add_claim("hash", ada, "alice", NOW + HOUR, NOW)
    wrong = (("hash", eve, "alice", NOW), ("hash", ada, "bob", NOW), ("other", ada, "alice", NOW))
    for claim in (*wrong, ("hash", ada, "alice", NOW + HOUR)):
        assert not await stores.github.take_claim(*claim), claim
    assert await stores.github.take_claim("hash", ada, "alice", NOW)
    assert not await stores.github.take_claim("hash", ada, "alice", NOW)


async def test_a_name_on_github_is_one_users_and_can_be_taken_away(stores: Stores) -> None:
    for name in ("ada", "eve", "bob"):
        await stores.users.create(name)
    assert (await stores.users.update("ada", github_name="alice")).github_name == "alice"
    assert (await stores.users.update("ada", email="a@b.c")).github_name == "alice"
    with pytest.raises(GithubNameTakenError):
        await stores.users.update("eve", github_name="alice")
    found = await stores.users.find_by_github_name("alice")
    assert found is not None
    assert found.name == "ada"
    await stores.users.update("ada", github_name="")
    await stores.users.update("bob", github_name="")
    assert await stores.users.find_by_github_name("alice") is None
    assert (await stores.users.update("eve", github_name="alice")).github_name == "alice"
