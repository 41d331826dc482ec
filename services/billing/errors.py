"""Errors of billing.

BillingError
├── InvalidFieldError
│   └── PastPriceError
├── InvalidTokenError
├── InvalidTicketError
├── NotCoveredError
│   ├── InsufficientCreditError
│   └── BudgetExceededError
├── SpentCreditError
├── HoldExpiredError
├── LastAdministratorError
├── UserDisabledError
├── NoKeysError
├── GithubOffError
├── NoticesOffError
├── NoAddressError
├── KeySourceAwayError
├── NotAllowedError
│   ├── NotInTeamError
│   └── ScopeMissingError
├── NotFoundError
│   ├── AccountNotFoundError
│   ├── KeyNotFoundError
│   ├── HoldNotFoundError
│   ├── TeamNotFoundError
│   ├── NoPriceError
│   ├── ChannelNotFoundError
│   ├── TokenNotFoundError
│   └── UserNotFoundError
├── ConflictError
│   ├── NameTakenError
│   ├── KeyTakenError
│   ├── GithubNameTakenError
│   ├── IdempotencyKeyReusedError
│   ├── PricePeriodsOverlapError
│   └── HoldSettledError
└── SignInError
    ├── SignInOffError
    ├── NotAdmittedError
    └── IdentityProviderError
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Self

from vocabulary.money import dollars_text


class BillingError(Exception):
    """A refusal whose message is meant for the caller."""


class InvalidFieldError(BillingError):
    """A field of a request is wrong; `violations` has its name, with the fault and the fix."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}")
        self.violations = ((field, description),)


class PastPriceError(InvalidFieldError):
    """A price was to be set for a time that is past."""

    def __init__(self, start_time: datetime, now: datetime) -> None:
        super().__init__(
            "start_time",
            f"must not be in the past, because prices never change what was charged; it is {_utc(start_time)}, and it "
            f"is now {_utc(now)}",
        )


class InvalidTokenError(BillingError):
    """The API token does not work, or no longer."""

    def __init__(self) -> None:
        super().__init__("The API token is unknown, revoked or expired, or its user is disabled. Use another.")


class InvalidTicketError(BillingError):
    """The ticket does not work here, or no longer."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The ticket does not work. {reason} Ask for another one.")


class NotCoveredError(BillingError):
    """Something does not cover a hold: `amount_micros` is more than `room_micros`, what there is."""

    def __init__(self, amount_micros: int, room_micros: int, lack: str, ways: Sequence[str]) -> None:
        self.amount_micros = amount_micros
        self.room_micros = room_micros
        self._lack = lack
        self._ways = ways
        super().__init__(self._text("This {}", ways))

    def explained(self, asked: str, possible: str, affordable: Mapping[str, int]) -> Self:
        """The refusal with the words for what was asked, in which `{}` stands for what it needs.

        `possible` is the time that there is enough for, and `affordable` has the GPU types that there is enough for,
        with what they need.
        """
        ways = [*self._ways]
        if possible:
            ways.append(f"ask for at most {possible}")
        ways += [f"ask for {name}, which needs {dollars_text(micros)}" for name, micros in affordable.items()]
        self.args = (self._text(asked, ways),)
        return self

    def _text(self, asked: str, ways: Sequence[str]) -> str:
        verb = "need" if " GPUs " in asked else "needs"
        return f"{asked.format(f'{verb} {dollars_text(self.amount_micros)}')}, and {self._lack}. {_one_of(ways)}."


class InsufficientCreditError(NotCoveredError):
    """The account's available credit does not cover a hold; `held_micros` is on hold for other work."""

    def __init__(self, amount_micros: int, available_micros: int, held_micros: int = 0) -> None:
        missing = dollars_text(amount_micros - available_micros)
        ways = ["add credit"]
        if held_micros:
            ways.append(f"wait for the jobs under way, which have {dollars_text(held_micros)} on hold")
        lack = f"{dollars_text(available_micros)} is available: {missing} is missing"
        super().__init__(amount_micros, available_micros, lack, ways)


class BudgetExceededError(NotCoveredError):
    """A hard budget does not allow a hold."""

    def __init__(self, budget: str, limit_micros: int, spent_micros: int, amount_micros: int) -> None:
        room_micros = max(0, limit_micros - spent_micros)
        lack = f"the {budget} has {dollars_text(room_micros)} of {dollars_text(limit_micros)} left"
        ways = ["wait for the next period", "ask for a larger budget"]
        super().__init__(amount_micros, room_micros, lack, ways)


class SpentCreditError(BillingError):
    """Credit cannot be taken back, because it is spent or on hold."""

    def __init__(self, amount_micros: int, available_micros: int) -> None:
        left = dollars_text(max(0, available_micros))
        super().__init__(
            f"{dollars_text(amount_micros)} cannot be taken back: {left} is available, and the rest is spent or on "
            "hold. Take back at most the available amount."
        )


class HoldExpiredError(BillingError):
    """The hold's time ran out, and its credit was given back."""

    def __init__(self, hold_id: str) -> None:
        super().__init__(f"Hold {hold_id!r} has expired, and its credit was given back. Make another hold.")


class LastAdministratorError(BillingError):
    """After the change, no administrator would have a working token."""

    def __init__(self) -> None:
        super().__init__(
            "No administrator with a working token would be left, so no other could be made. "
            "Make another token for an administrator, or another administrator, first."
        )


class UserDisabledError(BillingError):
    """The user is disabled."""

    def __init__(self, name: str) -> None:
        super().__init__(f"User {name!r} is disabled. An administrator can enable the user again.")


class NoKeysError(BillingError):
    """Somebody has no SSH key in a place; the message says where to add one."""


