"""`wavepool reservations`, `extend` and `avail`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_user
from wavepool_client.commands.options import (
    EndpointOption,
    GpuTypeOption,
    Group,
    JsonOption,
    Shown,
    TokenOption,
    WatchOption,
    answered,
    examples,
    words_of,
)
from wavepool_client.commands.reservation_lookup import (
    ReservationArgument,
    find_reservation,
    find_whole_reservation,
)
from wavepool_client.commands.reservation_options import AddUserOption
from wavepool_client.commands.reservation_pickers import ask_change
from wavepool_client.commands.reservation_status import debug
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.reservation_client import ALIVE, OVER, ReservationClient
from wavepool_client.reservation_request import people_of
from wavepool_client.ssh.config_files import remove_ended, write_configs
from wavepool_client.terminal.output import is_on_terminal, notes, print_json, repeat, results, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.terminal.result_printing import listing, table_of
from wavepool_client.text.availability import (
    AVAILABILITY_COLUMNS,
    CALENDAR_COLUMNS,
    availability_row,
    calendar_row,
)
from wavepool_client.text.columns import written
from wavepool_client.text.counts import counted
from wavepool_client.text.reservation_advice import advice
from wavepool_client.text.reservation_events import TRACE_COLUMNS, narrate_reservation, narrate_with_time, trace_rows
from wavepool_client.text.reservations import (
    DETAIL_COLUMNS,
    LIST_COLUMNS,
    added_key_texts,
    end_text,
    hours_text,
    list_rows,
    note_texts,
    other_name_text,
    show_rows,
)

app = Group(
    "Reservations: GPUs by the hour, over SSH.",
    "wavepool reservations",
    "wavepool reservations --status all --json",
    "wavepool reservations show 01KB9X2F",
    "wavepool reservations edit training --extend 1.5 --add-user bob=bob.pub",
)

STATES = (*ALIVE, *OVER)
AVAILABILITY_SECONDS = 5.0
StatusOption = Annotated[
    str,
    typer.Option(
        "--status", "-s", metavar="S,…|all", help=f"States: {', '.join(STATES)}. Default: all that are not over."
    ),
]
UserOption = Annotated[
    str,
    typer.Option(
        "--user",
        "-u",
        metavar="USER|all",
        autocompletion=complete_user,
        help="Reservations of this user, if you may see them; `all`: of all users.",
    ),
]

DetailsOption = Annotated[
    bool, typer.Option("--details", help="Also show users, last login, image, queue, credit on hold, and reason.")
]


@app.lists(watch_seconds=2.0)
def list_reservations(
    client: ReservationClient, *, status: StatusOption = "", user: UserOption = "", details: DetailsOption = False
) -> Shown:
    """List your reservations that are not over, newest first."""
    found = client.reservations(states_of(status), _user_id(client, user))
    _renew_ssh_files(client, found, mine=not user)
    yield found
    if found:
        columns = LIST_COLUMNS + (DETAIL_COLUMNS if details else ())
        yield table_of(columns, list_rows(found, datetime.now(UTC), details=details))
    else:
        yield "no reservation; `wavepool reserve` makes one, `--status all` lists those that are over"


@app.command("show")
def show_reservation(
    reservation: ReservationArgument = "",
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing its steps until it is over.")] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show its history with times; with -f, the time of each step.")
    ] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one reservation in full, and what to do next."""
    with ReservationClient(endpoint, token) as client:
        found = find_whole_reservation(client, reservation)
        events = client.events_so_far(str(found["id"])) if trace and not follow else []
        if as_json:
            traced = {"events": [{"id": event.seq, **event.data} for event in events]} if events else {}
            print_json({**found, **traced})
        else:
            results.print(table_of(("field", "value"), show_rows(found, datetime.now(UTC))))
            if events:
                results.print(table_of(TRACE_COLUMNS, trace_rows(events)))
            for text in advice(found):
                say(text)
        if not follow:
            return
        with shown_on(notes, "Following it", narrate_with_time if trace else narrate_reservation) as show_event:
            for event in client.events(str(found["id"])):
                print_json({"id": event.seq, **event.data}) if as_json else show_event(event)


