"""`wavepool cancel`: ends submissions and reservations; ids tell which."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_cancellable
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect
from wavepool_client.commands.reservation_lookup import find_reservation, is_on_terminal
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.terminal.output import print_json, say
from wavepool_client.text.reservations import choice_text

JOB_PREFIX = "job_"


def cancel(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            autocompletion=complete_cancellable,
            help="Ids of submissions; ids or names of reservations. Left out: your only reservation.",
        ),
    ] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """End submissions and reservations in any state; what was used is charged."""
    jobs = [one for one in ids or () if one.startswith(JOB_PREFIX)]
    others = [one for one in ids or [""] if not one.startswith(JOB_PREFIX)]
    ended: list[dict[str, Any]] = []
    with ReservationClient(endpoint, token) as client:
        # All are found before the first is ended.
        reservations = [find_reservation(client, text) for text in others]
        if reservations and not yes and is_on_terminal():
            for one in reservations:
                say(choice_text(one))
            typer.confirm("End this?" if len(reservations) == 1 else "End these?", abort=True, err=True)
        if jobs:
            with connect(endpoint, token) as submissions:
                ended += [submissions.cancel(job) for job in jobs]
        ended += [client.cancel(str(one["id"])) for one in reservations]
    if as_json:
        print_json(ended[0] if len(ended) == 1 else ended)
        return
    for text, one in zip([*jobs, *(str(one["id"]) for one in reservations)], ended, strict=True):
        say(f"{text} is {str(one.get('state')).lower()}")
