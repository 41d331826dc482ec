"""The credit of accounts as rows.

Each movement is one transaction: it locks its account, asks the pure ledger, and has the journal write it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import Database
from services.billing.errors import (
    HoldNotFoundError,
    HoldSettledError,
    IdempotencyKeyReusedError,
    NotCoveredError,
    SpentCreditError,
)
from services.billing.identity.account import Account
from services.billing.ledger import books
from services.billing.ledger import grants as lots
from services.billing.ledger.books import Balance, PostingKind, movement
from services.billing.ledger.budgets import Period, period_start
from services.billing.ledger.end_notice import EndNotice
from services.billing.ledger.grants import Grant
from services.billing.ledger.holds import NO_PURPOSE, Hold, HoldState, Purpose
from services.billing.ledger.wanted_time import WantedTime
from services.billing.store.account_store import read_account
from services.billing.store.budget_store import ChargedSums, limits_of
from services.billing.store.end_notice_store import EndNoticeStore
from services.billing.store.journal import Entry, Journal, TransactionKind
from services.billing.store.tables import grants, holds, transactions
from vocabulary.money import MICROSECOND, Tariff

# Built once: every job needs them, and building them takes longer than executing them.
_INSERT_HOLD = insert(holds)
_EARLIER = select(transactions).where(transactions.c.idempotency_key == bindparam("idempotency_key"))
_HOLD = select(holds).where(holds.c.hold_id == bindparam("hold_id"))
_LOCKED_HOLD = _HOLD.with_for_update()
_CHANGE_HOLD = (
    update(holds)
    .where(holds.c.hold_id == bindparam("changed_hold_id"))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in (
                "amount_micros",
                "charged_micros",
                "refunded_micros",
                "state",
                "expire_time",
                "billed_us",
                "gpu_type",
            )
        }
    )
)
# The keys that the scheduler gives to its holds; those of other services begin with their names.
_OF_SCHEDULER = select(holds, transactions.c.idempotency_key).join(
    transactions,
    (transactions.c.hold_id == holds.c.hold_id)
    & (transactions.c.kind == TransactionKind.HOLD.value)
    & transactions.c.idempotency_key.like("job:%"),
)
_GRANTS = select(grants).where(grants.c.account_id == bindparam("account_id"), grants.c.remaining_micros > 0)
_CHANGE_GRANT = (
    update(grants)
    .where(grants.c.grant_id == bindparam("changed_grant_id"))
    .values(remaining_micros=bindparam("new_remaining_micros"))
)


@dataclass(frozen=True)
class Receipt:
    """The result of a movement.

    `amount_micros` is what was moved: of a settlement the charge, which may be less than was asked for. `hold_micros`
    and `hold_charged_micros` are all that the hold is for, and all its charges. A repeated movement has no balance.
    """

    account_id: str
    amount_micros: int
    available_micros: int
    hold_id: str = ""
    hold_micros: int = 0
    hold_charged_micros: int = 0
    balance: Balance | None = None
    repeated: bool = False
    tariffs: Mapping[str, Tariff] = field(default_factory=dict[str, Tariff])


class LedgerStore:
    """Moves credit, once for each idempotency key.

    Each account is given `free_micros_per_day` on every day (UTC) on which it needs credit; what is left lapses at
    midnight. Locks are taken in one order: hold, account, journal.
    """

    def __init__(
        self,
        database: Database,
        journal: Journal,
        clock: Clock,
        new_id: Callable[[str], str],
        free_micros_per_day: int = 0,
        charged: ChargedSums | None = None,
        notices: EndNoticeStore | None = None,
    ) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock
        self._new_id = new_id
        self._free_micros_per_day = free_micros_per_day
        self._charged = charged or ChargedSums(database)
        self._notices = notices

    async def grant(
        self, account_id: str, amount_micros: int, key: str, description: str, expire_time: datetime | None = None
    ) -> Receipt:
        """Adds credit, which lapses at `expire_time` if one is given."""
        books.check_amount(amount_micros, least=1)
        wanted = _Wanted(TransactionKind.GRANT, account_id, amount_micros, key, description)
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            if earlier := await _earlier(connection, wanted):
                return earlier
            lots.check_expire_time(expire_time, self._clock.now())
            return await self._grant(connection, account, wanted, expire_time)

    async def revoke(self, account_id: str, amount_micros: int, key: str, description: str) -> Receipt:
        """Takes credit back that was granted by mistake; raises SpentCreditError if it is spent or on hold."""
        books.check_amount(amount_micros, least=1)
        wanted = _Wanted(TransactionKind.REVOCATION, account_id, amount_micros, key, description)
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            if earlier := await _earlier(connection, wanted):
                return earlier
            if amount_micros > account.balance.available_micros:
                raise SpentCreditError(amount_micros, account.balance.available_micros)
            await _spend(connection, account_id, amount_micros)
            return await self._record(
                connection, account, wanted, movement(account_id, PostingKind.REVOCATION, amount_micros)
            )

    async def hold(
        self,
        account_id: str,
        amount_micros: int,
        key: str,
        description: str,
        *,
        purpose: Purpose = NO_PURPOSE,
        tariffs: Mapping[str, Tariff] | None = None,
        expire_time: datetime | None = None,
    ) -> Receipt:
        """Puts credit aside; the receipt names the hold.

        Raises InsufficientCreditError, and BudgetExceededError if a hard budget of the account, the user or the queue
        has no room for it.
        """
        wanted = _Wanted(TransactionKind.HOLD, account_id, amount_micros, key, description)
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            # Prices may have changed since the first call, so a priced hold is compared without its amount.
            if earlier := await _earlier(connection, wanted, compare_amount=not tariffs):
                # Not locked: the account is already, and a settlement locks the hold first.
                held = await _read_hold(connection, _HOLD, earlier.hold_id)
                if tariffs and _sizes(tariffs) != _sizes(held.tariffs):
                    raise IdempotencyKeyReusedError(key)
                return replace(earlier, tariffs=held.tariffs)
            now = self._clock.now()
            lots.check_expire_time(expire_time, now)
            account = await self._up_to_date(connection, account, now)
            lines = books.hold(account_id, account.balance, amount_micros)
            await self._check_budgets(connection, account_id, purpose, amount_micros, now)
            made = Hold(
                self._new_id("hold"),
                account_id,
                amount_micros,
                expire_time=expire_time,
                tariffs=tariffs or {},
                purpose=purpose,
            )
            await connection.execute(_INSERT_HOLD, _hold_to_row(made))
            receipt = await self._record(connection, account, replace(wanted, hold_id=made.hold_id), lines)
            return replace(receipt, tariffs=made.tariffs)

    async def check_hold(self, account_id: str, amount_micros: int, purpose: Purpose = NO_PURPOSE) -> Receipt:
        """Refuses what `hold` would refuse, and puts nothing aside."""
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            now = self._clock.now()
            account = await self._up_to_date(connection, account, now)
            books.hold(account_id, account.balance, amount_micros)
            await self._check_budgets(connection, account_id, purpose, amount_micros, now)
            return Receipt(account_id, amount_micros, account.balance.available_micros)

    async def earlier_hold(self, account_id: str, key: str) -> Receipt | None:
        """The hold that this key has made; None if there is none. Raises IdempotencyKeyReusedError."""
        wanted = _Wanted(TransactionKind.HOLD, account_id, 0, key)
        async with self._database.reading() as connection:
            earlier = await _earlier(connection, wanted, compare_amount=False)
            if earlier is None:
                return None
            held = await _read_hold(connection, _HOLD, earlier.hold_id)
            return replace(earlier, tariffs=held.tariffs)

    async def key_of_hold(self, hold_id: str) -> str:
        """The key that made the hold; raises HoldNotFoundError."""
        query = select(transactions.c.idempotency_key).where(
            transactions.c.hold_id == hold_id, transactions.c.kind == TransactionKind.HOLD
        )
        async with self._database.reading() as connection:
            key = await connection.scalar(query)
        if key is None:
            raise HoldNotFoundError(hold_id)
        return str(key)

    async def extend(
        self,
        hold_id: str,
        amount_micros: int,
        key: str,
        description: str,
        expire_time: datetime | None = None,
        *,
        longest: timedelta | None = None,
    ) -> Receipt:
        """Puts more credit aside for an open hold, and moves its end if `expire_time` is given.

        If `longest` is given, the hold becomes the price of that time, which is the work's from its beginning, and
        `amount_micros` does not count. Raises NotCoveredError with the time that would be possible.
        """
        async with self._database.transaction() as connection:
            held = await _locked_hold(connection, hold_id)
            if longest is not None:
                amount_micros = held.missing_for(longest)
            books.check_amount(amount_micros)
            account = await read_account(connection, held.account_id, lock=True)
            wanted = _Wanted(TransactionKind.EXTENSION, account.account_id, amount_micros, key, description, hold_id)
            if earlier := await _earlier(connection, wanted, compare_amount=longest is None):
                # Nothing is missing for a time that the hold was extended to: a longer one is another request.
                if longest is not None and amount_micros:
                    raise IdempotencyKeyReusedError(key)
                return replace(earlier, hold_micros=held.amount_micros)
            now = self._clock.now()
            lots.check_expire_time(expire_time, now)
            extended = held.extend(amount_micros, expire_time)
            account = await self._up_to_date(connection, account, now)
            try:
                ours = held.remaining_micros
                lines = books.hold(account.account_id, account.balance, amount_micros, already_micros=ours)
                await self._check_budgets(connection, account.account_id, held.purpose, amount_micros, now)
            except NotCoveredError as error:
                if longest is None:
                    raise
                raise WantedTime(longest, held.tariffs, held.amount_micros).explain(error) from error
            await _write_hold(connection, extended)
            receipt = await self._record(connection, account, wanted, lines)
            return replace(receipt, hold_micros=extended.amount_micros)

    async def settle(
        self,
        hold_id: str,
        amount_micros: int,
        key: str,
        description: str,
        *,
        billable: tuple[timedelta, str] | None = None,
        in_all: bool = False,
        gpus: int = 0,
        final: bool = True,
        reason: str = "",
        notice: EndNotice | None = None,
    ) -> Receipt:
        """Charges a hold, at most what it still holds; if `final`, gives the rest back and ends it.

        The charge is the price of `billable`, a time and the type of the GPU that it was spent on, if the hold has
        prices, and else `amount_micros`. If `in_all`, the time is counted from the beginning of the work, and what
        parts have charged is left out of it. The work got so many `gpus`; 0: as many as the hold is for. `reason` says
        why the charge is less than the time that was used. A hold has one final settlement; `notice`, given with it,
        becomes a mail to its user.
        """
        kind = TransactionKind.SETTLEMENT if final else TransactionKind.PART_SETTLEMENT
        async with self._database.short_transaction() as connection:
            held = await _locked_hold(connection, hold_id)
            time = billable[0] if billable else timedelta(0)
            if in_all:
                time = held.unbilled(time)
            if billable and held.tariffs:
                amount_micros = held.price_of(time, billable[1], gpus)
            asked = books.check_amount(amount_micros)
            # Only an ended hold can have been settled before, unless it is charged in parts.
            if held.state is not HoldState.OPEN or not final:
                earlier = await _earlier_settlement(connection, held, kind, asked, key)
                if earlier:
                    return earlier
            account = await read_account(connection, held.account_id, lock=True)
            after = held.charge(asked, final=final, billable=time)
            if billable and time and held.tariffs:
                after = after.used_on(billable[1])
            charged = after.charged_micros - held.charged_micros
            released = held.remaining_micros if final else charged
            await _write_hold(connection, after)
            await _spend(connection, account.account_id, charged)
            if final and charged < asked:
                reason = reason or "capped at the hold"
            wanted = _Wanted(kind, account.account_id, charged, key, description, hold_id, reason)
            lines = books.charge(account.account_id, charged, released)
            receipt = await self._record(connection, account, wanted, lines)
            if notice and self._notices:
                await self._notices.add(connection, after, notice, billable[0] if billable else timedelta(0))
            return replace(receipt, hold_micros=after.amount_micros, hold_charged_micros=after.charged_micros)

    async def refund(self, hold_id: str, amount_micros: int, key: str, description: str) -> Receipt:
        """Gives a charge back, in whole or in part, as credit that does not expire."""
        books.check_amount(amount_micros, least=1)
        async with self._database.transaction() as connection:
            held = await _locked_hold(connection, hold_id)
            account = await read_account(connection, held.account_id, lock=True)
            wanted = _Wanted(TransactionKind.REFUND, account.account_id, amount_micros, key, description, hold_id)
            if earlier := await _earlier(connection, wanted):
                return earlier
            await _write_hold(connection, held.refund(amount_micros))
            lines = movement(account.account_id, PostingKind.REFUND, amount_micros)
            return await self._record(connection, account, wanted, lines, new_grant=True)

    async def expire_holds(self) -> int:
        """Gives the rest of every hold back whose time ran out; the number of holds."""
        due = select(holds.c.hold_id).where(
            holds.c.state == HoldState.OPEN.value, holds.c.expire_time <= self._clock.now()
        )
        async with self._database.reading() as connection:
            hold_ids = list(await connection.scalars(due))
        return sum([await self._expire_hold(hold_id) for hold_id in hold_ids])

    async def _expire_hold(self, hold_id: str) -> bool:
        async with self._database.transaction() as connection:
            held = await _locked_hold(connection, hold_id)
            account = await read_account(connection, held.account_id, lock=True)
            # Meanwhile it may have been settled or extended.
            if held.state is not HoldState.OPEN or held.expire_time is None or held.expire_time > self._clock.now():
                return False
            await _write_hold(connection, held.expire())
            rest, key = held.remaining_micros, f"hold-expiry:{hold_id}"
            wanted = _Wanted(TransactionKind.HOLD_EXPIRY, account.account_id, rest, key, "the hold expired", hold_id)
            await self._record(connection, account, wanted, books.charge(account.account_id, 0, rest))
            return True

    async def restored(self, lost: Sequence[str], kept: Sequence[str]) -> int:
        """Ends the holds of the scheduler's jobs in a ledger that was restored from a backup; the number of holds.

        `lost` are those of jobs that fail without a charge, `kept` those of jobs that go on. The scheduler's record is
        of a moment before: open holds besides are of jobs that it lacks, and lost ones may have been charged since.
        """
        why = "restored from a backup"
        open_ones = _OF_SCHEDULER.where(holds.c.state == HoldState.OPEN.value, holds.c.hold_id.not_in({*lost, *kept}))
        settled = _OF_SCHEDULER.where(holds.c.state == HoldState.SETTLED.value, holds.c.hold_id == bindparam("lost_id"))
        async with self._database.reading() as connection:
            nobodys = (await connection.execute(open_ones)).all()
            charged = [row for one in lost for row in await connection.execute(settled, {"lost_id": one})]
        for row in nobodys:
            await self.settle(row.hold_id, 0, f"{row.idempotency_key}:1", why, reason=why)
        charged = [row for row in charged if row.charged_micros > row.refunded_micros]
        for row in charged:
            left = row.charged_micros - row.refunded_micros
            await self.refund(row.hold_id, left, f"{row.idempotency_key}:refund", why)
        return len(nobodys) + len(charged)

    async def catch_up_budgets(self) -> None:
        """Adds up what was charged of budgets, so that holds need not wait for it."""
        await self._charged.catch_up(self._clock.now())

    async def expire_grants(self) -> int:
        """Lets expired grants lapse; the number of accounts that lost credit."""
        due = (
            select(grants.c.account_id)
            .where(grants.c.expire_time <= self._clock.now(), grants.c.remaining_micros > 0)
            .distinct()
        )
        async with self._database.reading() as connection:
            account_ids = list(await connection.scalars(due))
        lapsed = 0
        for account_id in account_ids:
            async with self._database.transaction() as connection:
                account = await read_account(connection, account_id, lock=True)
                after = await self._lapse(connection, account, self._clock.now())
                lapsed += after is not account
        return lapsed

    async def grants_of(self, account_id: str) -> Sequence[Grant]:
        """An account's grants, newest first."""
        query = select(grants).where(grants.c.account_id == account_id).order_by(grants.c.grant_id.desc())
        async with self._database.reading() as connection:
            await read_account(connection, account_id)
            return [_grant_from_row(row) for row in await connection.execute(query)]

    async def _grant(
        self, connection: AsyncConnection, account: Account, wanted: _Wanted, expire_time: datetime | None
    ) -> Receipt:
        lines = movement(account.account_id, PostingKind.GRANT, wanted.amount_micros)
        return await self._record(connection, account, wanted, lines, new_grant=True, grant_expire_time=expire_time)

    async def _up_to_date(self, connection: AsyncConnection, account: Account, now: datetime) -> Account:
        """The account after its expired grants have lapsed, and the day's free quota was given."""
        account = await self._lapse(connection, account, now)
        if not self._free_micros_per_day:
            return account
        midnight = period_start(Period.DAY, now)
        key = f"free:{account.account_id}:{midnight.date()}"
        if (await connection.execute(_EARLIER, {"idempotency_key": key})).one_or_none():
            return account
        wanted = _Wanted(
            TransactionKind.GRANT, account.account_id, self._free_micros_per_day, key, "free quota of the day"
        )
        receipt = await self._grant(connection, account, wanted, midnight + timedelta(days=1))
        return replace(account, balance=receipt.balance or account.balance)

    async def _lapse(self, connection: AsyncConnection, account: Account, now: datetime) -> Account:
        found = await _read_grants(connection, account.account_id)
        changed = lots.lapse(found, account.balance.held_micros, now)
        if not changed:
            return account
        before = {grant.grant_id: grant.remaining_micros for grant in found}
        lost = sum(before[grant.grant_id] - grant.remaining_micros for grant in changed)
        await _write_grants(connection, changed)
        # A grant can lapse in parts, as holds end; what remains tells the parts apart.
        key = f"grant-expiry:{changed[0].grant_id}:{before[changed[0].grant_id]}"
        wanted = _Wanted(TransactionKind.GRANT_EXPIRY, account.account_id, lost, key, "granted credit expired")
        lines = movement(account.account_id, PostingKind.EXPIRY, lost)
        receipt = await self._record(connection, account, wanted, lines)
        return replace(account, balance=receipt.balance or account.balance)

    async def _check_budgets(
        self, connection: AsyncConnection, account_id: str, purpose: Purpose, amount_micros: int, now: datetime
    ) -> None:
        for budget in await limits_of(connection, account_id, purpose):
            if budget.hard:
                spent = await self._charged.spent_micros(connection, budget, now)
                budget.check_room(spent, amount_micros)

    async def _record(
        self,
        connection: AsyncConnection,
        account: Account,
        wanted: _Wanted,
        lines: Sequence[books.Posting],
        *,
        new_grant: bool = False,
        grant_expire_time: datetime | None = None,
    ) -> Receipt:
        balance = account.balance.after(lines)
        entry = Entry(
            kind=wanted.kind,
            idempotency_key=wanted.key,
            amount_micros=wanted.amount_micros,
            postings=lines,
            account_id=account.account_id,
            hold_id=wanted.hold_id or None,
            description=books.description_text(wanted.description),
            reason=books.description_text(wanted.reason),
            available_micros=balance.available_micros,
        )
        seq = await self._journal.append(connection, entry)
        if new_grant:
            # A debt from before charges ended at their hold is paid first.
            debt = max(0, -account.balance.available_micros - account.balance.held_micros)
            made = Grant(
                seq,
                account.account_id,
                wanted.amount_micros,
                max(0, wanted.amount_micros - debt),
                self._clock.now(),
                grant_expire_time,
                entry.description,
            )
            await connection.execute(insert(grants).values(asdict(made)))
        return Receipt(
            account.account_id,
            wanted.amount_micros,
            balance.available_micros,
            wanted.hold_id,
            balance=balance,
        )


