from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from services.billing.errors import InsufficientCreditError, InvalidFieldError
from services.billing.ledger import books
from services.billing.ledger.books import Balance, Book

amounts = st.integers(min_value=0, max_value=books.MAX_AMOUNT_MICROS)


class LedgerMachine(RuleBasedStateMachine):
    """Any order of grants, holds and settlements keeps the books balanced."""

    holds = Bundle("holds")

    def __init__(self) -> None:
        super().__init__()
        self.postings: list[books.Posting] = []
        self.balance = Balance()

    def post(self, postings: tuple[books.Posting, ...]) -> None:
        self.postings.extend(postings)
        self.balance = self.balance.after(postings)

    @rule(amount=amounts.filter(bool))
    def grant(self, amount: int) -> None:
        self.post(books.grant(amount))

    @rule(target=holds, amount=amounts)
    def hold(self, amount: int) -> int:
        before = self.balance
        try:
            self.post(books.hold(before, amount))
        except InsufficientCreditError:
            assert amount > before.available_micros
            return 0
        assert self.balance.available_micros == before.available_micros - amount >= 0
        return amount

    @rule(held=consumes(holds), amount=amounts)
    def settle(self, held: int, amount: int) -> None:
        before = self.balance
        self.post(books.settle(held, amount))
        assert self.balance.available_micros == before.available_micros + held - amount
        assert self.balance.charged_micros == before.charged_micros + amount

    @invariant()
    def every_posting_has_its_counter_posting(self) -> None:
        assert sum(posting.amount_micros for posting in self.postings) == 0

    @invariant()
    def balances_are_sums(self) -> None:
        assert self.balance == Balance().after(self.postings)
        available = sum(p.amount_micros for p in self.postings if p.book is Book.AVAILABLE)
        assert self.balance.available_micros == available

    @invariant()
    def no_sum_but_the_available_one_is_negative(self) -> None:
        assert min(self.balance.granted_micros, self.balance.charged_micros, self.balance.held_micros) >= 0


TestLedger = LedgerMachine.TestCase


@pytest.mark.parametrize("amount", [-1, books.MAX_AMOUNT_MICROS + 1])
def test_amounts_out_of_range_are_refused_by_field(amount: int) -> None:
    for attempt in (
        lambda: books.grant(amount),
        lambda: books.hold(Balance(granted_micros=5), amount),
        lambda: books.settle(5, amount),
    ):
        with pytest.raises(InvalidFieldError) as refusal:
            attempt()
        assert refusal.value.violations[0][0] == "amount_micros"


def test_a_grant_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidFieldError):
        books.grant(0)


def test_refusing_a_hold_tells_both_amounts() -> None:
    with pytest.raises(InsufficientCreditError, match=r"\$2\.50.*\$1\.99"):
        books.hold(Balance(granted_micros=1_990_000), 2_500_000)


@given(held=amounts, charge=amounts)
def test_a_charge_above_its_hold_comes_from_what_is_available(held: int, charge: int) -> None:
    granted = held
    balance = Balance(granted_micros=granted).after(books.hold(Balance(granted_micros=granted), held))
    settled = balance.after(books.settle(held, charge))
    assert settled.held_micros == 0
    assert settled.available_micros == granted - charge
    if settled.available_micros < 0:
        with pytest.raises(InsufficientCreditError):
            books.hold(settled, 1)


@pytest.mark.parametrize("key", ["", "k" * 201, "job:\x00"])
def test_empty_endless_and_unprintable_keys_are_refused(key: str) -> None:
    with pytest.raises(InvalidFieldError, match="idempotency_key"):
        books.check_key(key)
