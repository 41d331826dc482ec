"""Converts billing's proto messages to and from its own types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.records import record_of
from servicekit.rpc.proto_of import proto_of
from services.billing.alert_rules.money import credit_alert
from services.billing.errors import InvalidFieldError
from services.billing.identity.account import Account
from services.billing.ledger.budgets import Budget as Limit
from services.billing.ledger.end_notice import EndNotice
from services.billing.ledger.holds import Purpose
from services.billing.ledger.machine_usage import MachineUsage, Use
from services.billing.store.ledger_store import Receipt
from services.billing.store.posting_store import AccountLine
from services.billing.wire.fields import (
    duration_from_proto,
    instant_from_proto,
    optional_instant,
    page_token,
    time_from_proto,
)
from vocabulary.money import MICROSECOND, Tariff

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 500


def balance_to_proto(account: Account, thresholds: Sequence[float]) -> pb.GetBalanceResponse:
    """An account's credit as a proto, with the threshold of `thresholds` that it is at."""
    balance = account.balance
    threshold, is_reached = credit_alert(balance, thresholds)
    return proto_of(
        pb.GetBalanceResponse,
        account,
        balance,
        account_name=account.name,
        alert_threshold_permille=round(threshold * 1000),
        alert_fired=is_reached,
    )


def line_to_proto(line: AccountLine) -> pb.Posting:
    """One line of an account as a proto."""
    return proto_of(pb.Posting, line, posting_id=f"post_{line.seq}")


def page_to_proto(account_id: str, lines: Sequence[AccountLine], page_size: int) -> pb.ListPostingsResponse:
    """A page of `page_size` lines; if `lines` has one more, the page has a token for the next."""
    shown = lines[:page_size]
    more = len(lines) > page_size
    return pb.ListPostingsResponse(
        postings=[line_to_proto(line) for line in shown],
        next_page_token=page_token(account_id, shown[-1].seq) if more else "",
    )


def page_size_from_proto(page_size: int) -> int:
    """Number of lines in a page; raises InvalidFieldError if it is negative."""
    if page_size < 0:
        raise InvalidFieldError("page_size", f"must be from 0 to {MAX_PAGE_SIZE}; it is {page_size}")
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def usage_from_proto(request: pb.RecordMachineUsageRequest) -> MachineUsage:
    """An interval of a machine from its proto."""
    start_time = instant_from_proto("start_time", request.start_time)
    has_increment = request.HasField("billing_increment")
    increment = duration_from_proto("billing_increment", request.billing_increment) if has_increment else MICROSECOND
    return record_of(
        MachineUsage,
        request,
        start_time=start_time,
        end_time=instant_from_proto("end_time", request.end_time),
        machine_start_time=optional_instant("machine_start_time", request, request.machine_start_time) or start_time,
        minimum_billed=duration_from_proto("minimum_billed", request.minimum_billed),
        billing_increment=increment,
        ready_time=optional_instant("ready_time", request, request.ready_time),
        uses=tuple(Use(use.subject, time_from_proto("uses", use.gpu_time)) for use in request.uses),
    )


def notice_from_proto(request: pb.SettleChargeRequest, *, is_scheduler: bool) -> EndNotice | None:
    """How the hold's work ended; None if that is not said. Raises InvalidFieldError."""
    if not request.HasField("notice"):
        return None
    if request.partial or not is_scheduler:
        raise InvalidFieldError("notice", "is the scheduler's alone, with the last settlement; leave it out")
    given = request.notice
    most_micros = given.most_micros if given.HasField("most_micros") else None
    return EndNotice(given.kind, given.name, given.status, given.well, given.message, most_micros)


def purpose_from_proto(request: pb.ReserveCreditRequest) -> Purpose:
    """The use of a hold."""
    gpu_type = request.gpu_types[0] if request.gpu_types else ""
    return Purpose(request.subject, request.user_id, request.queue, request.problem, gpu_type)


def hold_amount(request: pb.ReserveCreditRequest, tariffs: Mapping[str, Tariff]) -> int:
    """Micro-dollars to hold: the amount that is asked for, or the price of the longest time on the dearest GPU."""
    longest = longest_from_proto(request)
    if longest is None:
        return request.amount_micros
    if not tariffs:
        raise InvalidFieldError("gpu_types", "must name the GPU types if longest_time is set")
    return max(tariff.cost_micros(longest) for tariff in tariffs.values())


def longest_from_proto(request: pb.ReserveCreditRequest | pb.ExtendHoldRequest) -> timedelta | None:
    """The longest time that the work may take; None if an amount is given instead. Raises InvalidFieldError."""
    return time_from_proto("longest_time", request.longest_time) if request.HasField("longest_time") else None


def held_to_proto(receipt: Receipt, tariffs: Mapping[str, Tariff]) -> pb.ReserveCreditResponse:
    """A hold as a proto, with the prices that are kept with it."""
    prices = {name: one.price_micros_per_hour for name, one in tariffs.items()}
    return proto_of(pb.ReserveCreditResponse, receipt, prices_micros_per_hour=prices)


def billable_from_proto(request: pb.SettleChargeRequest) -> tuple[timedelta, str] | None:
    """The time to charge with its GPU type; None if an amount is given instead. Raises InvalidFieldError."""
    if request.HasField("total_time"):
        if request.HasField("billable_time"):
            raise InvalidFieldError("total_time", "is given beside billable_time; give one of them")
        return time_from_proto("total_time", request.total_time), request.gpu_type
    if not request.HasField("billable_time"):
        return None
    return time_from_proto("billable_time", request.billable_time), request.gpu_type


def budget_to_proto(budget: Limit, spent_micros: int) -> pb.Budget:
    """A budget as a proto, with what is spent of it."""
    return proto_of(pb.Budget, budget, spent_micros=spent_micros)
