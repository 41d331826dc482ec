"""The double-entry ledger: every movement of credit leaves one book of an account and enters another.

An account has four books. GRANTED is where credit comes from, so its balance is minus all that was ever granted;
AVAILABLE is what may still be spent; HELD is put aside for jobs under way; CHARGED is spent. The four always sum to
zero. A hold is settled once: the whole hold is released, then the charge is taken from what is available. A charge may
exceed its hold, and even drive the available credit below zero: the machine time is spent by then, and a debt that
shows is better than a loss that does not. Nothing new can be held until the debt is made good.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from services.billing.errors import InsufficientCreditError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_AMOUNT_MICROS = 10**15
"""One billion dollars: far above any real amount, and far below what overflows a 64-bit sum."""

MAX_KEY_CHARACTERS = 200
"""Room for a subject, an id and an attempt; the database indexes it."""


MAX_DESCRIPTION_CHARACTERS = 500


class Book(StrEnum):
    """A part of an account's credit."""

    GRANTED = "granted"
    AVAILABLE = "available"
    HELD = "held"
    CHARGED = "charged"


class PostingKind(StrEnum):
    """Why credit moved."""

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
    """What an account's postings sum to."""

    granted_micros: int = 0
    charged_micros: int = 0
    held_micros: int = 0

    @property
    def available_micros(self) -> int:
        """What may still be held; below zero when charges exceeded their holds by more than was left."""
        return self.granted_micros - self.charged_micros - self.held_micros

    def after(self, postings: Iterable[Posting]) -> Balance:
        """The balance once `postings` are made."""
        change = dict.fromkeys(Book, 0)
        for posting in postings:
            change[posting.book] += posting.amount_micros
        return Balance(
            granted_micros=self.granted_micros - change[Book.GRANTED],
            charged_micros=self.charged_micros + change[Book.CHARGED],
            held_micros=self.held_micros + change[Book.HELD],
        )


def grant(amount_micros: int) -> tuple[Posting, ...]:
    """The postings that add credit; refuses an amount that is not positive."""
    _check_amount(amount_micros, least=1)
    return _movement(PostingKind.GRANT, amount_micros)


def hold(balance: Balance, amount_micros: int) -> tuple[Posting, ...]:
    """The postings that put credit aside; refuses more than is available."""
    _check_amount(amount_micros, least=0)
    if amount_micros > balance.available_micros:
        raise InsufficientCreditError(amount_micros, balance.available_micros)
    return _movement(PostingKind.HOLD, amount_micros)


def settle(held_micros: int, amount_micros: int) -> tuple[Posting, ...]:
    """The postings that give a hold of `held_micros` back and take the charge that is due."""
    _check_amount(amount_micros, least=0)
    return _movement(PostingKind.RELEASE, held_micros) + _movement(PostingKind.CHARGE, amount_micros)


def check_key(key: str) -> str:
    """The idempotency key, or a refusal where it is empty, too long or not printable."""
    if not 0 < len(key) <= MAX_KEY_CHARACTERS or not key.isprintable():
        raise InvalidFieldError(
            "idempotency_key",
            f"must have 1 to {MAX_KEY_CHARACTERS} printable characters; name what it is for, e.g. 'job:<id>'",
        )
    return key


def description_text(description: str) -> str:
    """A description that can be kept and shown: without unprintable characters, cut to a sane length."""
    return "".join(character for character in description if character.isprintable())[:MAX_DESCRIPTION_CHARACTERS]


def _movement(kind: PostingKind, amount_micros: int) -> tuple[Posting, ...]:
    if amount_micros == 0:
        return ()
    source, target = _ROUTES[kind]
    return Posting(kind, source, -amount_micros), Posting(kind, target, amount_micros)


def _check_amount(amount_micros: int, *, least: int) -> None:
    if not least <= amount_micros <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("amount_micros", f"must be from {least} to {MAX_AMOUNT_MICROS}; it is {amount_micros}")
