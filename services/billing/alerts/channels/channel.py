"""What a channel is: something that takes a notice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from servicekit.settings.plugins import WrongOptionsError
from services.billing.alert_rules.rule import Severity
from services.billing.alert_rules.rule_file import faults_of

TEST = "test"
"""The event of a notice that only tries a channel."""


class ChannelError(Exception):
    """The channel did not take a notice; the message is for operators and has no secret. The notice is sent again."""


@dataclass(frozen=True)
class Notice:
    """One message. `notice_id` is the same in every try, so that the other side can tell a repetition."""

    notice_id: str
    alert_id: str
    event: str
    """`fired`, `resolved`, `no_data` or `test`."""
    rule: str
    severity: Severity
    summary: str
    value: float
    time: datetime
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
        """The notice in one line."""
        event = {"no_data": "NO DATA", TEST: "TEST"}.get(self.event, self.event.upper())
        return f"[{event}] {self.severity.value}: {self.summary}"


class Channel(Protocol):
    """A way to people. It may also have the coroutine methods `start` and `close` (servicekit/settings/plugins.py)."""

    async def send(self, notice: Notice) -> None:
        """Hands a notice over; returns when the other side has taken it. Raises ChannelError."""
        ...


class Options(BaseModel):
    """Options of a channel, as its plug-in expects them; an unknown one is a mistake."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, populate_by_name=True)


OptionsT = TypeVar("OptionsT", bound=Options)


def options_of(kind: type[OptionsT], given: Mapping[str, object]) -> OptionsT:
    """The options; raises WrongOptionsError."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise WrongOptionsError(faults_of(error)) from None


def secret_of(secret: SecretStr | None, file: Path | None) -> str:
    """A secret that is given itself or as a file's first line; empty if neither is. Raises ValueError."""
    if secret is not None and file is not None:
        raise ValueError("give the secret or the file that has it, not both")
    if file is None:
        return secret.get_secret_value() if secret else ""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"the file {file} cannot be read") from None
    if not lines or not lines[0].strip():
        raise ValueError(f"the file {file} has no secret in its first line")
    return lines[0].strip()


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Hosts to which nothing leaves this machine, so that encryption may be off."""
