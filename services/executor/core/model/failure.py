"""The reasons why a run ends without being accepted, raised wherever they are found."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from services.executor.core.model.events import WrongAnswer
from services.executor.core.model.isa_report import IsaReport
from services.executor.core.model.verdict import Verdict


class Failure(Exception):  # noqa: N818  an outcome of the submission, no error of ours
    """A verdict other than ACCEPTED, with the message for the author; see `events.Finished` for the fields."""

    def __init__(
        self,
        verdict: Verdict,
        message: str,
        *,
        reason: str = "",
        details: str = "",
        wrong_answer: WrongAnswer | None = None,
    ) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.reason = reason
        self.details = details
        self.wrong_answer = wrong_answer
        self.is_unwritten = False
        """True if the elements that are wrong were all never written."""
        self.isa: IsaReport | None = None
        self.call = 0
        """The call of the process in which it happened, from 1; 0 if it happened outside a call."""
        self.unkillable = False
        """True if the run left processes that SIGKILL does not end."""


class InfrastructureFailure(Failure):
    """A fault of ours: of the machine, the sandbox or the toolchain.

    `reason` names the thing that this machine lacks and another may have.
    """

    def __init__(self, message: str, *, reason: str = "", details: str = "") -> None:
        super().__init__(Verdict.INFRA_ERROR, message, reason=reason, details=details)


@contextmanager
def in_case(name: str) -> Generator[None]:
    """Adds the test case and the call to the message of a failure in the block, unless the fault is ours."""
    prefix = f"Case `{name}`"
    try:
        yield
    except Failure as failure:
        if failure.verdict is not Verdict.INFRA_ERROR and not failure.message.startswith(prefix):
            call = f", call {failure.call} of its process" if failure.call else ""
            failure.message = f"{prefix}{call}: {failure.message[:1].lower()}{failure.message[1:]}"
        raise
