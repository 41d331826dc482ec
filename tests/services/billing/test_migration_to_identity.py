"""Accounts of before there were users become users, with all that they had."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from servicekit.db.database import Database, migrate
from services.billing.config import BillingSettings
from services.billing.errors import InvalidTokenError
from services.billing.identity.api_token import new_secret, secret_hash
from services.billing.identity.rights import ALL_SCOPES, Role, Scope
from services.billing.server import build_stores

if TYPE_CHECKING:
    from sqlalchemy import Connection

SECRETS = {token_id: new_secret() for token_id in ("tok_admin", "tok_user", "tok_revoked")}


@pytest.fixture
def schema() -> str:
    """None: the tests here begin with an older one."""
    return ""


def insert(connection: Connection, table: str, **row: Any) -> None:
    names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)  # noqa: S608 - names of ours


def as_it_was_at_0003(connection: Connection) -> None:
    with as_file(files("servicekit.db") / "migration") as environment, as_file(files("services.billing")) as ours:
        config = Config()
        config.set_main_option("script_location", str(environment))
        config.set_main_option("version_locations", str(ours / "migrations" / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, "0003")
    sums = {"granted_micros": 1_000, "charged_micros": 0, "held_micros": 0}
    insert(connection, "accounts", account_id="acct_01A", name="local", admin=True, create_time=5, **sums)
    insert(connection, "accounts", account_id="acct_01B", name="ada", admin=False, create_time=6, **sums)
    for token_id, account_id, revoke_time in (
        ("tok_admin", "acct_01A", None),
        ("tok_user", "acct_01B", None),
        ("tok_revoked", "acct_01B", 9),
    ):
        secret = SECRETS[token_id]
        row = {"secret_hash": secret_hash(secret), "prefix": secret[:10], "create_time": 7, "revoke_time": revoke_time}
        insert(connection, "tokens", token_id=token_id, account_id=account_id, name="old", **row)


async def test_accounts_become_users_and_their_tokens_go_on_working(database_url: str) -> None:
    db = Database(database_url)
    async with db.transaction() as connection:
        await connection.run_sync(as_it_was_at_0003)
    await migrate(db, "services.billing:migrations")
    stores = build_stores(db, BillingSettings(database_url=database_url))
    users = {user.name: user for user in await stores.users.list_all()}
    assert {name: (user.role, user.account_id) for name, user in users.items()} == {
        "local": (Role.ADMIN, "acct_01A"),
        "ada": (Role.USER, "acct_01B"),
    }
    assert (users["ada"].user_id, users["ada"].issuer) == ("user_01B", "")
    admin = await stores.tokens.authenticate(SECRETS["tok_admin"])
    assert (admin.user, admin.scopes, admin.token.expire_time) == (users["local"], ALL_SCOPES, None)
    ada = await stores.tokens.authenticate(SECRETS["tok_user"])
    assert (ada.user.name, ada.account_name, Scope.ADMIN in ada.scopes) == ("ada", "ada", False)
    with pytest.raises(InvalidTokenError):
        await stores.tokens.authenticate(SECRETS["tok_revoked"])
    account = await stores.accounts.get("acct_01B")
    assert account.name == "ada"
    # The two who sign in without an identity provider do not clash, and neither may a third role come in.
    with pytest.raises(IntegrityError):
        async with db.transaction() as connection:
            await connection.execute(text("UPDATE users SET role = 'root'"))
    with pytest.raises(IntegrityError):
        async with db.transaction() as connection:
            await connection.execute(text("UPDATE tokens SET user_id = NULL"))
    await db.close()
