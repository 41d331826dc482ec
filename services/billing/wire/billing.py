"""Converts billing's proto messages to and from its own types."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.rpc.proto_time import instant_to_proto
from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import PostingKind
from services.billing.ledger.machine_usage import MachineUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.timestamp_pb2 import Timestamp

    from services.billing.alert_rules.budget import Budget
    from services.billing.identity.account import Account
    from services.billing.identity.api_token import ApiToken
    from services.billing.store.posting_store import AccountLine

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 500

_KINDS = {
    PostingKind.GRANT: pb.POSTING_KIND_GRANT,
    PostingKind.HOLD: pb.POSTING_KIND_HOLD,
    PostingKind.RELEASE: pb.POSTING_KIND_RELEASE,
    PostingKind.CHARGE: pb.POSTING_KIND_CHARGE,
}


def balance_to_proto(account: Account, budget: Budget) -> pb.GetBalanceResponse:
    """An account's credit as a proto."""
    balance = account.balance
    return pb.GetBalanceResponse(
        account_id=account.account_id,
        account_name=account.name,
        granted_micros=balance.granted_micros,
        charged_micros=balance.charged_micros,
        held_micros=balance.held_micros,
        available_micros=balance.available_micros,
        alert_threshold_permille=budget.threshold_permille,
        alert_fired=account.alert_fire_time is not None,
        admin=account.admin,
    )


def line_to_proto(line: AccountLine) -> pb.Posting:
    """One line of an account as a proto."""
    return pb.Posting(
        posting_id=line.posting_id,
        create_time=instant_to_proto(line.create_time),
        kind=_KINDS[line.kind],
        amount_micros=line.amount_micros,
        description=line.description,
        idempotency_key=line.idempotency_key,
    )


def page_to_proto(account_id: str, lines: Sequence[AccountLine], page_size: int) -> pb.ListPostingsResponse:
    """A page of `page_size` lines; if `lines` has one more, the page has a token for the next."""
    shown = lines[:page_size]
    more = len(lines) > page_size
    return pb.ListPostingsResponse(
        postings=[line_to_proto(line) for line in shown],
        next_page_token=_page_token(account_id, shown[-1].seq) if more else "",
    )


def page_size_from_proto(page_size: int) -> int:
    """Number of lines in a page; raises InvalidFieldError if it is negative."""
    if page_size < 0:
        raise InvalidFieldError("page_size", f"must be from 0 to {MAX_PAGE_SIZE}; it is {page_size}")
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def page_token_from_proto(account_id: str, page_token: str) -> int | None:
    """Sequence number before which the page begins; None for the first. A foreign token raises InvalidFieldError."""
    if not page_token:
        return None
    try:
        owner, seq = base64.urlsafe_b64decode(page_token.encode()).decode().split("/")
        if owner == account_id:
            return int(seq)
    except (ValueError, binascii.Error):
        pass
    raise InvalidFieldError("page_token", "was not given out for this account; begin again without one")


def _page_token(account_id: str, seq: int) -> str:
    return base64.urlsafe_b64encode(f"{account_id}/{seq}".encode()).decode()


def token_to_proto(token: ApiToken) -> pb.Token:
    """A token as a proto, without its secret."""
    return pb.Token(
        token_id=token.token_id,
        name=token.name,
        create_time=instant_to_proto(token.create_time),
        revoke_time=instant_to_proto(token.revoke_time),
        prefix=token.prefix,
    )


def usage_from_proto(request: pb.RecordMachineUsageRequest) -> MachineUsage:
    """An interval of a machine from its proto."""
    start_time = _instant_from_proto("start_time", request.start_time)
    has_start, has_increment = request.HasField("machine_start_time"), request.HasField("billing_increment")
    return MachineUsage(
        machine_id=request.machine_id,
        sequence=request.sequence,
        provider=request.provider,
        gpu_type=request.gpu_type,
        gpu_count=request.gpu_count,
        start_time=start_time,
        end_time=_instant_from_proto("end_time", request.end_time),
        price_micros_per_hour=request.price_micros_per_hour,
        final=request.final,
        machine_start_time=(
            _instant_from_proto("machine_start_time", request.machine_start_time) if has_start else start_time
        ),
        minimum_billed=_duration_from_proto("minimum_billed", request.minimum_billed),
        billing_increment=(
            _duration_from_proto("billing_increment", request.billing_increment)
            if has_increment
            else timedelta(microseconds=1)
        ),
    )


def _duration_from_proto(field: str, duration: Duration) -> timedelta:
    try:
        return duration.ToTimedelta()
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError(field, f"is not a duration: {error}") from error


def _instant_from_proto(field: str, timestamp: Timestamp) -> datetime:
    try:
        return timestamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError(field, f"is not an instant: {error}") from error
