from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.rpc.errors import RpcFailure, rpc_failure
from servicekit.rpc.proto_time import duration_to_proto
from services.billing.config import BillingSettings
from services.billing.service.billing_service import Stores
from vocabulary.money import Tariff

if TYPE_CHECKING:
    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)


async def open_account(stores: Stores, grant_micros: int = 100, name: str = "ada") -> str:
    account_id = (await stores.users.create(name)).account_id
    await stores.ledger.grant(account_id, grant_micros, f"first-grant:{account_id}", "First grant")
    return account_id


async def test_a_job_is_held_and_charged(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    account_id = await open_account(stores)
    held = await billing.ReserveCredit(
        pb.ReserveCreditRequest(account_id=account_id, amount_micros=90, idempotency_key="job:1")
    )
    assert (held.available_micros, held.amount_micros) == (10, 90)
    settled = await billing.SettleCharge(
        pb.SettleChargeRequest(hold_id=held.hold_id, amount_micros=85, idempotency_key="job:1:1")
    )
    assert (settled.charged_micros, settled.available_micros) == (85, 15)
    balance = await billing.GetBalance(pb.GetBalanceRequest(account_id=account_id))
    assert balance == pb.GetBalanceResponse(
        account_id=account_id,
        account_name="ada",
        granted_micros=100,
        charged_micros=85,
        available_micros=15,
        alert_threshold_permille=800,
        alert_fired=True,
    )


async def test_postings_come_newest_first_in_pages(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    account_id = await open_account(stores)
    held = await billing.ReserveCredit(
        pb.ReserveCreditRequest(
            account_id=account_id, amount_micros=60, idempotency_key="job:1", description="soft\x00max"
        )
    )
    await billing.SettleCharge(
        pb.SettleChargeRequest(hold_id=held.hold_id, amount_micros=25, idempotency_key="job:1:1")
    )
    first = await billing.ListPostings(pb.ListPostingsRequest(account_id=account_id, page_size=3))
    second = await billing.ListPostings(
        pb.ListPostingsRequest(account_id=account_id, page_size=3, page_token=first.next_page_token)
    )
    assert [(posting.kind, posting.amount_micros) for posting in (*first.postings, *second.postings)] == [
        (pb.POSTING_KIND_CHARGE, -25),
        (pb.POSTING_KIND_RELEASE, 60),
        (pb.POSTING_KIND_HOLD, -60),
        (pb.POSTING_KIND_GRANT, 100),
    ]
    assert first.postings[2].description == "softmax"
    assert second.next_page_token == ""


async def test_page_tokens_of_nobodys_making_are_refused(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    ada, bob = await open_account(stores), await open_account(stores, name="bob")
    await billing.GrantCredit(pb.GrantCreditRequest(account_id=bob, amount_micros=1, idempotency_key="more"))
    page = await billing.ListPostings(pb.ListPostingsRequest(account_id=bob, page_size=1))
    for token in ("nonsense", "////", page.next_page_token):
        refused = await failure(billing.ListPostings(pb.ListPostingsRequest(account_id=ada, page_token=token)))
        assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


async def test_refusals_have_the_statuses_of_the_proto(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    account_id = await open_account(stores)
    reserve, settle = pb.ReserveCreditRequest, pb.SettleChargeRequest
    cases: list[tuple[Awaitable[Any], grpc.StatusCode, str]] = [
        (
            billing.ReserveCredit(reserve(account_id="none", amount_micros=1, idempotency_key="k")),
            grpc.StatusCode.NOT_FOUND,
            "",
        ),
        (
            billing.ReserveCredit(reserve(account_id=account_id, amount_micros=-1, idempotency_key="k")),
            grpc.StatusCode.INVALID_ARGUMENT,
            "amount_micros",
        ),
        (
            billing.ReserveCredit(reserve(account_id=account_id, amount_micros=1)),
            grpc.StatusCode.INVALID_ARGUMENT,
            "idempotency_key",
        ),
        (
            billing.ReserveCredit(reserve(account_id=account_id, amount_micros=101, idempotency_key="k")),
            grpc.StatusCode.FAILED_PRECONDITION,
            "",
        ),
        (
            billing.SettleCharge(settle(hold_id="none", amount_micros=1, idempotency_key="k")),
            grpc.StatusCode.NOT_FOUND,
            "",
        ),
        (billing.GetBalance(pb.GetBalanceRequest(account_id="none")), grpc.StatusCode.NOT_FOUND, ""),
    ]
    for call, code, field in cases:
        refused = await failure(call)
        assert (refused.code, refused.violations[0][0] if refused.violations else "") == (code, field)


def usage(sequence: int = 1, seconds: int = 3600, price: int = 1_990_000) -> pb.RecordMachineUsageRequest:
    start, end = Timestamp(), Timestamp()
    start.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC))
    end.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
    return pb.RecordMachineUsageRequest(
        machine_id="m1", sequence=sequence, start_time=start, end_time=end, price_micros_per_hour=price
    )


async def test_machine_usage_counts_once_for_each_sequence_number(
    billing: BillingServiceAsyncStub, stores: Stores
) -> None:
    for request in (usage(), usage(), usage(sequence=2, seconds=1800)):
        await billing.RecordMachineUsage(request)
    assert await stores.usage.total_cost_micros() == 1_990_000 + 995_000


async def test_the_machine_budget_is_the_grant_less_nothing_that_the_caller_counts_itself(
    billing: BillingServiceAsyncStub,
) -> None:
    other = usage()
    other.machine_id = "m2"
    for request in (usage(), other):
        await billing.RecordMachineUsage(request)
    everything = await billing.GetMachineBudget(pb.GetMachineBudgetRequest())
    assert (everything.budget_micros, everything.spent_micros) == (1_400_000_000, 2 * 1_990_000)
    besides = await billing.GetMachineBudget(pb.GetMachineBudgetRequest(besides_machine_ids=["m1", "m9"]))
    assert besides.spent_micros == 1_990_000


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (usage(seconds=-1), "end_time"),
        (usage(price=-1), "price_micros_per_hour"),
        (usage(sequence=0), "sequence"),
    ],
)
async def test_impossible_machine_usage_is_refused(
    billing: BillingServiceAsyncStub, stores: Stores, request_: pb.RecordMachineUsageRequest, field: str
) -> None:
    refused = await failure(billing.RecordMachineUsage(request_))
    assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, field)
    assert await stores.usage.total_cost_micros() == 0


