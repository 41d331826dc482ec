"""The refusals of vmpool.

PoolError
├── InvalidFieldError
├── NoCapacityError
├── SlotTakenError
├── MachineNotReadyError
├── ReservedMachineError
├── NoOfferError
├── PoolLimitError
├── RequestConflictError
├── LeaseConflictError
├── LeaseEndedError
├── IllegalMoveError
├── StaleMachineError
├── ProviderError
├── ProviderUnreachableError
├── SessionRefusedError
├── SessionUnreachableError
├── TooManyTunnelsError
└── NotFoundError
├── MachineNotFoundError
├── LogNotFoundError
├── SessionNotFoundError
└── LeaseNotFoundError
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.vmpool.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta


class PoolError(Exception):
    """A refusal whose message is meant for the caller."""


class InvalidFieldError(PoolError):
    """A field of a request is wrong; `violations` holds its name, and the fault with its remedy."""

    def __init__(self, field: str, description: str) -> None:
        super().__init__(f"{field}: {description}")
        self.violations = ((field, description),)


class NoCapacityError(PoolError):
    """Nothing is free now; the message describes the outlook."""

    def __init__(self, outlook: str, retry_after: timedelta) -> None:
        super().__init__(f"No machine has room now: {outlook}. Watch the machines and try again.")
        self.retry_after = retry_after


class SlotTakenError(PoolError):
    """A lease holds a slot that is asked for."""

    def __init__(self, machine_id: str, slot: str) -> None:
        super().__init__(
            f"A lease holds {slot} of machine {machine_id!r}, or a part of it. Watch the machines and place again."
        )


class MachineNotReadyError(PoolError):
    """The machine takes no lease in its present state."""

    def __init__(self, machine_id: str, state: str) -> None:
        super().__init__(f"Machine {machine_id!r} is {state} and cannot be leased. Watch the machines and place again.")


class ReservedMachineError(PoolError):
    """Reservations stand on a machine that is to be drained or stopped."""

    def __init__(self, machine_id: str, reservation_ids: Iterable[str]) -> None:
        super().__init__(
            f"Machine {machine_id!r} has the reservations {', '.join(dict.fromkeys(reservation_ids))}. "
            "Wait for their end, or use `force`."
        )


class NoOfferError(PoolError):
    """No provider has such a machine now; the message quotes the providers."""

    def __init__(self, outlook: str) -> None:
        super().__init__(f"No such machine can be had now: {outlook}. Try again later, or ask for another.")


class PoolLimitError(PoolError):
    """The pool may not start another machine; the message has the remedy."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"No machine was started: {reason}.")


class RequestConflictError(PoolError):
    """The request id was already used with other content."""

    def __init__(self, request_id: str, machine_id: str) -> None:
        super().__init__(
            f"Request {request_id!r} was made before, with other content, for machine {machine_id!r}: use a new id."
        )


class LeaseConflictError(PoolError):
    """The job's attempt already has a lease, with other content or expired with a run that may still be dying."""

    def __init__(self, job_id: str, attempt: int, lease_id: str) -> None:
        super().__init__(
            f"Attempt {attempt} of job {job_id!r} has lease {lease_id!r} already, with other content or expired."
        )


class LeaseEndedError(PoolError):
    """The lease has expired or was released."""

    def __init__(self, lease_id: str, reason: str) -> None:
        super().__init__(f"Lease {lease_id!r} is over: {reason}. Stop the job.")


class IllegalMoveError(PoolError):
    """A machine or lease cannot make this move: it is a bug, or the decision came too late."""

    def __init__(self, subject: str, before: str, after: str) -> None:
        super().__init__(f"{subject} cannot go from {before} to {after}.")


class StaleMachineError(PoolError):
    """The machine has changed since it was read. Read it again and decide again."""

    def __init__(self, machine_id: str) -> None:
        super().__init__(f"Machine {machine_id!r} changed in the meantime. Try again.")


class ProviderError(PoolError):
    """A provider refuses a request; the message is in its own words, and `fault` decides the next step."""

    def __init__(self, message: str, fault: Fault = Fault.PROVIDER) -> None:
        super().__init__(message)
        self.fault = fault


class ProviderUnreachableError(PoolError):
    """A provider does not answer, so nothing is known."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"Provider {provider!r} does not answer: {reason}. Try again.")


class SessionRefusedError(PoolError):
    """The machine takes no connection to the session now; the message has its executor's words."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"Session {session_id!r} takes no connection: {reason}")


class SessionUnreachableError(PoolError):
    """The machine or the session does not answer."""

    def __init__(self, session_id: str, machine_id: str) -> None:
        super().__init__(f"Session {session_id!r} on machine {machine_id!r} does not answer. Try again.")


class TooManyTunnelsError(PoolError):
    """The session has as many connections as it may have; the message has its executor's words."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"Session {session_id!r} takes no further connection: {reason}")


class NotFoundError(PoolError):
    """Something that the request names does not exist."""


class MachineNotFoundError(NotFoundError):
    """There is no such machine."""

    def __init__(self, machine_id: str) -> None:
        super().__init__(f"There is no machine {machine_id!r}.")


class LogNotFoundError(NotFoundError):
    """The machine's provider keeps no log of it."""

    def __init__(self, machine_id: str, reason: str) -> None:
        super().__init__(f"There is no log of machine {machine_id!r}: {reason}.")


class SessionNotFoundError(NotFoundError):
    """The machine has no such session, or it is over."""

    def __init__(self, session_id: str, machine_id: str) -> None:
        super().__init__(f"There is no session {session_id!r} on machine {machine_id!r}, or it is over.")


class LeaseNotFoundError(NotFoundError):
    """There is no such lease."""

    def __init__(self, lease_id: str) -> None:
        super().__init__(f"There is no lease {lease_id!r}.")
