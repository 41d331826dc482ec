"""Finds the reservations that a command is about, or what an id or a name is of, and asks if several fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.completion import complete_cancellable, complete_reservation
from wavepool_client.errors import InputError, NotFoundError
from wavepool_client.http.gateway_client import JOB_PREFIX
from wavepool_client.reservation_choice import SeveralError, chosen, is_whole_id, only_one
from wavepool_client.reservation_client import ALIVE
from wavepool_client.terminal.choices import pick
from wavepool_client.terminal.output import is_on_terminal
from wavepool_client.text.reservations import choice_text, start_text, wait_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.reservation_client import ReservationClient

ReservationArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        autocompletion=complete_reservation,
        help="A reservation's id, the first 4 or more characters of it, or its name. Default: the only one that fits.",
    ),
]

AnyIdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        autocompletion=complete_cancellable,
        help="A submission's id; or a reservation's id, the first 4 or more characters of it, or its name.",
    ),
]


def is_submission(text: str) -> bool:
    """True for the id of a submission; all else means a reservation."""
    return text.startswith(JOB_PREFIX)


def find_id(client: ReservationClient, text: str) -> str:
    """The id of the submission or the reservation that `text` names; raises as `find_reservation`."""
    return text if is_submission(text) or is_whole_id(text) else str(find_reservation(client, text)["id"])


def find_reservation(client: ReservationClient, text: str, states: Sequence[str] = ALIVE) -> dict[str, Any]:
    """The reservation that `text` names; if it is empty, your only one in one of `states`.

    Asks on a terminal if several fit. Raises NotFoundError, and SeveralError without a terminal.
    """
    try:
        if not text:
            mine = client.reservations(states, str(client.me()["user_id"]))
            return only_one(mine, states[0] if len(states) == 1 else "current")
        if is_whole_id(text):
            return client.reservation(text)
        try:
            return chosen(text, client.reservations(ALIVE))
        except NotFoundError:
            return chosen(text, client.reservations())
    except SeveralError as several:
        if not is_on_terminal():
            raise
        return _picked(several.choices)


def find_whole_reservation(client: ReservationClient, text: str) -> dict[str, Any]:
    """As `find_reservation`, with all that is known: lists leave out what has happened to a reservation."""
    found = find_reservation(client, text)
    return found if is_whole_id(text) else client.reservation(str(found["id"]))


def check_active(reservation: dict[str, Any]) -> None:
    """Raises InputError with advice if it does not accept logins now.

    One that is expiring does if it was not cancelled, which the gateway knows.
    """
    state = reservation.get("state")
    if state in {"active", "expiring"}:
        return
    reservation_id = reservation.get("id")
    wait = wait_text(reservation)
    fix = {
        "pending": f"it starts at {start_text(reservation)}",
        "queued": f"it starts {wait or 'later'}; follow it with `wavepool reservations show {reservation_id} -f`",
        "preparing": f"it starts soon; follow it with `wavepool reservations show {reservation_id} -f`",
    }.get(str(state), "make another with `wavepool reserve`")
    raise InputError(f"{reservation_id} is {state} and does not accept logins: {fix}")


def _picked(choices: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return choices[pick("Which one", [choice_text(one) for one in choices])]
