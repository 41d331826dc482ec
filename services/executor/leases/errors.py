"""Reasons for which the executor refuses a call.

ExecutorError
├── InvalidFieldError
├── MissingTokenError
├── WrongTokenError
├── UnknownProblemError
├── UnknownRunError
├── RunConflictError
├── StaleLeaseError
├── NoSlotError
├── NoRoomError
└── DrainingError
"""

from __future__ import annotations

from datetime import timedelta

SLOT_RETRY = timedelta(seconds=1)
"""When to ask for a slot again: most runs take a few seconds."""


ROOM_RETRY = timedelta(seconds=30)
"""When to ask again after the machine's disk was full."""


class ExecutorError(Exception):
    """A refusal with a message for the caller."""


class InvalidFieldError(ExecutorError):
    """Fields of a request are wrong; `violations` holds pairs of a field's name and a description with the fix."""

    def __init__(self, *violations: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {description}" for field, description in violations))
        self.violations = violations


class MissingTokenError(ExecutorError):
    """The call carries no token."""

    def __init__(self) -> None:
        super().__init__("The call has no token. Send `authorization: Bearer <lease or admin token>` as metadata.")


class WrongTokenError(ExecutorError):
    """The call's token is not this executor's."""

    def __init__(self) -> None:
        super().__init__("The token is not this executor's. Acquire a lease of this machine and use its token.")


class UnknownProblemError(ExecutorError):
    """The catalogue has no such problem."""

    def __init__(self, explanation: str) -> None:
        super().__init__(f"problem: {explanation}")
        self.violations = (("problem", explanation),)


class UnknownRunError(ExecutorError):
    """No such run is known here, or not any more."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"There is no run {run_id!r} here (any more). Begin another under a new id.")


class RunConflictError(ExecutorError):
    """The run id is taken by another request."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"Run {run_id!r} was started with another request. Use a new id for each attempt.")


class StaleLeaseError(ExecutorError):
    """The lease has expired or passed to another holder."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The lease is no longer valid: {reason}. Give up this run.")


class NoSlotError(ExecutorError):
    """All slots are in use."""

    def __init__(self, in_flight: int) -> None:
        super().__init__(
            f"The slots are in use: there are {in_flight} runs and sessions. Try again, or on another machine."
        )
        self.retry_after = SLOT_RETRY


class NoRoomError(ExecutorError):
    """The machine's disk is full."""

    def __init__(self) -> None:
        super().__init__("This machine has no room left on its disk and begins no run. Run elsewhere, or try again.")
        self.retry_after = ROOM_RETRY


class UnfitError(Exception):
    """The machine takes no more runs because its device cannot be trusted; the message is for the operator."""


class DrainingError(ExecutorError):
    """The executor is about to stop and begins no more runs."""

    def __init__(self) -> None:
        super().__init__("This executor is draining and begins no more runs. Run elsewhere.")
