"""`wavepool notices`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wavepool_client.commands.options import Gateway, Shown, UserOption, answered


class Notify(StrEnum):
    """When to mail."""

    NEVER = "never"
    FAILED = "failed"
    ALWAYS = "always"


NO_ADDRESS = "none; an administrator can add one: wavepool users change USER --email ADDRESS"
WORDS = {
    Notify.NEVER: "no mail when a submission or reservation ends",
    Notify.FAILED: "a mail when a submission or reservation ends other than you wanted",
    Notify.ALWAYS: "a mail when a submission or reservation ends",
}


@answered
def notices(
    gateway: Gateway,
    notify: Annotated[
        Notify | None,
        typer.Argument(
            metavar="[never|failed|always]",
            case_sensitive=False,
            help="failed: with anything but success, or cancelled. Default: only show the setting.",
        ),
    ] = None,
    *,
    user: UserOption = "",
) -> Shown:
    """Show or choose when you are mailed about the end of your submissions and reservations."""
    if notify is None:
        answer = gateway.ask("GET", "me", "notices", user=user)
    else:
        answer = gateway.ask("PATCH", "me", "notices", body={"notify": notify.value}, user=user)
    yield answer
    yield f"{answer['notify']}: {WORDS.get(answer['notify'], 'unknown here')}"
    yield f"address: {answer['email'] or NO_ADDRESS}"
    if not answer["available"]:
        yield "the operator has set no mail server, so no mail is sent"
