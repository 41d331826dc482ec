"""BillingService: decode, ask, encode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import grpc
from wavepool.billing.v1 import billing_pb2 as pb
from wavepool.billing.v1 import billing_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.access import current_caller
from servicekit.rpc.proto_of import proto_of
from services.billing.alerts import money_metrics
from services.billing.alerts.money_source import MoneySource
from services.billing.errors import (
    AccountNotFoundError,
    BillingError,
    HoldNotFoundError,
    InvalidFieldError,
    NotAllowedError,
    NotCoveredError,
)
from services.billing.ledger import books, budgets, machine_usage
from services.billing.ledger.budgets import Period, Scope
from services.billing.ledger.wanted_time import WantedTime
from services.billing.prices.price_list import PriceList
from services.billing.prices.quote import sized
from services.billing.store.account_store import AccountStore
from services.billing.store.budget_store import BudgetStore
from services.billing.store.end_notice_store import EndNoticeStore
from services.billing.store.github_store import GithubStore
from services.billing.store.history_store import HistoryStore
from services.billing.store.key_store import KeyStore
from services.billing.store.ledger_store import LedgerStore, Receipt
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.outside_identity_store import OutsideIdentityStore
from services.billing.store.posting_store import PostingStore
from services.billing.store.price_store import PriceStore
from services.billing.store.report_store import ReportStore
from services.billing.store.team_store import TeamStore
from services.billing.store.ticket_store import TicketStore
from services.billing.store.token_store import TokenStore
from services.billing.store.user_store import UserStore
from services.billing.wire import billing as wire
from services.billing.wire.fields import member_from_proto, optional_instant, page_token_from_proto
from vocabulary.money import WHOLE_GPU, Tariff

Context = grpc.aio.ServicerContext[object, object]


MOST_ADVICE = 3
"""GPU types that a refusal advises."""


@dataclass(frozen=True)
class Stores:
    """All stores of billing."""

    accounts: AccountStore
    users: UserStore
    teams: TeamStore
    tokens: TokenStore
    tickets: TicketStore
    keys: KeyStore
    github: GithubStore
    outside_identities: OutsideIdentityStore
    ledger: LedgerStore
    notices: EndNoticeStore
    postings: PostingStore
    usage: MachineUsageStore
    budgets: BudgetStore
    reports: ReportStore
    prices: PriceStore
    history: HistoryStore


@dataclass(frozen=True)
class BillingServicer(billing_pb2_grpc.BillingServiceServicer):
    """The RPCs of the service; `billing.proto` documents them."""

    stores: Stores
    gpu_types: Sequence[str]
    clock: Clock
    thresholds: Sequence[float]
    machine_budget_micros: int
    readings: MoneySource

    async def ReserveCredit(self, request: pb.ReserveCreditRequest, context: Context) -> pb.ReserveCreditResponse:
        """Puts credit aside."""
        request = await self._of_caller(request)
        if request.validate_only:
            return wire.held_to_proto(*await self._check(request))
        key = books.check_key(request.idempotency_key)
        try:
            tariffs = await self._tariffs(request)
        except BillingError:
            # The hold may be from a time at which the GPU type had a price; its caller must be able to find it.
            receipt = await self.stores.ledger.earlier_hold(request.account_id, key)
            if receipt is None:
                raise
        else:
            try:
                receipt = await self.stores.ledger.hold(
                    request.account_id,
                    wire.hold_amount(request, tariffs),
                    key,
                    request.description,
                    purpose=wire.purpose_from_proto(request),
                    tariffs=tariffs,
                    expire_time=optional_instant("expire_time", request, request.expire_time),
                )
            except NotCoveredError as error:
                raise await self._explained(error, request, tariffs) from error
        self.readings.credit_moved(receipt.account_id)
        return wire.held_to_proto(receipt, receipt.tariffs)

    async def ExtendHold(self, request: pb.ExtendHoldRequest, context: Context) -> pb.ExtendHoldResponse:
        """Puts more credit aside for a hold."""
        key = await self._key_of_caller(request.idempotency_key, request.hold_id)
        end = optional_instant("expire_time", request, request.expire_time)
        amount, longest = request.amount_micros, wire.longest_from_proto(request)
        receipt = await self.stores.ledger.extend(
            request.hold_id, amount, key, request.description, end, longest=longest
        )
        self.readings.credit_moved(receipt.account_id)
        return pb.ExtendHoldResponse(available_micros=receipt.available_micros, hold_micros=receipt.hold_micros)

    async def SettleCharge(self, request: pb.SettleChargeRequest, context: Context) -> pb.SettleChargeResponse:
        """Charges a hold."""
        key = await self._key_of_caller(request.idempotency_key, request.hold_id)
        receipt = await self.stores.ledger.settle(
            request.hold_id,
            request.amount_micros,
            key,
            request.description,
            billable=wire.billable_from_proto(request),
            in_all=request.HasField("total_time"),
            gpus=request.gpu_count,
            final=not request.partial,
            reason=request.reason,
            notice=wire.notice_from_proto(request, is_scheduler=not current_caller().name),
        )
        money_metrics.count_charge(receipt)
        self.readings.credit_moved(receipt.account_id)
        return proto_of(pb.SettleChargeResponse, receipt, charged_micros=receipt.amount_micros)

    async def RefundCharge(self, request: pb.RefundChargeRequest, context: Context) -> pb.RefundChargeResponse:
        """Gives a charge back."""
        key = books.check_key(request.idempotency_key)
        receipt = await self.stores.ledger.refund(request.hold_id, request.amount_micros, key, request.description)
        self.readings.credit_moved(receipt.account_id)
        return pb.RefundChargeResponse(available_micros=receipt.available_micros)

    async def GetBalance(self, request: pb.GetBalanceRequest, context: Context) -> pb.GetBalanceResponse:
        """Gets an account's credit."""
        return wire.balance_to_proto(await self.stores.accounts.get(request.account_id), self.thresholds)

    async def ListPostings(self, request: pb.ListPostingsRequest, context: Context) -> pb.ListPostingsResponse:
        """Lists an account's postings."""
        page_size = wire.page_size_from_proto(request.page_size)
        before_seq = page_token_from_proto(request.account_id, request.page_token, "this account")
        lines = await self.stores.postings.lines(request.account_id, before_seq=before_seq, limit=page_size + 1)
        return wire.page_to_proto(request.account_id, lines, page_size)

    async def GrantCredit(self, request: pb.GrantCreditRequest, context: Context) -> pb.GrantCreditResponse:
        """Adds credit."""
        key = books.check_key(request.idempotency_key)
        end = optional_instant("expire_time", request, request.expire_time)
        account_id = await self.stores.accounts.id_of(request.account_id)
        receipt = await self.stores.ledger.grant(account_id, request.amount_micros, key, request.description, end)
        self.readings.credit_moved(receipt.account_id)
        return pb.GrantCreditResponse(available_micros=receipt.available_micros)

    async def RevokeCredit(self, request: pb.RevokeCreditRequest, context: Context) -> pb.RevokeCreditResponse:
        """Takes credit back."""
        key = books.check_key(request.idempotency_key)
        account_id = await self.stores.accounts.id_of(request.account_id)
        receipt = await self.stores.ledger.revoke(account_id, request.amount_micros, key, request.description)
        self.readings.credit_moved(receipt.account_id)
        return pb.RevokeCreditResponse(available_micros=receipt.available_micros)

    async def ListGrants(self, request: pb.ListGrantsRequest, context: Context) -> pb.ListGrantsResponse:
        """Lists an account's grants."""
        grants = await self.stores.ledger.grants_of(await self.stores.accounts.id_of(request.account_id))
        return proto_of(pb.ListGrantsResponse, grants=grants)

    async def SetBudget(self, request: pb.SetBudgetRequest, context: Context) -> pb.SetBudgetResponse:
        """Sets a budget."""
        wanted = request.budget
        scope = member_from_proto("scope", wanted.scope, pb.BudgetScope, Scope)
        period = member_from_proto("period", wanted.period, pb.BudgetPeriod, Period)
        subject = await self._subject(scope, budgets.check_subject(scope, wanted.subject))
        limit = budgets.check_limit(wanted.limit_micros)
        budget = await self.stores.budgets.set(scope, subject, period, limit, hard=wanted.hard)
        return pb.SetBudgetResponse(budget_id=budget.budget_id)

    async def ListBudgets(self, request: pb.ListBudgetsRequest, context: Context) -> pb.ListBudgetsResponse:
        """Lists all budgets."""
        return pb.ListBudgetsResponse(
            budgets=[wire.budget_to_proto(*found) for found in await self.stores.budgets.all_with_spent()]
        )

    async def RemoveBudget(self, request: pb.RemoveBudgetRequest, context: Context) -> pb.RemoveBudgetResponse:
        """Removes a budget."""
        await self.stores.budgets.remove(request.budget_id)
        return pb.RemoveBudgetResponse()

    async def RecordMachineUsage(
        self, request: pb.RecordMachineUsageRequest, context: Context
    ) -> pb.RecordMachineUsageResponse:
        """Records the cost of a machine's interval."""
        interval = machine_usage.check_usage(wire.usage_from_proto(request))
        money_metrics.count_machine_cost(interval, self.clock.now(), new=await self.stores.usage.record(interval))
        return pb.RecordMachineUsageResponse()

    async def GetMachineBudget(
        self, request: pb.GetMachineBudgetRequest, context: Context
    ) -> pb.GetMachineBudgetResponse:
        """Gets the budget for machines and their cost so far."""
        spent_micros = await self.stores.usage.total_cost_micros(request.besides_machine_ids)
        return pb.GetMachineBudgetResponse(budget_micros=self.machine_budget_micros, spent_micros=spent_micros)

    async def _of_caller(self, request: pb.ReserveCreditRequest) -> pb.ReserveCreditRequest:
        """The request; of another service with the account's id, and with key and subject as its own."""
        caller = current_caller()
        if not caller.name:
            return request
        own = pb.ReserveCreditRequest()
        own.CopyFrom(request)
        own.account_id = await self.stores.accounts.id_of(request.account_id)
        allowed: set[str] = set()
        for account in caller.accounts:
            with suppress(AccountNotFoundError):
                allowed.add(await self.stores.accounts.id_of(account))
        if own.account_id not in allowed:
            raise NotAllowedError(
                f"account_id: the service {caller.name} may not charge the account {request.account_id}, but only: "
                f"{', '.join(caller.accounts) or 'none'}. The operator lists them in WAVEPOOL_CALLERS_FILE."
            )
        if not request.validate_only:
            own.idempotency_key = caller.own(books.check_key(request.idempotency_key))
        own.subject = caller.own(request.subject)
        return own

    async def _key_of_caller(self, key: str, hold_id: str) -> str:
        """The key as the caller's own; raises HoldNotFoundError if another service did not make the hold."""
        caller = current_caller()
        if caller.name and not caller.owns(await self.stores.ledger.key_of_hold(hold_id)):
            raise HoldNotFoundError(hold_id)
        return caller.own(books.check_key(key))

    async def _subject(self, scope: Scope, subject: str) -> str:
        """The id of a budget's account or user, from its id or name, or a queue's name; raises NotFoundError."""
        match scope:
            case Scope.ACCOUNT:
                return await self.stores.accounts.id_of(subject)
            case Scope.USER:
                return (await self.stores.users.get(subject)).user_id
            case Scope.QUEUE:
                # The scheduler has the queues. A hold names one that exists, so a budget of another limits nothing.
                if not subject.strip():
                    raise InvalidFieldError(
                        "subject", "is empty; give the name of a queue: `wavepool queues` lists them"
                    )
                return subject.strip()

    async def _check(self, request: pb.ReserveCreditRequest) -> tuple[Receipt, Mapping[str, Tariff]]:
        tariffs = await self._tariffs(request)
        amount, purpose = wire.hold_amount(request, tariffs), wire.purpose_from_proto(request)
        try:
            return await self.stores.ledger.check_hold(request.account_id, amount, purpose), tariffs
        except NotCoveredError as error:
            raise await self._explained(error, request, tariffs) from error

    async def _explained(
        self, error: NotCoveredError, request: pb.ReserveCreditRequest, tariffs: Mapping[str, Tariff]
    ) -> NotCoveredError:
        longest = wire.longest_from_proto(request)
        if longest is None or not tariffs:
            return error
        return WantedTime(longest, tariffs).explain(error, await self._affordable(request, error.room_micros))

    async def _affordable(self, request: pb.ReserveCreditRequest, available_micros: int) -> dict[str, int]:
        """The GPU types that a hold for the same time would be possible for, with its amount, the dearest first."""
        if not request.HasField("longest_time"):
            return {}
        listed, now = await self._price_list(), self.clock.now()
        needed: dict[str, int] = {}
        for name in self.gpu_types:
            with suppress(BillingError):
                needed[name] = wire.hold_amount(request, {name: _of_size(listed, name, request, now)})
        possible = [name for name in needed if needed[name] <= available_micros]
        return {name: needed[name] for name in sorted(possible, key=lambda name: -needed[name])[:MOST_ADVICE]}

    async def _tariffs(self, request: pb.ReserveCreditRequest) -> dict[str, Tariff]:
        """The present prices of the GPU types; raises InvalidFieldError for an unknown one, or a wrong size."""
        if not request.gpu_types:
            return {}
        listed, now = await self._price_list(), self.clock.now()
        return {name: _of_size(listed, listed.gpu_type(name), request, now) for name in request.gpu_types}

    async def _price_list(self) -> PriceList:
        return PriceList(self.gpu_types, await self.stores.prices.periods())


def _of_size(listed: PriceList, gpu_type: str, request: pb.ReserveCreditRequest, now: datetime) -> Tariff:
    """The present price of what the work takes of GPUs of this type."""
    return sized(listed.price_at(now, gpu_type).tariff, request.eighths or WHOLE_GPU, request.gpu_count or 1)
