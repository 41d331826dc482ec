from __future__ import annotations

import pytest

from services.billing.errors import AccountNotFoundError
from services.billing.service.billing_service import Stores


async def test_lines_are_those_of_one_account_newest_first(stores: Stores) -> None:
    ada, bob = await stores.accounts.create("ada"), await stores.accounts.create("bob")
    for number in range(1, 4):
        await stores.ledger.grant(ada.account_id, number, f"ada:{number}", "")
        await stores.ledger.grant(bob.account_id, 10, f"bob:{number}", "")
    newest = await stores.postings.lines(ada.account_id, before_seq=None, limit=2)
    rest = await stores.postings.lines(ada.account_id, before_seq=newest[-1].seq, limit=2)
    assert [[line.amount_micros for line in page] for page in (newest, rest)] == [[3, 2], [1]]


async def test_lines_of_an_unknown_account_are_not_found(stores: Stores) -> None:
    with pytest.raises(AccountNotFoundError):
        await stores.postings.lines("acct_none", before_seq=None, limit=1)
