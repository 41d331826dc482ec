"""Errors of billing.

BillingError
├── InvalidFieldError
├── InvalidTokenError
├── InsufficientCreditError
├── BudgetExceededError
├── HoldExpiredError
├── LastAdministratorTokenError
├── NotFoundError
│   ├── AccountNotFoundError
│   ├── HoldNotFoundError
│   ├── TokenNotFoundError
└── ConflictError
    ├── AccountNameTakenError
    ├── IdempotencyKeyReusedError
    └── HoldSettledError
"""

from __future__ import annotations

from vocabulary.money import dollars_text


class BillingError(Exception):
    """A refusal whose message is meant for the caller."""


class InvalidFieldError(BillingError):
    """A field of a request is wrong; `violations` has its name, with the fault and the fix."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}")
        self.violations = ((field, description),)


class InvalidTokenError(BillingError):
    """The API token is unknown or revoked."""

    def __init__(self) -> None:
        super().__init__("The API token is unknown or revoked. Ask an administrator for a new one.")


class InsufficientCreditError(BillingError):
    """The account's available credit does not cover a hold."""

    def __init__(self, amount_micros: int, available_micros: int) -> None:
        super().__init__(
            f"This needs {dollars_text(amount_micros)}, and {dollars_text(available_micros)} is available. Add credit."
        )
        self.amount_micros = amount_micros
        self.available_micros = available_micros


class BudgetExceededError(BillingError):
    """A hard budget does not allow a hold."""

    def __init__(self, budget: str, limit_micros: int, spent_micros: int, amount_micros: int) -> None:
        super().__init__(
            f"This needs {dollars_text(amount_micros)}, and the {budget} has "
            f"{dollars_text(max(0, limit_micros - spent_micros))} of {dollars_text(limit_micros)} left. "
            "Wait for the next period, or ask for a larger budget."
        )


class HoldExpiredError(BillingError):
    """The hold's time ran out, and its credit was given back."""

    def __init__(self, hold_id: str) -> None:
        super().__init__(f"Hold {hold_id!r} has expired, and its credit was given back. Make another hold.")


class LastAdministratorTokenError(BillingError):
    """The token is the last working token of all administrators' accounts."""

    def __init__(self, token_id: str) -> None:
        super().__init__(
            f"Token {token_id!r} is the last one of an administrator: without it, no request could make another. "
            "Make another token for an administrator first."
        )


class NotFoundError(BillingError):
    """The request names something that does not exist."""


class AccountNotFoundError(NotFoundError):
    """There is no such account."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"There is no account {account_id!r}.")


class HoldNotFoundError(NotFoundError):
    """There is no such hold."""

    def __init__(self, hold_id: str) -> None:
        super().__init__(f"There is no hold {hold_id!r}.")


class TokenNotFoundError(NotFoundError):
    """There is no such token."""

    def __init__(self, token_id: str) -> None:
        super().__init__(f"There is no token {token_id!r}.")


class ConflictError(BillingError):
    """The request contradicts a record, and the record stands."""


class AccountNameTakenError(ConflictError):
    """Another account has the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is an account named {name!r} already. Choose another name.")


class IdempotencyKeyReusedError(ConflictError):
    """The idempotency key was used with other content."""

    def __init__(self, key: str) -> None:
        super().__init__(f"The idempotency key {key!r} was used with other content. Use one key for one purpose.")


class HoldSettledError(ConflictError):
    """The hold is already settled with another amount or key."""

    def __init__(self, hold_id: str, charged_micros: int) -> None:
        super().__init__(
            f"Hold {hold_id!r} is settled already at {dollars_text(charged_micros)}; that settlement stands."
        )
