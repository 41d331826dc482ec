"""The loop that ends holds and grants whose time is over, and adds balances and budgets up."""

from __future__ import annotations

from datetime import timedelta

from services.billing.alerts.money_metrics import show_books
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.posting_store import PostingStore

KEEPING_INTERVAL = timedelta(seconds=5)


class LedgerKeeper:
    """Does what the ledger needs without anybody asking."""

    name = "ledger keeper"

    def __init__(self, ledger: LedgerStore, postings: PostingStore) -> None:
        self._ledger = ledger
        self._postings = postings

    async def run_once(self) -> None:
        """End what is over; holds first, because what they give back may lapse at once."""
        await self._ledger.expire_holds()
        await self._ledger.expire_grants()
        await self._postings.checkpoint()
        await self._ledger.catch_up_budgets()
        show_books(*await self._postings.books())
