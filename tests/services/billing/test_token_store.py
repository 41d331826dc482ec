from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from servicekit.clock import ManualClock, new_id
from servicekit.db.database import Database
from services.billing.errors import (
    InvalidFieldError,
    InvalidTokenError,
    LastAdministratorError,
    NotAllowedError,
    TokenNotFoundError,
    UserDisabledError,
    UserNotFoundError,
)
from services.billing.identity.rights import Role, Scope
from services.billing.identity.team import MemberLevel
from services.billing.service.billing_service import Stores
from services.billing.store.tables import tokens
from services.billing.store.token_store import TokenStore


async def test_a_token_tells_its_user_and_account(stores: Stores) -> None:
    user = await stores.users.create("ada", Role.ADMIN)
    token, secret = await stores.tokens.create(user.user_id, "laptop")
    assert (secret[:4], len(secret)) == ("wpt_", 47)
    caller = await stores.tokens.authenticate(secret)
    assert (caller.user, caller.token, caller.account_name) == (user, token, "ada")
    assert await stores.tokens.caller(token.token_id) == caller


async def test_the_secret_is_nowhere_in_the_database(stores: Stores, db: Database) -> None:
    user = await stores.users.create("ada")
    token, secret = await stores.tokens.create(user.user_id, "laptop")
    async with db.reading() as connection:
        row = (await connection.execute(select(tokens))).one()
    assert secret[10:] not in repr(tuple(row))
    assert row.prefix == token.prefix == secret[:10]


async def test_a_revoked_token_is_refused_and_stays_listed(stores: Stores) -> None:
    user = await stores.users.create("ada")
    token, secret = await stores.tokens.create(user.user_id, "laptop")
    await stores.tokens.revoke(token.token_id)
    (first,) = await stores.tokens.list_where(user_id=user.user_id)
    await stores.tokens.revoke(token.token_id)
    (second,) = await stores.tokens.list_where(account_id=user.account_id)
    assert first.token.revoke_time is not None
    assert (first, first.user_name, first.account_name) == (second, "ada", "ada")
    await refused(stores, token.token_id, secret)


async def test_an_expired_token_is_refused(db: Database, stores: Stores) -> None:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    store = TokenStore(db, clock, new_id)
    user = await stores.users.create("ada")
    end = clock.now() + timedelta(hours=1)
    _, secret = await store.create(user.user_id, "short", scopes=frozenset({Scope.READ}), expire_time=end)
    clock.advance(timedelta(minutes=59))
    caller = await store.authenticate(secret)
    assert (caller.token.expire_time, caller.scopes) == (end, {Scope.READ})
    clock.advance(timedelta(minutes=1))
    with pytest.raises(InvalidTokenError):
        await store.authenticate(secret)


async def test_a_disabled_users_tokens_work_again_after_the_user_is_enabled(stores: Stores) -> None:
    user = await stores.users.create("ada")
    token, secret = await stores.tokens.create(user.user_id, "laptop")
    disabled = await stores.users.update("ada", disabled=True)
    assert await stores.users.update("ada", disabled=True) == disabled
    await refused(stores, token.token_id, secret)
    with pytest.raises(UserDisabledError):
        await stores.tokens.create(user.user_id, "another")
    await stores.users.update(user.user_id, disabled=False)
    assert (await stores.tokens.authenticate(secret)).user == user


async def test_a_token_for_a_team_works_as_long_as_its_user_is_a_member(stores: Stores) -> None:
    user, team = await stores.users.create("ada"), await stores.teams.create("compilers")
    with pytest.raises(InvalidFieldError, match="account"):
        await stores.tokens.create(user.user_id, "ci", account_id=team.account_id)
    await stores.teams.add_member(team.team_id, user.user_id, MemberLevel.MEMBER)
    token, secret = await stores.tokens.create(user.user_id, "ci", account_id=team.account_id)
    caller = await stores.tokens.authenticate(secret)
    assert (caller.account_name, caller.visible_account_ids) == ("compilers", {team.account_id})
    await stores.teams.remove_member(team.team_id, user.user_id)
    await refused(stores, token.token_id, secret)