@dataclass(frozen=True)
class _Wanted:
    """A request to move credit. Description and reason do not count when a repeated key is compared."""

    kind: TransactionKind
    account_id: str
    amount_micros: int
    key: str
    description: str = ""
    hold_id: str = ""
    reason: str = ""


async def _earlier(connection: AsyncConnection, wanted: _Wanted, *, compare_amount: bool = True) -> Receipt | None:
    row = (await connection.execute(_EARLIER, {"idempotency_key": wanted.key})).one_or_none()
    if row is None:
        return None
    is_same = (row.kind, row.account_id) == (wanted.kind, wanted.account_id)
    is_same &= row.amount_micros == wanted.amount_micros or not compare_amount
    if not is_same or wanted.hold_id not in {"", row.hold_id}:
        raise IdempotencyKeyReusedError(wanted.key)
    return Receipt(row.account_id, row.amount_micros, row.available_micros, row.hold_id or "", repeated=True)


async def _earlier_settlement(
    connection: AsyncConnection, held: Hold, kind: TransactionKind, asked: int, key: str
) -> Receipt | None:
    """The answer of the settlement with this key; raises IdempotencyKeyReusedError if the key had another purpose."""
    row = (await connection.execute(_EARLIER, {"idempotency_key": key})).one_or_none()
    if row is None:
        return None
    if (row.kind, row.hold_id) != (kind, held.hold_id):
        raise IdempotencyKeyReusedError(key)
    # A charge that ended at its hold is less than was asked for.
    is_other = row.amount_micros > asked or (row.amount_micros < asked and held.charged_micros < held.amount_micros)
    # Since a part was charged, the hold may have been extended. The one last charge may not differ.
    if is_other and kind is TransactionKind.SETTLEMENT:
        raise HoldSettledError(held.hold_id, row.amount_micros)
    sums = held.amount_micros, held.charged_micros
    return Receipt(row.account_id, row.amount_micros, row.available_micros, held.hold_id, *sums, repeated=True)