async def test_a_hold_keeps_the_price_of_its_moment_and_a_time_is_charged_by_it(
    billing: BillingServiceAsyncStub,
    stores: Stores,
) -> None:
    await stores.prices.take_settings(BillingSettings().price_tariffs())
    account_id = await open_account(stores, grant_micros=10_000_000)
    held = await billing.ReserveCredit(
        pb.ReserveCreditRequest(
            account_id=account_id,
            longest_time=duration_to_proto(timedelta(minutes=15)),
            gpu_types=["MI300X"],
            idempotency_key="job:1",
            subject="job_1",
        )
    )
    assert held.amount_micros == 497_500
    settlement = pb.SettleChargeRequest(
        hold_id=held.hold_id,
        billable_time=duration_to_proto(timedelta(seconds=426.83)),
        gpu_type="MI300X",
        idempotency_key="job:1:1",
    )
    for _ in range(2):
        assert (await billing.SettleCharge(settlement)).charged_micros == 235_943


async def test_a_refusal_says_what_is_missing_and_what_would_be_possible(
    billing: BillingServiceAsyncStub, stores: Stores
) -> None:
    await stores.prices.take_settings({name: Tariff(micros) for name, micros in PRICES.items()})
    account_id = await open_account(stores, grant_micros=1_000_000)

    def wanted(key: str, gpu_type: str) -> pb.ReserveCreditRequest:
        quarter = duration_to_proto(timedelta(minutes=15))
        return pb.ReserveCreditRequest(
            account_id=account_id, longest_time=quarter, gpu_types=[gpu_type], idempotency_key=key
        )

    await billing.ReserveCredit(wanted("job:1", "MI250X"))
    refused = await failure(billing.ReserveCredit(wanted("job:2", "MI300X")))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert refused.message == (
        "1 GPU for 15 min needs $1.00, and $0.50 is available: $0.50 is missing. Add credit; or wait for the jobs "
        "under way, which have $0.50 on hold; or ask for at most 7 min, which needs $0.466667; or ask for MI250X, "
        "which needs $0.50; or ask for MI210, which needs $0.25."
    )
    by_amount = pb.ReserveCreditRequest(account_id=account_id, amount_micros=600_000, idempotency_key="job:3")
    assert "ask for" not in (await failure(billing.ReserveCredit(by_amount))).message


async def test_a_reservation_is_held_extended_charged_by_the_minute_and_refunded(
    billing: BillingServiceAsyncStub,
    stores: Stores,
) -> None:
    account_id = await open_account(stores, grant_micros=1000)
    held = await billing.ReserveCredit(
        pb.ReserveCreditRequest(account_id=account_id, amount_micros=300, idempotency_key="res:1")
    )
    extended = await billing.ExtendHold(
        pb.ExtendHoldRequest(hold_id=held.hold_id, amount_micros=100, idempotency_key="res:1:more")
    )
    assert extended.available_micros == 600
    part = pb.SettleChargeRequest(hold_id=held.hold_id, amount_micros=150, idempotency_key="res:1:1", partial=True)
    assert (await billing.SettleCharge(part)).available_micros == 600
    last = pb.SettleChargeRequest(hold_id=held.hold_id, amount_micros=50, idempotency_key="res:1:end")
    assert (await billing.SettleCharge(last)).available_micros == 800
    refund = pb.RefundChargeRequest(hold_id=held.hold_id, amount_micros=200, idempotency_key="res:1:refund")
    assert (await billing.RefundCharge(refund)).available_micros == 1000
    grants = await billing.ListGrants(pb.ListGrantsRequest(account_id=account_id))
    assert [grant.remaining_micros for grant in grants.grants] == [200, 800]