async def test_a_users_own_token_sees_the_accounts_of_the_users_teams(stores: Stores) -> None:
    user, team = await stores.users.create("ada"), await stores.teams.create("compilers")
    await stores.teams.create("others")
    await stores.teams.add_member(team.team_id, user.user_id, MemberLevel.MEMBER)
    _, secret = await stores.tokens.create(user.user_id, "laptop")
    caller = await stores.tokens.authenticate(secret)
    assert caller.visible_account_ids == {user.account_id, team.account_id}


async def refused(stores: Stores, token_id: str, secret: str) -> None:
    with pytest.raises(InvalidTokenError):
        await stores.tokens.authenticate(secret)
    with pytest.raises(NotAllowedError):
        await stores.tokens.caller(token_id)


async def test_the_last_token_of_all_administrators_stays(stores: Stores) -> None:
    ada, grace = await stores.users.create("ada", Role.ADMIN), await stores.users.create("grace", Role.ADMIN)
    user = await stores.users.create("user")
    first, _ = await stores.tokens.create(ada.user_id, "laptop")
    last, secret = await stores.tokens.create(grace.user_id, "laptop")
    users, _ = await stores.tokens.create(user.user_id, "laptop")
    await stores.tokens.create(grace.user_id, "narrow", scopes=frozenset({Scope.READ}))
    await stores.tokens.revoke(first.token_id)
    with pytest.raises(LastAdministratorError, match="Make another"):
        await stores.tokens.revoke(last.token_id)
    assert (await stores.tokens.authenticate(secret)).user == grace
    # Tokens that are revoked, and tokens that open no administrative route, do not matter.
    await stores.tokens.revoke(first.token_id)
    await stores.tokens.revoke(users.token_id)


async def test_the_last_administrator_is_neither_demoted_nor_disabled(stores: Stores) -> None:
    ada, grace = await stores.users.create("ada", Role.ADMIN), await stores.users.create("grace", Role.ADMIN)
    _, secret = await stores.tokens.create(ada.user_id, "laptop")
    # Grace has no token: without Ada's nobody could make one.
    for change in ({"role": Role.OPERATOR}, {"disabled": True}):
        with pytest.raises(LastAdministratorError):
            await stores.users.update("ada", **change)
    assert (await stores.tokens.authenticate(secret)).user == ada
    await stores.tokens.create(grace.user_id, "laptop")
    assert (await stores.users.update("ada", role=Role.OPERATOR)).role is Role.OPERATOR


async def test_of_tokens_that_are_revoked_at_the_same_time_one_stays(stores: Stores) -> None:
    admins = [await stores.users.create(f"admin-{number}", Role.ADMIN) for number in range(4)]
    made = [await stores.tokens.create(admin.user_id, "laptop") for admin in admins]
    ends = await asyncio.gather(
        *(stores.tokens.revoke(token.token_id) for token, _ in made[:2]),
        stores.users.update("admin-2", disabled=True),
        stores.users.update("admin-3", role=Role.USER),
        return_exceptions=True,
    )
    failed = [number for number, end in enumerate(ends) if isinstance(end, LastAdministratorError)]
    assert len(failed) == 1, ends
    assert (await stores.tokens.authenticate(made[failed[0]][1])).user == admins[failed[0]]


@pytest.mark.parametrize("secret", ["", "wpt_", "wpt_" + "A" * 43, "\x00", "ü"])
async def test_unknown_secrets_are_refused(stores: Stores, secret: str) -> None:
    with pytest.raises(InvalidTokenError):
        await stores.tokens.authenticate(secret)


async def test_what_does_not_exist_is_not_found(stores: Stores) -> None:
    with pytest.raises(UserNotFoundError):
        await stores.tokens.create("user_none", "laptop")
    with pytest.raises(NotAllowedError):
        await stores.tokens.caller("tok_none")
    for missing in (stores.tokens.revoke, stores.tokens.get, stores.tokens.listed):
        with pytest.raises(TokenNotFoundError):
            await missing("tok_none")
