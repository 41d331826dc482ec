from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import HoldExpiredError, HoldSettledError, InsufficientCreditError, InvalidFieldError
from services.billing.ledger import books, grants
from services.billing.ledger.books import Balance, Book, Posting, PostingKind
from services.billing.ledger.grants import Grant
from services.billing.ledger.holds import Hold, HoldState
from vocabulary.money import Tariff

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)

amounts = st.integers(min_value=0, max_value=books.MAX_AMOUNT_MICROS)


@given(kind=st.sampled_from([kind for kind in PostingKind if kind is not PostingKind.COST]), amount=amounts)
def test_every_movement_leaves_one_book_and_enters_another(kind: PostingKind, amount: int) -> None:
    lines = books.movement("acct_1", kind, amount)
    assert sum(line.amount_micros for line in lines) == 0
    assert len({line.book for line in lines}) == len(lines) == (2 if amount else 0)


@given(st.lists(st.tuples(st.sampled_from(list(Book)[:5]), st.integers(-100, 100))))
def test_a_balance_follows_its_postings(changes: list[tuple[Book, int]]) -> None:
    lines = [Posting("acct_1", book, PostingKind.GRANT, amount) for book, amount in changes]
    after = Balance().after(lines)
    sums = {book: sum(line.amount_micros for line in lines if line.book is book) for book in Book}
    assert after == books.balance_of(sums)


@pytest.mark.parametrize("amount", [-1, books.MAX_AMOUNT_MICROS + 1])
def test_amounts_out_of_range_are_refused_by_field(amount: int) -> None:
    for attempt in (lambda: books.check_amount(amount), lambda: books.hold("a", Balance(granted_micros=5), amount)):
        with pytest.raises(InvalidFieldError) as refused:
            attempt()
        assert refused.value.violations[0][0] == "amount_micros"


def test_refusing_a_hold_names_both_amounts() -> None:
    with pytest.raises(InsufficientCreditError, match=r"This needs \$1.50, and \$1.00 is available"):
        books.hold("a", Balance(granted_micros=1_000_000), 1_500_000)


@pytest.mark.parametrize("key", ["", "x" * 201, "line\nbreak"])
def test_empty_endless_and_unprintable_keys_are_refused(key: str) -> None:
    with pytest.raises(InvalidFieldError, match="idempotency_key"):
        books.check_key(key)


@given(held=amounts, charges=st.lists(amounts, max_size=6))
def test_all_charges_of_a_hold_together_never_exceed_it(held: int, charges: list[int]) -> None:
    hold = Hold("h", "a", held)
    for charge in charges:
        hold = hold.charge(charge, final=False)
    assert hold.charged_micros == min(held, sum(charges))
    assert hold.charge(0, final=True).remaining_micros == 0


def test_an_ended_hold_takes_no_charge_and_no_extension() -> None:
    hold = Hold("h", "a", 10)
    for ended, error in ((hold.charge(3, final=True), HoldSettledError), (hold.expire(), HoldExpiredError)):
        with pytest.raises(error):
            ended.charge(1, final=True)
        with pytest.raises(error):
            ended.extend(1, None)
        with pytest.raises(error):
            ended.expire()
    assert hold.charge(3, final=True).state is HoldState.SETTLED


def test_a_time_is_charged_at_the_price_of_its_hold() -> None:
    hold = Hold("h", "a", 10**6, tariffs={"MI300X": Tariff(1_990_000)})
    assert hold.price_of(timedelta(seconds=426.83), "MI300X") == 235_943
    with pytest.raises(InvalidFieldError, match=r"MI210.*it has: MI300X"):
        hold.price_of(timedelta(seconds=1), "MI210")


def test_no_more_is_refunded_than_was_charged() -> None:
    hold = Hold("h", "a", 10).charge(6, final=True).refund(4)
    assert hold.refund(2).refunded_micros == 6
    for amount in (0, -1, 3):
        with pytest.raises(InvalidFieldError, match="amount_micros"):
            hold.refund(amount)


def lot(number: int, remaining: int, expires_in: timedelta | None = None) -> Grant:
    return Grant(number, "a", 100, remaining, NOW, NOW + expires_in if expires_in is not None else None)


def test_the_grant_that_expires_first_is_spent_first() -> None:
    spent = grants.spend([lot(1, 50), lot(2, 50, 2 * DAY), lot(3, 50, DAY)], 70)
    assert [(grant.grant_id, grant.remaining_micros) for grant in spent] == [(3, 0), (2, 30)]


def test_expired_credit_lapses_except_what_is_on_hold() -> None:
    lots = [lot(1, 50), lot(2, 50, -DAY)]
    assert [grant.remaining_micros for grant in grants.lapse(lots, 0, NOW)] == [0]
    assert [grant.remaining_micros for grant in grants.lapse(lots, 20, NOW)] == [20]
    assert not grants.lapse(lots, 80, NOW)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-3, 3) | st.none()), max_size=6), st.integers(0, 400))
def test_spending_takes_exactly_the_amount_while_there_is_credit(
    lots: list[tuple[int, int | None]], amount: int
) -> None:
    all_lots = [lot(number, left, None if days is None else days * DAY) for number, (left, days) in enumerate(lots)]
    before = {grant.grant_id: grant.remaining_micros for grant in all_lots}
    spent = grants.spend(all_lots, amount)
    taken = sum(before[grant.grant_id] - grant.remaining_micros for grant in spent)
    assert taken == min(amount, sum(before.values()))
    assert all(0 <= grant.remaining_micros < before[grant.grant_id] for grant in spent)


def test_a_grant_that_is_over_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="expire_time: must be in the future"):
        grants.check_expire_time(NOW, NOW)
