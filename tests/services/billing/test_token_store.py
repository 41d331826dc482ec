from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from services.billing.errors import (
    AccountNotFoundError,
    InvalidTokenError,
    LastAdministratorTokenError,
    TokenNotFoundError,
)
from services.billing.store.tables import tokens

if TYPE_CHECKING:
    from servicekit.db.database import Database
    from services.billing.service.billing_service import Stores


async def test_a_token_tells_its_account(stores: Stores) -> None:
    account = await stores.accounts.create("ada", admin=True)
    token, secret = await stores.tokens.create(account.account_id, "laptop")
    assert secret.startswith("wpt_")
    assert len(secret) == 47
    assert await stores.tokens.authenticate(secret) == (account, token.token_id)


async def test_the_secret_is_nowhere_in_the_database(stores: Stores, db: Database) -> None:
    account = await stores.accounts.create("ada", admin=True)
    token, secret = await stores.tokens.create(account.account_id, "laptop")
    async with db.reading() as connection:
        row = (await connection.execute(select(tokens))).one()
    assert secret[10:] not in repr(tuple(row))
    assert row.prefix == token.prefix == secret[:10]


async def test_a_revoked_token_is_refused_and_stays_listed(stores: Stores) -> None:
    account = await stores.accounts.create("ada", admin=False)
    token, secret = await stores.tokens.create(account.account_id, "laptop")
    await stores.tokens.revoke(token.token_id)
    (first,) = await stores.tokens.list_of(account.account_id)
    await stores.tokens.revoke(token.token_id)
    (second,) = await stores.tokens.list_of(account.account_id)
    assert first.revoke_time is not None
    assert first == second
    with pytest.raises(InvalidTokenError):
        await stores.tokens.authenticate(secret)


async def test_the_last_token_of_all_administrators_stays(stores: Stores) -> None:
    ada = await stores.accounts.create("ada", admin=True)
    grace = await stores.accounts.create("grace", admin=True)
    user = await stores.accounts.create("user", admin=False)
    first, _ = await stores.tokens.create(ada.account_id, "laptop")
    last, secret = await stores.tokens.create(grace.account_id, "laptop")
    users, _ = await stores.tokens.create(user.account_id, "laptop")
    await stores.tokens.revoke(first.token_id)
    with pytest.raises(LastAdministratorTokenError, match="Make another"):
        await stores.tokens.revoke(last.token_id)
    assert (await stores.tokens.authenticate(secret))[0] == grace
    # Tokens that are revoked, and tokens that open no administrative route, do not matter.
    await stores.tokens.revoke(first.token_id)
    await stores.tokens.revoke(users.token_id)


async def test_of_tokens_that_are_revoked_at_the_same_time_one_stays(stores: Stores) -> None:
    admins = [await stores.accounts.create(f"admin-{number}", admin=True) for number in range(4)]
    made = [await stores.tokens.create(admin.account_id, "laptop") for admin in admins]
    ends = await asyncio.gather(*(stores.tokens.revoke(token.token_id) for token, _ in made), return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["LastAdministratorTokenError"] + ["NoneType"] * 3
    kept = [ends.index(end) for end in ends if end is not None]
    assert [(await stores.tokens.authenticate(made[number][1]))[0] for number in kept] == [admins[kept[0]]]


@pytest.mark.parametrize("secret", ["", "wpt_", "wpt_" + "A" * 43, "\x00", "ü"])
async def test_unknown_secrets_are_refused(stores: Stores, secret: str) -> None:
    with pytest.raises(InvalidTokenError):
        await stores.tokens.authenticate(secret)


async def test_what_does_not_exist_is_not_found(stores: Stores) -> None:
    with pytest.raises(AccountNotFoundError):
        await stores.tokens.create("acct_none", "laptop")
    with pytest.raises(AccountNotFoundError):
        await stores.tokens.list_of("acct_none")
    with pytest.raises(TokenNotFoundError):
        await stores.tokens.revoke("tok_none")