async def _spend(connection: AsyncConnection, account_id: str, amount_micros: int) -> None:
    if amount_micros:
        await _write_grants(connection, lots.spend(await _read_grants(connection, account_id), amount_micros))


async def _read_grants(connection: AsyncConnection, account_id: str) -> Sequence[Grant]:
    return [_grant_from_row(row) for row in await connection.execute(_GRANTS, {"account_id": account_id})]


async def _write_grants(connection: AsyncConnection, changed: Sequence[Grant]) -> None:
    rows = [{"changed_grant_id": grant.grant_id, "new_remaining_micros": grant.remaining_micros} for grant in changed]
    if rows:
        await connection.execute(_CHANGE_GRANT, rows)


def _grant_from_row(row: Row[Any]) -> Grant:
    return Grant(
        grant_id=row.grant_id,
        account_id=row.account_id,
        amount_micros=row.amount_micros,
        remaining_micros=row.remaining_micros,
        create_time=row.create_time,
        expire_time=row.expire_time,
        description=row.description,
    )


async def _locked_hold(connection: AsyncConnection, hold_id: str) -> Hold:
    return await _read_hold(connection, _LOCKED_HOLD, hold_id)


async def _read_hold(connection: AsyncConnection, query: Select[Any], hold_id: str) -> Hold:
    row = (await connection.execute(query, {"hold_id": hold_id})).one_or_none()
    if row is None:
        raise HoldNotFoundError(hold_id)
    return Hold(
        hold_id=row.hold_id,
        account_id=row.account_id,
        amount_micros=row.amount_micros,
        charged_micros=row.charged_micros,
        refunded_micros=row.refunded_micros,
        billed=row.billed_us * MICROSECOND,
        state=HoldState(row.state),
        expire_time=row.expire_time,
        tariffs=_tariffs_from_text(row.prices),
        purpose=Purpose(row.subject, row.user_id, row.queue, row.problem, row.gpu_type),
    )


