from __future__ import annotations

import stat
from decimal import Decimal
from typing import Any

import pytest

from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.errors import InvalidFieldError
from services.billing.identity.rights import ALL_SCOPES, Role
from services.billing.server import prepare
from services.billing.service.billing_service import Stores


async def granted_micros(stores: Stores) -> int:
    account = await stores.accounts.find_by_name("local")
    assert account is not None
    return account.balance.granted_micros


async def test_a_new_installation_has_an_account_with_credit_and_a_token(
    db: Database, stores: Stores, settings: BillingSettings
) -> None:
    await prepare(db, stores, settings)
    file = settings.data_dir / "token"
    caller = await stores.tokens.authenticate(file.read_text().strip())
    assert (caller.user.name, caller.user.role, caller.scopes) == ("local", Role.ADMIN, ALL_SCOPES)
    assert await granted_micros(stores) == 1_400_000_000
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_second_start_changes_nothing(db: Database, stores: Stores, settings: BillingSettings) -> None:
    await prepare(db, stores, settings)
    before = (settings.data_dir / "token").read_text()
    await prepare(db, stores, settings.model_copy(update={"grant_credits_total": Decimal(5000)}))
    assert (settings.data_dir / "token").read_text() == before
    assert await granted_micros(stores) == 1_400_000_000


async def test_a_first_grant_that_was_taken_back_stays_taken_back(
    db: Database, stores: Stores, settings: BillingSettings
) -> None:
    await prepare(db, stores, settings)
    account = await stores.accounts.find_by_name("local")
    assert account is not None
    await stores.ledger.revoke(account.account_id, 1_400_000_000, "revoke", "")
    await prepare(db, stores, settings.model_copy(update={"grant_credits_total": Decimal(5000)}))
    assert await granted_micros(stores) == 0


@pytest.mark.parametrize("content", [None, "wpt_of_an_older_database", "\xff"])
async def test_a_missing_or_foreign_token_file_is_written_anew(
    db: Database, stores: Stores, settings: BillingSettings, content: str | None
) -> None:
    await prepare(db, stores, settings)
    file = settings.data_dir / "token"
    file.unlink() if content is None else file.write_bytes(content.encode("latin-1"))
    await prepare(db, stores, settings)
    assert (await stores.tokens.authenticate(file.read_text().strip())).user.name == "local"
    assert await granted_micros(stores) == 1_400_000_000


async def test_a_start_killed_before_the_grant_is_completed_by_the_next(
    db: Database, stores: Stores, settings: BillingSettings
) -> None:
    await stores.users.create("local", Role.ADMIN)
    await prepare(db, stores, settings)
    assert await granted_micros(stores) == 1_400_000_000


@pytest.mark.parametrize("change", [{"role": Role.USER}, {"disabled": True}])
async def test_a_first_user_who_is_no_administrator_any_more_gets_no_new_token(
    db: Database, stores: Stores, settings: BillingSettings, change: dict[str, Any]
) -> None:
    await prepare(db, stores, settings)
    other = await stores.users.create("grace", Role.ADMIN)
    await stores.tokens.create(other.user_id, "laptop")
    await stores.users.update("local", **change)
    (settings.data_dir / "token").write_text("wpt_of_nobody")
    await prepare(db, stores, settings)
    assert (settings.data_dir / "token").read_text() == "wpt_of_nobody"


async def test_no_account_is_opened_where_none_is_asked_for(
    db: Database, stores: Stores, settings: BillingSettings
) -> None:
    await prepare(db, stores, settings.model_copy(update={"bootstrap_account": ""}))
    assert await stores.accounts.find_by_name("local") is None
    assert not (settings.data_dir / "token").exists()


async def test_a_bad_account_name_is_refused(db: Database, stores: Stores, settings: BillingSettings) -> None:
    with pytest.raises(InvalidFieldError, match="name"):
        await prepare(db, stores, settings.model_copy(update={"bootstrap_account": "No Spaces"}))