@app.command(
    epilog=examples(
        "wavepool reservations edit --extend 2",
        "wavepool reservations edit training --add-user bob --add-user github:alice --remove-user eve",
    )
)
def edit(
    reservation: ReservationArgument = "",
    *,
    more: Annotated[float | None, typer.Option("--extend", metavar="HOURS", help="Hours to add.")] = None,
    add_user: AddUserOption = None,
    add_editor: Annotated[
        list[str] | None,
        typer.Option(
            "--add-editor",
            metavar="NAME",
            help="Wavepool user who may log in, and change the reservation as you may. Repeatable.",
        ),
    ] = None,
    remove_user: Annotated[
        list[str] | None,
        typer.Option("--remove-user", metavar="NAME", help="User who is logged out and may not return. Repeatable."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The new name.")] = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a reservation's time, users or name. Without options, prompts on a terminal."""
    who = {"add_user": add_user, "add_editor": add_editor, "remove_user": remove_user}
    wanted: dict[str, Any] = {"more": more, "name": name, **who}
    asks = not any(wanted.values()) and more is None
    if asks and (as_json or not is_on_terminal()):
        raise InputError("nothing to change: give --extend, --add-user, --add-editor, --remove-user or --name")
    with ReservationClient(endpoint, token) as client:
        found = find_reservation(client, reservation)
        reservation_id = str(found["id"])
        if asks:
            wanted |= ask_change(found)
        more, name = wanted["more"], wanted["name"]
        removed: list[str] = wanted["remove_user"] or []
        added = [key for text in wanted["add_user"] or () for key in people_of(text, "--add-user")]
        editors: list[str] = wanted["add_editor"] or []
        if added or removed or editors:
            found = client.change_users(reservation_id, added, removed, editors)
            _show_changes(found)
        if name:
            found = client.rename(reservation_id, name)
            if other := other_name_text(found, name):
                say(other)
        if more is not None:
            found = client.extend(reservation_id, more)
    if as_json:
        print_json(found)
        return
    results.print(table_of(("field", "value"), show_rows(found, datetime.now(UTC))))


app.answers("debug", "wavepool reservations debug", "wavepool reservations debug training --json | jq .events")(debug)


@answered
def extend(
    client: ReservationClient,
    words: Annotated[list[str], typer.Argument(metavar="[ID] HOURS", help="The reservation, and the hours to add.")],
) -> Shown:
    """Give a reservation more time."""
    most = 2
    if len(words) > most:
        raise InputError("give at most two words: a reservation, and the hours to add")
    try:
        hours = float(words[-1])
    except ValueError:
        hours = math.nan
    if not math.isfinite(hours):
        raise InputError(f"HOURS: {words[-1]!r} is not a number of hours; give one such as 1.5")
    found = find_reservation(client, words[0] if len(words) == most else "", ("active", "preparing"))
    extended = client.extend(str(found["id"]), hours)
    yield extended
    until = end_text(extended, datetime.now(UTC))
    yield f"{extended['id']} has {hours_text(hours)} more" + (f", until {until}" if until else "")


@app.answers("notify", 'wavepool reservations notify 01KB9X2F "Maintenance at noon."')
def notify(
    client: ReservationClient,
    reservation: ReservationArgument,
    text: Annotated[str, typer.Argument(help="1 to 2000 characters.")],
) -> Shown:
    """Write a text to every terminal of a reservation."""
    found = find_reservation(client, reservation)
    terminals = int(client.ask("POST", "reservations", str(found["id"]), "notify", body={"text": text})["terminals"])
    yield {"terminals": terminals}
    yield counted(terminals, "terminal shows it", "terminals show it")


@app.answers("usage", "wavepool reservations usage --days 7")
def usage(
    client: ReservationClient,
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="Days of UTC, including today.")] = 30,
) -> Shown:
    """Show GPU hours by day, user and GPU type: yours and your teams'; operators see those of all users."""
    found = client.ask("GET", "reservations", "usage", days=days)["usage"]
    yield found
    hours = written("gpu_hours", "{:.2f}".format)
    columns = {"day": "day", "user": "user", "GPU type": "gpu_type", "GPU hours": hours, "reservations": "reservations"}
    yield listing(found, columns)


@app.answers("calendar", "wavepool reservations calendar -t MI300X")
def calendar(client: ReservationClient, *, gpu_type: GpuTypeOption = "") -> Shown:
    """Show which GPUs are reserved when, now and for later starts. Names are shown for your own accounts only."""
    found = client.ask("GET", "reservations", "calendar", gpu_type=gpu_type)["entries"]
    yield found
    yield table_of(CALENDAR_COLUMNS, map(calendar_row, found)) if found else "nothing is reserved, now or later"


def avail(
    *,
    gpu_type: GpuTypeOption = "",
    watch: WatchOption = False,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", min=1, help="Seconds between refreshes, with --watch.")
    ] = AVAILABILITY_SECONDS,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which GPUs can be reserved now, and the wait for 1, 2, 4 and 8 GPUs."""
    with ReservationClient(endpoint, token) as client:

        def show() -> None:
            found = client.availability(gpu_type)
            if as_json:
                print_json(found)
            else:
                results.print(table_of(AVAILABILITY_COLUMNS, map(availability_row, found)))

        repeat(show, interval if watch else 0)


def states_of(status: str) -> tuple[str, ...]:
    """The states that `--status` names; empty for all. Raises InputError."""
    words = words_of(status.casefold())
    if not words:
        return ALIVE
    if words == ["all"]:
        return ()
    unknown = next((word for word in words if word not in STATES), None)
    if unknown is not None:
        raise InputError(f"--status: {unknown!r} is not valid; choose {', '.join(STATES)} or all")
    return tuple(words)


def _show_changes(changed: dict[str, Any]) -> None:
    for text in [*added_key_texts(changed, given=True), *note_texts(changed)]:
        say(text)


def _user_id(client: ReservationClient, user: str) -> str:
    """The id of the user whose reservations are wanted; empty for all users."""
    if user == "all":
        return ""
    me = client.me()
    if user in {"", me.get("user_id"), me.get("user_name")}:
        return str(me["user_id"])
    return str(client.ask("GET", "users", user)["id"])


def _renew_ssh_files(client: ReservationClient, found: Sequence[dict[str, Any]], *, mine: bool) -> None:
    """Updates ssh's files to the list; the list succeeds even if that fails."""
    with suppress(WavepoolError):
        if mine:
            write_configs(found, client.connection)
        remove_ended(found, client.connection, client.reservation)
