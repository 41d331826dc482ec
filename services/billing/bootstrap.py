"""Creates the first account of a new installation, and the file with a token for its owner.

Every step may be repeated, so the next start completes one that was killed half way.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.billing.errors import AccountNameTakenError, InvalidTokenError
from services.billing.identity.account import check_name, first_grant_key

if TYPE_CHECKING:
    from services.billing.identity.account import Account
    from services.billing.store.account_store import AccountStore
    from services.billing.store.ledger_store import LedgerStore
    from services.billing.store.token_store import TokenStore

log = get_logger(__name__)


class Bootstrap:
    """Opens the first account with its grant, and keeps a working admin token in `token_file` (mode 0600)."""

    def __init__(self, accounts: AccountStore, ledger: LedgerStore, tokens: TokenStore, token_file: Path) -> None:
        self._accounts = accounts
        self._ledger = ledger
        self._tokens = tokens
        self._token_file = token_file

    async def run(self, name: str, grant_micros: int) -> None:
        """Creates the missing parts and keeps the others; an existing account with a grant gets no second one."""
        account = await self._account(check_name(name))
        if grant_micros and account.balance.granted_micros == 0:
            await self._ledger.grant(
                account.account_id, grant_micros, first_grant_key(account.account_id), "First grant"
            )
        if not await self._file_works(account):
            _, secret = await self._tokens.create(account.account_id, "bootstrap")
            _write_private(self._token_file, secret + "\n")
            log.info("wrote an admin token", extra={"file": str(self._token_file), "account": name})

    async def _account(self, name: str) -> Account:
        found = await self._accounts.find_by_name(name)
        if found is not None:
            return found
        try:
            return await self._accounts.create(name, admin=True)
        except AccountNameTakenError:
            # Another billing process on the same database was faster.
            return await self._account(name)

    async def _file_works(self, account: Account) -> bool:
        try:
            secret = self._token_file.read_text().strip()
            owner, _ = await self._tokens.authenticate(secret)
        except (OSError, UnicodeDecodeError, InvalidTokenError):
            return False
        return owner.account_id == account.account_id


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes the file with mode 0600, so that no other user can read it at any moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".token-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
