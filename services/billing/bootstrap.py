"""Creates the first administrator of a new installation, with an account, and the file with the token.

Every step may be repeated, so the next start completes one that was killed half way.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from servicekit.logging import get_logger
from services.billing.errors import IdempotencyKeyReusedError, InvalidTokenError, NameTakenError
from services.billing.identity.account import check_name, first_grant_key
from services.billing.identity.rights import Role
from services.billing.identity.user import User
from services.billing.store.account_store import AccountStore
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.token_store import TokenStore
from services.billing.store.user_store import UserStore

log = get_logger(__name__)


@dataclass(frozen=True)
class Bootstrap:
    """Adds the first user with a first grant, and keeps a working admin token in `token_file` (mode 0600)."""

    users: UserStore
    accounts: AccountStore
    ledger: LedgerStore
    tokens: TokenStore
    token_file: Path

    async def run(self, name: str, grant_micros: int) -> None:
        """Creates the missing parts and keeps the others; an existing account with a grant gets no second one.

        If somebody has disabled the user or taken the role away, another administrator has a working token, and the
        file is left as it is.
        """
        user = await self._user(check_name(name))
        account = await self.accounts.get(user.account_id)
        if grant_micros and account.balance.granted_micros == 0:
            # The setting may have another amount than when the first grant was made, and that one was taken back.
            with suppress(IdempotencyKeyReusedError):
                key = first_grant_key(account.account_id)
                await self.ledger.grant(account.account_id, grant_micros, key, "First grant")
        is_administrator = user.role is Role.ADMIN and user.disable_time is None
        if is_administrator and not await self._file_works(user):
            _, secret = await self.tokens.create(user.user_id, "bootstrap")
            _write_private(self.token_file, secret + "\n")
            log.info("wrote an admin token", extra={"file": str(self.token_file), "user": name})

    async def _user(self, name: str) -> User:
        found = await self.users.find_by_name(name)
        if found is not None:
            return found
        try:
            return await self.users.create(name, Role.ADMIN)
        except NameTakenError:
            # Another billing process on the same database was faster.
            return await self.users.get(name)

    async def _file_works(self, user: User) -> bool:
        try:
            secret = self.token_file.read_text().strip()
            caller = await self.tokens.authenticate(secret)
        except (OSError, UnicodeDecodeError, InvalidTokenError):
            return False
        return caller.user.user_id == user.user_id


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes the file with mode 0600, so that no other user can read it at any moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".token-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
