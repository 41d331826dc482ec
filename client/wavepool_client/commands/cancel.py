"""`wavepool cancel`: ends submissions and reservations; ids tell which."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_cancellable
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect
from wavepool_client.commands.reservation_lookup import find_reservation
from wavepool_client.errors import InputError
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.terminal.output import is_on_terminal, print_json, say
from wavepool_client.text.reservations import choice_text

JOB_PREFIX = "job_"
MAY_END = ("pending", "queued", "preparing", "active")


def cancel(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            autocompletion=complete_cancellable,
            help="Ids of submissions; ids or names of reservations. Default: your only reservation.",
        ),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="End all your reservations. Scripts must add --yes.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """End submissions and reservations in any state. Used time is charged."""
    jobs = [one for one in ids or () if one.startswith(JOB_PREFIX)]
    others = [one for one in ids or [""] if not one.startswith(JOB_PREFIX)]
    ended: list[dict[str, Any]] = []
    if everything and ids:
        raise InputError("give ids or --all, not both")
    with ReservationClient(endpoint, token) as client:
        # All are found before the first is ended.
        reservations = _all_of_mine(client) if everything else [find_reservation(client, text) for text in others]
        _agree(reservations, yes=yes, must_agree=everything)
        if jobs:
            with connect(endpoint, token) as submissions:
                ended += [submissions.cancel(job) for job in jobs]
        ended += [client.cancel(str(one["id"])) for one in reservations]
    if as_json:
        print_json(ended[0] if len(ended) == 1 and not everything else ended)
        return
    if not ended:
        say("you have no reservation to end")
    for text, one in zip([*jobs, *(str(one["id"]) for one in reservations)], ended, strict=True):
        say(f"{text} is {str(one.get('state')).lower()}")


def _all_of_mine(client: ReservationClient) -> list[dict[str, Any]]:
    return client.reservations(MAY_END, str(client.me()["user_id"]))


def _agree(reservations: list[dict[str, Any]], *, yes: bool, must_agree: bool) -> None:
    """Shows on a terminal what would end, and asks.

    Raises InputError without a terminal if confirmation is a must (`must_agree`).
    """
    if yes or not reservations:
        return
    if not is_on_terminal():
        if must_agree:
            names = "\n".join(f"  {choice_text(one)}" for one in reservations)
            raise InputError(f"--all would end these; add --yes to confirm:\n{names}")
        return
    for one in reservations:
        say(choice_text(one))
    typer.confirm("End this?" if len(reservations) == 1 else "End these?", abort=True, err=True)