async def _write_hold(connection: AsyncConnection, hold: Hold) -> None:
    row = {
        "changed_hold_id": hold.hold_id,
        "new_amount_micros": hold.amount_micros,
        "new_charged_micros": hold.charged_micros,
        "new_refunded_micros": hold.refunded_micros,
        "new_state": hold.state.value,
        "new_expire_time": hold.expire_time,
        "new_billed_us": hold.billed // MICROSECOND,
        "new_gpu_type": hold.purpose.gpu_type,
    }
    await connection.execute(_CHANGE_HOLD, row)


def _hold_to_row(hold: Hold) -> dict[str, object]:
    return {
        "hold_id": hold.hold_id,
        "account_id": hold.account_id,
        "amount_micros": hold.amount_micros,
        "charged_micros": hold.charged_micros,
        "refunded_micros": hold.refunded_micros,
        "billed_us": hold.billed // MICROSECOND,
        "state": hold.state.value,
        "expire_time": hold.expire_time,
        "prices": _tariffs_to_text(hold.tariffs),
        **asdict(hold.purpose),
    }


def _sizes(tariffs: Mapping[str, Tariff]) -> Mapping[str, tuple[int, int]]:
    """What the work takes of each GPU type: that does not change, as prices do."""
    return {gpu_type: (tariff.eighths, tariff.gpus) for gpu_type, tariff in tariffs.items()}


def _tariffs_to_text(tariffs: Mapping[str, Tariff]) -> str:
    """Micro-dollars an hour of a GPU, microseconds of minimum and increment, eighths and GPUs, by GPU type."""
    return json.dumps(
        {
            gpu_type: [
                one.price_micros_per_hour,
                one.minimum // MICROSECOND,
                one.increment // MICROSECOND,
                one.eighths,
                one.gpus,
            ]
            for gpu_type, one in tariffs.items()
        }
    )


def _tariffs_from_text(text: str) -> Mapping[str, Tariff]:
    return {
        # Holds from before there were parts of GPUs have no sizes: they are of one whole GPU.
        gpu_type: Tariff(price, minimum * MICROSECOND, increment * MICROSECOND, *size)
        for gpu_type, (price, minimum, increment, *size) in json.loads(text).items()
    }
