"""The double-entry ledger: every movement of credit leaves one book of an account and enters another.

An account has four books. GRANTED is the source of credit, so its balance is minus the sum of all grants; AVAILABLE can
still be spent; HELD is put aside for jobs under way; CHARGED is spent. The four always sum to zero. A hold is settled
once: the whole hold is released, then the charge is taken from AVAILABLE. A charge may exceed its hold, and even take
AVAILABLE below zero: the machine time is already spent, and a visible debt is better than a hidden loss. Nothing new
can be held until the debt is paid.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from services.billing.errors import InsufficientCreditError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_AMOUNT_MICROS = 10**15
"""One billion dollars: far above any real amount, and far below an overflow of a 64-bit sum."""

MAX_KEY_CHARACTERS = 200
"""Space for a subject, an id and an attempt; the database indexes the key."""


MAX_DESCRIPTION_CHARACTERS = 500


class Book(StrEnum):
    """A part of an account's credit."""

    GRANTED = "granted"
    AVAILABLE = "available"
    HELD = "held"
    CHARGED = "charged"


class PostingKind(StrEnum):
    """The reason for a movement of credit."""

    GRANT = "grant"
    HOLD = "hold"
    RELEASE = "release"
    CHARGE = "charge"


_ROUTES: Mapping[PostingKind, tuple[Book, Book]] = {
    PostingKind.GRANT: (Book.GRANTED, Book.AVAILABLE),
    PostingKind.HOLD: (Book.AVAILABLE, Book.HELD),
    PostingKind.RELEASE: (Book.HELD, Book.AVAILABLE),
    PostingKind.CHARGE: (Book.AVAILABLE, Book.CHARGED),
}


@dataclass(frozen=True)
class Posting:
    """One line of the ledger: `amount_micros` is added to `book`."""

    kind: PostingKind
    book: Book
    amount_micros: int


@dataclass(frozen=True)
class Balance:
    """The sums of an account's postings."""

    granted_micros: int = 0
    charged_micros: int = 0
    held_micros: int = 0

    @property
    def available_micros(self) -> int:
        """Credit that can still be held; negative if charges exceeded their holds by more than the rest."""
        return self.granted_micros - self.charged_micros - self.held_micros

    def after(self, postings: Iterable[Posting]) -> Balance:
        """The balance after `postings`."""
        change = dict.fromkeys(Book, 0)
        for posting in postings:
            change[posting.book] += posting.amount_micros
        return Balance(
            granted_micros=self.granted_micros - change[Book.GRANTED],
            charged_micros=self.charged_micros + change[Book.CHARGED],
            held_micros=self.held_micros + change[Book.HELD],
        )


def grant(amount_micros: int) -> tuple[Posting, ...]:
    """The postings that add credit; raises InvalidFieldError if the amount is not positive."""
    _check_amount(amount_micros, least=1)
    return _movement(PostingKind.GRANT, amount_micros)


def hold(balance: Balance, amount_micros: int) -> tuple[Posting, ...]:
    """The postings that put credit aside; raises InsufficientCreditError if it exceeds the available credit."""
    _check_amount(amount_micros, least=0)
    if amount_micros > balance.available_micros:
        raise InsufficientCreditError(amount_micros, balance.available_micros)
    return _movement(PostingKind.HOLD, amount_micros)


def settle(held_micros: int, amount_micros: int) -> tuple[Posting, ...]:
    """The postings that release a hold of `held_micros` and take the charge."""
    _check_amount(amount_micros, least=0)
    return _movement(PostingKind.RELEASE, held_micros) + _movement(PostingKind.CHARGE, amount_micros)


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


def _movement(kind: PostingKind, amount_micros: int) -> tuple[Posting, ...]:
    if amount_micros == 0:
        return ()
    source, target = _ROUTES[kind]
    return Posting(kind, source, -amount_micros), Posting(kind, target, amount_micros)


def _check_amount(amount_micros: int, *, least: int) -> None:
    if not least <= amount_micros <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("amount_micros", f"must be from {least} to {MAX_AMOUNT_MICROS}; it is {amount_micros}")
