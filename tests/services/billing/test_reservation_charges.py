"""A reservation is held for its whole time, charged every minute, extended and refunded, and the books say so."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given
from hypothesis import strategies as st
from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from servicekit.rpc.errors import RpcFailure, rpc_failure
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.billing.config import BillingSettings
from services.billing.errors import BudgetExceededError, IdempotencyKeyReusedError, InvalidFieldError
from services.billing.ledger.budgets import Period, Scope
from services.billing.ledger.holds import Hold, Purpose
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores
from services.billing.store.ledger_store import Receipt
from vocabulary.money import Tariff

if TYPE_CHECKING:
    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
EIGHT = Tariff(1_990_000, gpus=8)
PURPOSE = Purpose(subject="res_1", user_id="user_ada", queue="default", gpu_type="MI300X")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def stores(db: Database, settings: BillingSettings, clock: ManualClock) -> Stores:
    return build_stores(db, settings, clock)


async def account_with(stores: Stores, micros: int, name: str = "ada") -> str:
    account = await stores.accounts.create(name)
    await stores.ledger.grant(account.account_id, micros, f"grant:{name}", "a grant")
    return account.account_id


async def reserved(
    stores: Stores, account_id: str, time: timedelta, tariff: Tariff = EIGHT, name: str = "res_1"
) -> str:
    """A hold for the whole time."""
    purpose = Purpose(name, PURPOSE.user_id, PURPOSE.queue, "", PURPOSE.gpu_type)
    receipt = await stores.ledger.hold(
        account_id, tariff.cost_micros(time), name, "", purpose=purpose, tariffs={"MI300X": tariff}
    )
    return receipt.hold_id


async def used(stores: Stores, hold_id: str, time: timedelta, *, final: bool = False, key: str = "") -> Receipt:
    """Charges what was used so far, as the scheduler does."""
    key = key or (f"{hold_id}:end" if final else f"{hold_id}:{time}")
    said = f"reservation res_1: {time} of 8 MI300X"
    return await stores.ledger.settle(hold_id, 0, key, said, billable=(time, "MI300X"), in_all=True, final=final)


@given(
    st.lists(st.timedeltas(timedelta(0), timedelta(minutes=3)), min_size=1, max_size=40),
    st.integers(0, 10**7),
    st.sampled_from([timedelta(0), HOUR]),
    st.sampled_from([timedelta(microseconds=1), timedelta(seconds=7), MINUTE]),
    st.integers(1, 8),
)
def test_parts_in_any_order_cost_together_exactly_what_the_longest_of_them_costs_at_once(
    times: list[timedelta], price: int, minimum: timedelta, increment: timedelta, gpus: int
) -> None:
    tariff = Tariff(price, minimum, increment, gpus=gpus)
    hold = Hold("h", "a", tariff.cost_micros(2 * HOUR), tariffs={"MI300X": tariff})
    for time in times:
        new = hold.unbilled(time)
        hold = hold.charge(hold.price_of(new, "MI300X"), final=False, billable=new)
    assert hold.charged_micros == tariff.cost_micros(max(times))


@pytest.mark.slow
async def test_a_day_of_eight_gpus_in_1440_parts_costs_what_the_day_costs_and_is_one_line(
    stores: Stores, clock: ManualClock
) -> None:
    account_id = await account_with(stores, 400_000_000)
    hold_id = await reserved(stores, account_id, DAY)
    assert (await stores.accounts.get(account_id)).balance.held_micros == 382_080_000
    for minute in range(1, 1440):
        clock.advance(MINUTE)
        # Never at the full minute, so that every part has a remainder to round.
        receipt = await used(stores, hold_id, minute * MINUTE - timedelta(microseconds=7 * (minute % 1000) + 1))
        assert receipt.hold_charged_micros == EIGHT.cost_micros(
            minute * MINUTE - timedelta(microseconds=7 * (minute % 1000) + 1)
        )
    clock.advance(MINUTE)
    last = await used(stores, hold_id, DAY, final=True)
    assert (last.hold_charged_micros, last.available_micros) == (382_080_000, 17_920_000)
    statement = await stores.reports.statement(account_id, START, START + 2 * DAY)
    [_, line] = statement.lines
    assert (line.amount_micros, line.purpose.subject) == (-382_080_000, "res_1")
    assert (line.start_time, line.time) == (START + MINUTE, START + DAY)
    assert line.description.startswith("reservation res_1: 1 day")
    days = statement.usage_by(lambda one: one.time.date().isoformat())
    assert {day: (usage.works, usage.charged_micros) for day, usage in days.items()} == {
        "2026-01-01": (1, EIGHT.cost_micros(719 * MINUTE - timedelta(microseconds=7 * 719 + 1))),
        "2026-01-02": (1, 382_080_000 - days["2026-01-01"].charged_micros),
    }
    assert (await stores.postings.prove()).faults == []


async def test_a_part_that_is_late_lost_or_sent_by_two_schedulers_charges_no_time_twice_and_none_never(
    stores: Stores,
) -> None:
    account_id = await account_with(stores, 10**8)
    hold_id = await reserved(stores, account_id, HOUR)
    assert (await used(stores, hold_id, MINUTE, key="part:1")).amount_micros == 265_334
    # A new leader does not know of the part, and the clock has gone on.
    again = await used(stores, hold_id, MINUTE + timedelta(seconds=2), key="part:1")
    assert (again.amount_micros, again.repeated, again.hold_charged_micros) == (265_334, True, 265_334)
    # Part 2 is lost; 3 has its time.
    third = await used(stores, hold_id, 3 * MINUTE, key="part:3")
    assert third.hold_charged_micros == EIGHT.cost_micros(3 * MINUTE)
    late = await used(stores, hold_id, 2 * MINUTE, key="part:2")
    assert (late.amount_micros, late.hold_charged_micros) == (0, EIGHT.cost_micros(3 * MINUTE))
    end = await used(stores, hold_id, 10 * MINUTE, final=True)
    assert end.hold_charged_micros == EIGHT.cost_micros(10 * MINUTE)
    repeated = await used(stores, hold_id, 10 * MINUTE, final=True)
    assert (repeated.amount_micros, repeated.hold_charged_micros) == (end.amount_micros, end.hold_charged_micros)
    assert (await stores.postings.prove()).faults == []


async def test_the_statement_names_the_gpu_that_was_used_and_not_the_one_that_was_asked_for(stores: Stores) -> None:
    account_id = await account_with(stores, 10**8)
    tariffs = {"MI300X": EIGHT, "MI210": EIGHT}
    held = await stores.ledger.hold(account_id, 10**7, "res_1", "", purpose=PURPOSE, tariffs=tariffs)
    for final in (False, True):
        time = MINUTE * (1 + final), "mi210"
        await stores.ledger.settle(held.hold_id, 0, f"end:{final}", "", billable=time, in_all=True, final=final)
    statement = await stores.reports.statement(account_id, START, START + DAY)
    assert list(statement.usage_by(lambda line: line.purpose.gpu_type)) == ["MI210"]


async def test_minimum_and_increment_count_once_for_all_parts(stores: Stores) -> None:
    account_id = await account_with(stores, 10**8)
    tariff = Tariff(3_600_000, minimum=10 * MINUTE, increment=MINUTE)
    hold_id = await reserved(stores, account_id, HOUR, tariff)
    charged = [
        (await used(stores, hold_id, number * 50 * timedelta(seconds=1))).amount_micros for number in range(1, 15)
    ]
    assert charged[:12] == [600_000] + [0] * 11
    assert sum(charged) == tariff.cost_micros(14 * timedelta(seconds=50)) == 720_000
    assert (await used(stores, hold_id, 14 * timedelta(seconds=50), final=True)).amount_micros == 0


async def test_an_extension_makes_the_hold_the_price_of_the_whole_time(stores: Stores) -> None:
    account_id = await account_with(stores, 60_000_000)
    tariff = Tariff(1_990_000, increment=HOUR, gpus=8)
    hold_id = await reserved(stores, account_id, HOUR, tariff)
    await used(stores, hold_id, 30 * MINUTE)
    for _ in range(2):
        receipt = await stores.ledger.extend(hold_id, 0, "res_1:more:1", "", longest=90 * MINUTE)
        assert (receipt.hold_micros, receipt.available_micros) == (31_840_000, 28_160_000)
    with pytest.raises(IdempotencyKeyReusedError):
        await stores.ledger.extend(hold_id, 0, "res_1:more:1", "", longest=3 * HOUR)
    # A shorter time than it is for changes nothing.
    assert (await stores.ledger.extend(hold_id, 0, "res_1:less", "", longest=HOUR)).hold_micros == 31_840_000
    end = await used(stores, hold_id, 90 * MINUTE, final=True)
    assert end.hold_charged_micros == 31_840_000
    plain = await stores.ledger.hold(account_id, 5, "plain", "")
    with pytest.raises(InvalidFieldError, match="longest_time: the hold has no prices"):
        await stores.ledger.extend(plain.hold_id, 0, "plain:more", "", longest=HOUR)
    assert (await stores.postings.prove()).faults == []


async def test_time_above_the_hold_is_the_operators_and_stays_so_after_an_extension(stores: Stores) -> None:
    account_id = await account_with(stores, 10**8)
    hold_id = await reserved(stores, account_id, HOUR)
    assert (await used(stores, hold_id, 61 * MINUTE)).hold_charged_micros == 15_920_000
    await stores.ledger.extend(hold_id, 0, "more", "", longest=2 * HOUR)
    end = await used(stores, hold_id, 62 * MINUTE, final=True)
    assert end.hold_charged_micros == 15_920_000 + EIGHT.cost_micros(62 * MINUTE) - EIGHT.cost_micros(61 * MINUTE)


async def test_lost_time_is_refunded_during_and_after_a_reservation_and_never_more_than_was_charged(
    stores: Stores,
) -> None:
    account_id = await account_with(stores, 20_000_000)
    hold_id = await reserved(stores, account_id, HOUR)
    await used(stores, hold_id, 20 * MINUTE)
    await stores.ledger.refund(hold_id, 1_000_000, "refund:1", "10 minutes without a network")
    end = await used(stores, hold_id, 30 * MINUTE, final=True)
    assert end.hold_charged_micros == 7_960_000
    with pytest.raises(InvalidFieldError, match="from 1 to 6960000"):
        await stores.ledger.refund(hold_id, 6_960_001, "refund:2", "machine lost")
    after = await stores.ledger.refund(hold_id, 6_960_000, "refund:2", "machine lost")
    assert after.available_micros == 20_000_000
    statement = await stores.reports.statement(account_id, START, START + DAY)
    assert [(line.kind.value, line.amount_micros) for line in statement.lines] == [
        ("grant", 20_000_000),
        ("refund", 1_000_000),
        ("charge", -7_960_000),
        ("refund", 6_960_000),
    ]
    assert (await stores.postings.prove()).faults == []


async def test_a_hard_budget_counts_the_hold_while_it_is_open_and_each_days_charges_after_it(
    stores: Stores, clock: ManualClock
) -> None:
    account_id = await account_with(stores, 10**9)
    clock.advance(11 * HOUR)
    budget = await stores.budgets.set(Scope.QUEUE, "default", Period.DAY, 40_000_000, hard=True)
    hold_id = await reserved(stores, account_id, 2 * HOUR)
    with pytest.raises(BudgetExceededError):
        await reserved(stores, account_id, HOUR, name="res_2")
    for minute in range(20, 121, 20):
        clock.advance(20 * MINUTE)
        await used(stores, hold_id, minute * MINUTE, final=minute == 120)
    # 23:00 to 01:00: the charge of midnight belongs to the new day.
    [(_, spent)] = await stores.budgets.all_with_spent()
    assert spent == EIGHT.cost_micros(2 * HOUR) - EIGHT.cost_micros(40 * MINUTE)
    assert budget.hard


async def test_the_cost_of_a_reservation_that_was_refunded_whole_has_its_reason_in_the_report(stores: Stores) -> None:
    account_id = await account_with(stores, 20_000_000)
    hold_id = await reserved(stores, account_id, HOUR)
    await used(stores, hold_id, 20 * MINUTE)
    await stores.ledger.settle(
        hold_id, 0, "end", "", billable=(20 * MINUTE, "MI300X"), in_all=True, reason="machine lost"
    )
    for amount, reasons in ((1, {}), (EIGHT.cost_micros(20 * MINUTE) - 1, {"res_1": "machine lost"})):
        await stores.ledger.refund(hold_id, amount, f"refund:{amount}", "")
        assert (await stores.reports.costs(START, START + DAY)).uncharged_reasons == reasons


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return rpc_failure(refused.value)


def a_day_of_eight(account_id: str, **fields: Any) -> pb.ReserveCreditRequest:
    return pb.ReserveCreditRequest(
        **{"account_id": account_id, "longest_time": duration_to_proto(DAY), "gpu_types": ["MI300X"]}
        | {"gpu_count": 8, "subject": "res_1", "idempotency_key": "res:res_1"}
        | fields
    )


async def test_a_refusal_says_how_long_the_credit_would_do(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    await stores.prices.take_settings({name: Tariff(1_990_000) for name in ("MI300X", "MI300A", "MI250X", "MI210")})
    account_id = await account_with(stores, 40_000_000)
    for validate_only in (True, False):
        refused = await failure(billing.ReserveCredit(a_day_of_eight(account_id, validate_only=validate_only)))
        assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
        assert refused.message == (
            "8 GPUs for 24 h need $382.08, and $40.00 is available: $342.08 is missing. "
            "Add credit; or ask for at most 2 h 30 min, which needs $39.80."
        )
    assert (await stores.accounts.get(account_id)).balance.held_micros == 0
    hours = a_day_of_eight(account_id, longest_time=duration_to_proto(150 * MINUTE))
    held = await billing.ReserveCredit(hours)
    assert held.amount_micros == 39_800_000
    more = pb.ExtendHoldRequest(
        hold_id=held.hold_id, longest_time=duration_to_proto(10 * HOUR), idempotency_key="res:res_1:more:1"
    )
    assert (await failure(billing.ExtendHold(more))).message == (
        "8 GPUs for 10 h in all need $119.40 more, and $0.20 is available: $119.20 is missing. "
        "Add credit; or ask for at most 2 h 30 min in all, which needs $0.00 more."
    )
    await stores.ledger.grant(account_id, 200_000_000, "more", "")
    await stores.budgets.set(Scope.ACCOUNT, account_id, Period.TOTAL, 60_000_000, hard=True)
    refused = await failure(billing.ExtendHold(more))
    assert "has $20.20 of $60.00 left" in refused.message
    assert refused.message.endswith("or ask for at most 3 h 46 min in all, which needs $20.165334 more.")
    more.longest_time.CopyFrom(duration_to_proto(3 * HOUR))
    assert (await billing.ExtendHold(more)).hold_micros == 47_760_000


async def test_validating_prices_a_hold_and_puts_nothing_aside(
    billing: BillingServiceAsyncStub, stores: Stores
) -> None:
    await stores.prices.take_settings({"MI300X": Tariff(1_990_000)})
    account_id = await account_with(stores, 400_000_000)
    quoted = await billing.ReserveCredit(a_day_of_eight(account_id, validate_only=True, idempotency_key=""))
    assert (quoted.hold_id, quoted.amount_micros, quoted.available_micros) == ("", 382_080_000, 400_000_000)
    assert quoted.prices_micros_per_hour == {"MI300X": 1_990_000}
    assert (await stores.accounts.get(account_id)).balance.held_micros == 0


async def test_a_settlement_takes_one_time(billing: BillingServiceAsyncStub, stores: Stores) -> None:
    await stores.prices.take_settings({"MI300X": Tariff(1_990_000)})
    account_id = await account_with(stores, 400_000_000)
    held = await billing.ReserveCredit(a_day_of_eight(account_id))
    part = pb.SettleChargeRequest(
        hold_id=held.hold_id,
        total_time=duration_to_proto(MINUTE),
        gpu_type="mi300x",
        partial=True,
        idempotency_key="res:res_1:part:1",
    )
    for _ in range(2):
        answer = await billing.SettleCharge(part)
        assert (answer.charged_micros, answer.hold_charged_micros) == (265_334, 265_334)
    both = pb.SettleChargeRequest(hold_id=held.hold_id, idempotency_key="both")
    both.billable_time.CopyFrom(duration_to_proto(MINUTE))
    both.total_time.CopyFrom(duration_to_proto(MINUTE))
    negative = pb.SettleChargeRequest(hold_id=held.hold_id, idempotency_key="negative")
    negative.total_time.CopyFrom(duration_to_proto(-MINUTE))
    for wrong in (both, negative):
        refused = await failure(billing.SettleCharge(wrong))
        assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, "total_time")


async def test_wrong_calls_for_a_reservation_have_an_error_each_and_leave_the_books_as_they_were(
    billing: BillingServiceAsyncStub, stores: Stores, clock: ManualClock
) -> None:
    await stores.prices.take_settings({"MI300X": Tariff(1_990_000)})
    account_id = await account_with(stores, 400_000_000)
    held = (await billing.ReserveCredit(a_day_of_eight(account_id))).hold_id
    expired = await stores.ledger.hold(account_id, 5, "old", "", tariffs={"MI300X": EIGHT}, expire_time=START + MINUTE)
    clock.advance(MINUTE)
    await stores.ledger.expire_holds()
    before = await stores.postings.prove()
    year, past = duration_to_proto(365 * DAY), instant_to_proto(START - DAY)
    extend, settle, refund = pb.ExtendHoldRequest, pb.SettleChargeRequest, pb.RefundChargeRequest
    minute, negative = duration_to_proto(MINUTE), duration_to_proto(-MINUTE)
    overflow = Duration(seconds=2**62)
    cases: list[tuple[Awaitable[Any], str]] = [
        (billing.ReserveCredit(a_day_of_eight(account_id, longest_time=negative, idempotency_key="k")), "longest_time"),
        (billing.ReserveCredit(a_day_of_eight(account_id, longest_time=overflow, idempotency_key="k")), "longest_time"),
        (billing.ReserveCredit(a_day_of_eight(account_id, gpu_count=-1, idempotency_key="k")), "gpu_count"),
        (billing.ReserveCredit(a_day_of_eight(account_id, gpu_types=["H100"], idempotency_key="k")), "gpu_type"),
        (billing.ReserveCredit(a_day_of_eight(account_id, expire_time=past, idempotency_key="k")), "expire_time"),
        (
            billing.ReserveCredit(a_day_of_eight(account_id, longest_time=year, idempotency_key="k")),
            "FAILED_PRECONDITION",
        ),
        (billing.ReserveCredit(a_day_of_eight(account_id, gpu_count=4)), "ALREADY_EXISTS"),
        (billing.ExtendHold(extend(hold_id=held, longest_time=negative, idempotency_key="k")), "longest_time"),
        (billing.ExtendHold(extend(hold_id=held, longest_time=year, idempotency_key="k")), "FAILED_PRECONDITION"),
        (billing.ExtendHold(extend(hold_id=held, amount_micros=-1, idempotency_key="k")), "amount_micros"),
        (billing.ExtendHold(extend(hold_id=held, longest_time=year)), "idempotency_key"),
        (
            billing.ExtendHold(extend(hold_id=expired.hold_id, longest_time=minute, idempotency_key="k")),
            "FAILED_PRECONDITION",
        ),
        (billing.SettleCharge(settle(hold_id=held, total_time=overflow, idempotency_key="k")), "total_time"),
        (
            billing.SettleCharge(settle(hold_id=held, total_time=minute, gpu_type="H100", idempotency_key="k")),
            "gpu_type",
        ),
        (
            billing.SettleCharge(
                settle(hold_id=expired.hold_id, total_time=minute, gpu_type="MI300X", idempotency_key="k")
            ),
            "FAILED_PRECONDITION",
        ),
        (billing.RefundCharge(refund(hold_id=held, amount_micros=1, idempotency_key="k")), "amount_micros"),
        (billing.RefundCharge(refund(hold_id="hold_none", amount_micros=1, idempotency_key="k")), "NOT_FOUND"),
    ]
    for number, (call, expected) in enumerate(cases):
        refused = await failure(call)
        assert expected in (refused.violations[0][0] if refused.violations else refused.code.name), (number, refused)
    assert await stores.postings.prove() == before
