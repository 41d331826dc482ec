"""The double-entry ledger: each movement of money leaves one book and enters another, so all postings sum to zero.

An account has five books. GRANTED is the source of its credit, so its balance is minus the sum of all grants; AVAILABLE
can still be spent; HELD is put aside for jobs under way; CHARGED is spent; EXPIRED has lapsed with its grant. They sum
to zero. AVAILABLE never falls below zero: only what is available can be held, and only what is held can be charged.

The operator has books, too. CLOUD_GRANTED is the source of the credit that the cloud gives, CLOUD_CREDIT is what the
machines have left of it (it may fall below zero: a machine's time is spent when it is reported), and the cost of
machines is in PROVISIONING, IDLE, MINIMUM, USE and UNATTRIBUTED, by reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.billing.errors import InsufficientCreditError, InvalidFieldError

MAX_AMOUNT_MICROS = 10**15
"""One billion dollars: far above any real amount, and far below an overflow of a 64-bit sum."""

MAX_KEY_CHARACTERS = 200
"""Space for a subject, an id and an attempt; the database indexes the key."""


MAX_DESCRIPTION_CHARACTERS = 500

OPERATOR = "operator"
"""Owner of the operator's books. The id of an account begins with `acct_`."""


class Book(StrEnum):
    """One account of the ledger, in the sense of double entry."""

    GRANTED = "granted"
    AVAILABLE = "available"
    HELD = "held"
    CHARGED = "charged"
    EXPIRED = "expired"

    CLOUD_GRANTED = "cloud_granted"
    CLOUD_CREDIT = "cloud_credit"
    PROVISIONING = "provisioning"
    """Cost of machines from the order until they are ready; all of it if they never are."""
    IDLE = "idle"
    """Cost of GPUs that are ready and that no lease covers."""
    MINIMUM = "minimum"
    """Cost of time that a provider bills beyond the time that passed: its minimum, and its increment."""
    USE = "use"
    """Cost of GPUs under a lease."""
    UNATTRIBUTED = "unattributed"
    """Cost of machines whose use was not reported: intervals from before the ledger knew of use."""


COST_BOOKS = (Book.PROVISIONING, Book.IDLE, Book.MINIMUM, Book.USE, Book.UNATTRIBUTED)


class PostingKind(StrEnum):
    """The reason for a movement of money."""

    GRANT = "grant"
    HOLD = "hold"
    RELEASE = "release"
    CHARGE = "charge"
    REFUND = "refund"
    EXPIRY = "expiry"
    REVOCATION = "revocation"
    CLOUD_CREDIT = "cloud_credit"
    COST = "cost"


_ROUTES: Mapping[PostingKind, tuple[Book, Book]] = {
    PostingKind.GRANT: (Book.GRANTED, Book.AVAILABLE),
    PostingKind.HOLD: (Book.AVAILABLE, Book.HELD),
    PostingKind.RELEASE: (Book.HELD, Book.AVAILABLE),
    PostingKind.CHARGE: (Book.AVAILABLE, Book.CHARGED),
    PostingKind.REFUND: (Book.CHARGED, Book.AVAILABLE),
    PostingKind.EXPIRY: (Book.AVAILABLE, Book.EXPIRED),
    PostingKind.REVOCATION: (Book.AVAILABLE, Book.GRANTED),
    PostingKind.CLOUD_CREDIT: (Book.CLOUD_GRANTED, Book.CLOUD_CREDIT),
}


@dataclass(frozen=True)
class Posting:
    """One line of the ledger: `amount_micros` is added to `book` of `owner`, an account or the operator.

    `subject` names the machine of a cost, and for USE the run: `<job>:<attempt>`.
    """

    owner: str
    book: Book
    kind: PostingKind
    amount_micros: int
    subject: str = ""


@dataclass(frozen=True)
class Balance:
    """The sums of an account's postings."""

    granted_micros: int = 0
    charged_micros: int = 0
    held_micros: int = 0
    expired_micros: int = 0

    @property
    def available_micros(self) -> int:
        """Credit that can still be held. Below zero only for debts from before charges ended at their hold."""
        return self.granted_micros - self.charged_micros - self.held_micros - self.expired_micros

    def after(self, postings: Iterable[Posting]) -> Balance:
        """The balance after `postings` of the account."""
        change = dict.fromkeys(Book, 0)
        for posting in postings:
            change[posting.book] += posting.amount_micros
        return Balance(
            granted_micros=self.granted_micros - change[Book.GRANTED],
            charged_micros=self.charged_micros + change[Book.CHARGED],
            held_micros=self.held_micros + change[Book.HELD],
            expired_micros=self.expired_micros + change[Book.EXPIRED],
        )


def balance_of(sums: Mapping[Book, int]) -> Balance:
    """An account's balance from the sums of its books; a missing book counts as zero."""
    return Balance(
        granted_micros=-sums.get(Book.GRANTED, 0),
        charged_micros=sums.get(Book.CHARGED, 0),
        held_micros=sums.get(Book.HELD, 0),
        expired_micros=sums.get(Book.EXPIRED, 0),
    )


def movement(owner: str, kind: PostingKind, amount_micros: int) -> tuple[Posting, ...]:
    """The two postings of a movement; none for zero."""
    if amount_micros == 0:
        return ()
    source, target = _ROUTES[kind]
    return Posting(owner, source, kind, -amount_micros), Posting(owner, target, kind, amount_micros)


def hold(owner: str, balance: Balance, amount_micros: int, *, already_micros: int = 0) -> tuple[Posting, ...]:
    """The postings that put credit aside; raises InsufficientCreditError if it exceeds the available credit.

    So much is on hold for the same work already: waiting for it would bring nothing.
    """
    check_amount(amount_micros)
    if amount_micros > balance.available_micros:
        others_micros = balance.held_micros - already_micros
        raise InsufficientCreditError(amount_micros, balance.available_micros, others_micros)
    return movement(owner, PostingKind.HOLD, amount_micros)


def charge(owner: str, amount_micros: int, released_micros: int) -> tuple[Posting, ...]:
    """The postings that give `released_micros` of a hold back and charge `amount_micros` of them."""
    return movement(owner, PostingKind.RELEASE, released_micros) + movement(owner, PostingKind.CHARGE, amount_micros)


def check_key(key: str) -> str:
    """Gives the idempotency key back; raises InvalidFieldError if it is empty, too long or not printable."""
    if not 0 < len(key) <= MAX_KEY_CHARACTERS or not key.isprintable():
        raise InvalidFieldError(
            "idempotency_key",
            f"must have 1 to {MAX_KEY_CHARACTERS} printable characters; name what it is for, e.g. 'job:<id>'",
        )
    return key


def description_text(description: str) -> str:
    """A description fit to store and show: without unprintable characters, and at most 500 characters long."""
    return "".join(character for character in description if character.isprintable())[:MAX_DESCRIPTION_CHARACTERS]


def check_amount(amount_micros: int, *, least: int = 0) -> int:
    """Gives the amount back; raises InvalidFieldError if it is below `least` or absurdly large."""
    if not least <= amount_micros <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("amount_micros", f"must be from {least} to {MAX_AMOUNT_MICROS}; it is {amount_micros}")
    return amount_micros
