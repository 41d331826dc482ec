"""`wavepool cancel`: ends submissions and reservations; ids tell which."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from wavepool_client.client import ENDED_STATES
from wavepool_client.commands.completion import complete_cancellable
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, YesOption, connect
from wavepool_client.commands.reservation_lookup import find_reservation, is_submission
from wavepool_client.errors import InputError, NotFoundError, WavepoolError
from wavepool_client.reservation_client import OVER, ReservationClient
from wavepool_client.terminal.output import is_on_terminal, print_json, say
from wavepool_client.text.reservations import choice_text
from wavepool_client.text.submission_rows import submission_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavepool_client.client import Client

WAITING_JOBS = ("QUEUED", "PROVISIONING")
WAITING_RESERVATIONS = ("pending", "queued")
ENDED = ENDED_STATES.union(state.upper() for state in OVER)


class _Found(NamedTuple):
    """Something that can be ended."""

    id: str
    text: str
    end: Callable[[], dict[str, Any]]


def cancel(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            autocompletion=complete_cancellable,
            help="Ids of submissions; ids or names of reservations.",
        ),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="End all your submissions and reservations. Scripts must add --yes.")
    ] = False,
    jobs: Annotated[bool, typer.Option("--jobs", help="End all your submissions.")] = False,
    reservations: Annotated[bool, typer.Option("--reservations", help="End all your reservations.")] = False,
    pending: Annotated[
        bool,
        typer.Option(
            "--pending", help="End only what has no machine yet: of --jobs, of --reservations, or else of both."
        ),
    ] = False,
    yes: YesOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """End submissions and reservations in any state. Used time is charged. All are found before the first is ended."""
    if bool(ids) == (everything or jobs or reservations or pending):
        raise InputError("name what to end: either ids, or --all, --jobs, --reservations or --pending")
    both = everything or not (jobs or reservations)
    with ReservationClient(endpoint, token) as client, connect(endpoint, token) as submissions:
        if ids:
            found_jobs, found_reservations = _named(submissions, client, ids)
        else:
            me = str(client.me()["user_id"])
            found_jobs = _jobs_of(submissions, me, pending=pending) if jobs or both else []
            found_reservations = _reservations_of(client, me, pending=pending) if reservations or both else []
        # A submission that is named costs little to repeat.
        _agree(found_reservations if ids else [*found_jobs, *found_reservations], yes=yes, must_agree=not ids)
        answers = [_ended(one) for one in (*found_jobs, *found_reservations)]
    if as_json:
        print_json(
            [answer if isinstance(answer, dict) else {"id": one, "error": str(answer)} for one, answer in answers]
        )
    else:
        _report(answers)
    if failed := next((answer for _, answer in answers if isinstance(answer, WavepoolError)), None):
        raise typer.Exit(failed.exit_code)


def _named(submissions: Client, client: ReservationClient, ids: Sequence[str]) -> tuple[list[_Found], list[_Found]]:
    """The submissions and the reservations with these ids or names, each once; raises NotFoundError for all others."""
    jobs, reservations, missing = dict[str, _Found](), dict[str, _Found](), list[str]()
    for text in ids:
        try:
            if is_submission(text):
                one = _job(submissions, submissions.submission(text))
                jobs[one.id] = one
            else:
                one = _reservation(client, find_reservation(client, text))
                reservations[one.id] = one
        except NotFoundError as error:
            missing.append(str(error))
    if missing:
        raise NotFoundError("\n".join([*missing, "Nothing was ended."]))
    return [*jobs.values()], [*reservations.values()]


def _jobs_of(submissions: Client, user_id: str, *, pending: bool) -> list[_Found]:
    states = WAITING_JOBS if pending else (*WAITING_JOBS, "RUNNING")
    return [_job(submissions, one) for one in submissions.all_submissions(state=states, user_id=user_id)]


def _reservations_of(client: ReservationClient, user_id: str, *, pending: bool) -> list[_Found]:
    states = WAITING_RESERVATIONS if pending else (*WAITING_RESERVATIONS, "preparing", "active")
    return [_reservation(client, one) for one in client.reservations(states, user_id)]


def _job(submissions: Client, one: dict[str, Any]) -> _Found:
    return _Found(str(one["id"]), f"{one['id']}  {submission_text(one)}", partial(submissions.cancel, str(one["id"])))


def _reservation(client: ReservationClient, one: dict[str, Any]) -> _Found:
    return _Found(str(one["id"]), choice_text(one), partial(client.cancel, str(one["id"])))


def _ended(one: _Found) -> tuple[str, dict[str, Any] | WavepoolError]:
    try:
        return one.id, one.end()
    except WavepoolError as error:
        return one.id, error


def _report(answers: Sequence[tuple[str, dict[str, Any] | WavepoolError]]) -> None:
    if not answers:
        say("you have nothing to end")
    for name, answer in answers:
        if isinstance(answer, WavepoolError):
            say(f"{name} was not ended: {answer}")
            continue
        # It may take a moment, in which it still says that it runs.
        state = str(answer.get("state"))
        say(f"{name} is {state.lower() if state.upper() in ENDED else 'ending'}")


def _agree(found: Sequence[_Found], *, yes: bool, must_agree: bool) -> None:
    """Shows on a terminal what would end, and asks.

    Raises InputError without a terminal if confirmation is a must (`must_agree`).
    """
    if yes or not found:
        return
    if not is_on_terminal():
        if must_agree:
            names = "\n".join(f"  {one.text}" for one in found)
            raise InputError(f"this would end; add --yes to confirm:\n{names}")
        return
    for one in found:
        say(one.text)
    typer.confirm("End this?" if len(found) == 1 else "End these?", abort=True, err=True)