class GithubOffError(BillingError):
    """Keys from GitHub are off."""

    def __init__(self) -> None:
        super().__init__(
            "Keys from GitHub are off here. Use `wavepool keys add`; an operator turns them on with BILLING_GITHUB_URL."
        )


class NoticesOffError(BillingError):
    """No mail server is set."""

    def __init__(self) -> None:
        super().__init__("Mails to users are off here; an operator turns them on with BILLING_NOTICE_MAIL.")


class NoAddressError(BillingError):
    """The user has no address that mail can be sent to."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"User {name!r} has no e-mail address that mail can be sent to. It comes from a sign-in at the identity "
            f"provider, or from an administrator: `wavepool users change {name} --email ADDRESS`."
        )


class KeySourceAwayError(BillingError):
    """A place with keys does not answer as it should, and nothing is known from before."""

    def __init__(self, place: str, reason: str, retry_after: timedelta = timedelta(seconds=5)) -> None:
        super().__init__(
            f"The keys of {place} cannot be read now: {reason}. Try again later, or use `wavepool keys add` or --key."
        )
        self.retry_after = retry_after


class NotAllowedError(BillingError):
    """The caller may not do this; the message says who may."""


class NotInTeamError(NotAllowedError):
    """Somebody on GitHub is not where the operator demands, or this cannot be found out; the message names it."""


class ScopeMissingError(NotAllowedError):
    """The caller's token lacks a scope."""

    def __init__(self, scope: str, usable: str) -> None:
        super().__init__(f"This needs the scope '{scope}'; the token has: {usable}. Use a token that has it.")
        self.scope = scope


class NotFoundError(BillingError):
    """The request names something that does not exist."""


class AccountNotFoundError(NotFoundError):
    """There is no such account."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"There is no account {account_id[:80]!r}.")


class HoldNotFoundError(NotFoundError):
    """There is no such hold."""

    def __init__(self, hold_id: str) -> None:
        super().__init__(f"There is no hold {hold_id!r}.")


class TeamNotFoundError(NotFoundError):
    """There is no such team."""

    def __init__(self, team: str) -> None:
        super().__init__(f"There is no team {team[:80]!r}.")


class UserNotFoundError(NotFoundError):
    """There is no such user."""

    def __init__(self, user: str) -> None:
        super().__init__(f"There is no user {user[:80]!r}.")


class KeyNotFoundError(NotFoundError):
    """There is no such key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no key {key[:80]!r}.")


class TokenNotFoundError(NotFoundError):
    """There is no such token."""

    def __init__(self, token_id: str) -> None:
        super().__init__(f"There is no token {token_id[:80]!r}.")


class NoPriceError(NotFoundError):
    """A GPU type had no price yet at the instant."""

    def __init__(self, gpu_type: str, instant: datetime) -> None:
        super().__init__(f"{gpu_type} has no price at {_utc(instant)}: its first one was set later.")


class ChannelNotFoundError(NotFoundError):
    """The settings name no such alert channel."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no alert channel {name[:80]!r}; there are: {', '.join(known) or 'none'}.")


class ConflictError(BillingError):
    """The request contradicts a record, and the record stands."""


class NameTakenError(ConflictError):
    """A user, a team or an account has the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The name {name!r} is taken. Choose another name.")


class KeyTakenError(ConflictError):
    """Another user has the public key."""

    def __init__(self, fingerprint: str) -> None:
        super().__init__(
            f"Another user has the key {fingerprint}, and each key must identify one user. Make another with "
            "`ssh-keygen -t ed25519`; if this one is yours, ask an administrator to remove it there."
        )


class GithubNameTakenError(ConflictError):
    """Another user has the name on GitHub."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The GitHub name {name!r} is another user's here. If it is yours, ask an administrator to "
            f"remove it from that user."
        )


class IdempotencyKeyReusedError(ConflictError):
    """The idempotency key was used with other content."""

    def __init__(self, key: str) -> None:
        super().__init__(f"The idempotency key {key!r} was used with other content. Use a new key for each request.")


class HoldSettledError(ConflictError):
    """The hold is already settled with another amount or key."""

    def __init__(self, hold_id: str, charged_micros: int) -> None:
        super().__init__(
            f"Hold {hold_id!r} was already settled at {dollars_text(charged_micros)}; that settlement stands."
        )


class PricePeriodsOverlapError(ConflictError):
    """A planned price begins within the period of a new one."""

    def __init__(self, gpu_type: str, start_time: datetime) -> None:
        super().__init__(
            f"Another price of {gpu_type} begins at {_utc(start_time)}, within the new period. End the new period by "
            "then, or replace the planned prices."
        )


def _utc(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


class SignInError(BillingError):
    """A person cannot be signed in, although nothing is wrong with the request."""


class SignInOffError(SignInError):
    """No identity provider is set."""

    def __init__(self) -> None:
        super().__init__(
            "Sign-in with an identity provider is off here. Use an API token; an operator turns sign-in on with "
            "BILLING_OIDC_ISSUER."
        )


class NotAdmittedError(SignInError):
    """The identity provider knows the person, but the operator does not admit them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"You may not sign in here: {reason}. Ask the operator of this Wavepool.")


class IdentityProviderError(SignInError):
    """The identity provider does not answer as it should."""

    retry_after = timedelta(seconds=5)

    def __init__(self, issuer: str, reason: str) -> None:
        super().__init__(
            f"The identity provider {issuer} cannot be used now, so sign-in does not work: {reason}. "
            "This is no fault of yours, and API tokens work as before. Try again later."
        )
        self.reason = reason


def _one_of(ways: Sequence[str]) -> str:
    """One or several ways as a sentence without its stop."""
    listed = "; or ".join(ways)
    return listed[0].upper() + listed[1:]