async def test_budgets_are_set_listed_and_removed(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    account_id = await open_account(stores)
    limit = pb.Budget(
        scope=pb.BUDGET_SCOPE_ACCOUNT, subject=account_id, period=pb.BUDGET_PERIOD_DAY, limit_micros=50, hard=True
    )
    set_again = [(await billing.SetBudget(pb.SetBudgetRequest(budget=limit))).budget_id for _ in range(2)]
    refused = await failure(
        billing.ReserveCredit(pb.ReserveCreditRequest(account_id=account_id, amount_micros=51, idempotency_key="k"))
    )
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    limit.budget_id, limit.subject_name = set_again[-1], "ada"
    assert list((await billing.ListBudgets(pb.ListBudgetsRequest())).budgets) == [limit]
    await billing.RemoveBudget(pb.RemoveBudgetRequest(budget_id=limit.budget_id))
    gone = await failure(billing.RemoveBudget(pb.RemoveBudgetRequest(budget_id=limit.budget_id)))
    assert gone.code is grpc.StatusCode.NOT_FOUND
    for field, wrong in {
        "scope": pb.Budget(subject="a", period=pb.BUDGET_PERIOD_DAY),
        "subject": pb.Budget(scope=pb.BUDGET_SCOPE_ACCOUNT, period=pb.BUDGET_PERIOD_DAY),
        "period": pb.Budget(scope=pb.BUDGET_SCOPE_ACCOUNT, subject=account_id),
        "amount_micros": pb.Budget(
            scope=pb.BUDGET_SCOPE_ACCOUNT, subject=account_id, period=pb.BUDGET_PERIOD_DAY, limit_micros=-1
        ),
    }.items():
        refused = await failure(billing.SetBudget(pb.SetBudgetRequest(budget=wrong)))
        assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, field)


PAST = Timestamp(seconds=1)
PRICES = {"MI300X": 4_000_000, "MI300A": 3_000_000, "MI250X": 2_000_000, "MI210": 1_000_000}
"""Micro-dollars an hour."""


@pytest.mark.parametrize(
    ("method", "request_message", "field"),
    [
        ("ReserveCredit", pb.ReserveCreditRequest(expire_time=PAST), "expire_time"),
        ("ReserveCredit", pb.ReserveCreditRequest(gpu_types=["H100"]), "gpu_type"),
        ("ReserveCredit", pb.ReserveCreditRequest(longest_time=Duration(seconds=1)), "gpu_types"),
        ("ReserveCredit", pb.ReserveCreditRequest(longest_time=Duration(seconds=-1), gpu_types=["MI300X"]), "longest"),
        ("ReserveCredit", pb.ReserveCreditRequest(amount_micros=2**62), "amount_micros"),
        ("GrantCredit", pb.GrantCreditRequest(amount_micros=5, expire_time=PAST), "expire_time"),
        ("GrantCredit", pb.GrantCreditRequest(amount_micros=-5), "amount_micros"),
        ("RevokeCredit", pb.RevokeCreditRequest(amount_micros=0), "amount_micros"),
    ],
)
async def test_bad_input_names_its_field_and_changes_nothing(
    billing: BillingServiceAsyncStub, stores: Stores, method: str, request_message: Any, field: str
) -> None:
    await stores.prices.take_settings(BillingSettings().price_tariffs())
    account_id = await open_account(stores)
    request = type(request_message)()
    request.CopyFrom(request_message)
    request.account_id, request.idempotency_key = account_id, "key"
    before = await stores.postings.prove()
    refused = await failure(getattr(billing, method)(request))
    assert (refused.code, refused.violations[0][0][: len(field)]) == (grpc.StatusCode.INVALID_ARGUMENT, field)
    assert await stores.postings.prove() == before


async def test_a_budget_of_a_queue_holds_for_what_is_submitted_to_it(
    billing: BillingServiceAsyncStub, stores: Stores
) -> None:
    account_id = await open_account(stores)
    await stores.prices.take_settings(BillingSettings().price_tariffs())

    def budget(queue: str) -> pb.Budget:
        return pb.Budget(
            scope=pb.BUDGET_SCOPE_QUEUE, subject=queue, period=pb.BUDGET_PERIOD_DAY, limit_micros=1, hard=True
        )

    def hold(name: str) -> pb.ReserveCreditRequest:
        return pb.ReserveCreditRequest(account_id=account_id, amount_micros=2, queue=name, idempotency_key=name)

    refused = await failure(billing.SetBudget(pb.SetBudgetRequest(budget=budget(" "))))
    await billing.SetBudget(pb.SetBudgetRequest(budget=budget("red")))
    over = await failure(billing.ReserveCredit(hold("red")))
    await billing.ReserveCredit(hold("blue"))

    assert refused.violations[0][0] == "subject"
    assert over.code is grpc.StatusCode.FAILED_PRECONDITION
    assert "red" in over.message
