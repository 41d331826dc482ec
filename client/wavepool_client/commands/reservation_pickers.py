"""Prompts on a terminal: for the GPUs and hours of a reservation, and for changes of one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import typer

from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.terminal.choices import ask, pick
from wavepool_client.terminal.output import notes, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.availability import AVAILABILITY_COLUMNS, SIZES, availability_row, wait_texts
from wavepool_client.text.disks import disk_text
from wavepool_client.text.reservations import hours_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.reservation_client import ReservationClient

Fields = dict[str, Any]

GPUS_OF_MACHINE = 8
SIZES_OF_MACHINES = tuple(GPUS_OF_MACHINE * machines for machines in range(2, 7))
HOURS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0)
DEFAULT_HOURS = 8.0
EXTENSIONS = (1.0, 2.0, 4.0, 8.0, 12.0, 24.0)
EXTEND, ADD_USER, REMOVE_USER, RENAME = "more time", "add a user", "remove a user", "another name"
_NO_DISK = "none: an empty home, which is removed at the end"
ACTIONS = (EXTEND, ADD_USER, REMOVE_USER, RENAME)


def ask_what_to_reserve(
    client: ReservationClient, gpu_type: str, gpus: int | None, hours: float | None, *, distributed: bool = False
) -> tuple[str, int, float]:
    """Asks for the GPU type, number and hours that are not given, and shows what is free now.

    If it is to be `distributed`, the numbers are those of several machines.
    """
    if not gpu_type or gpus is None:
        found = client.availability(gpu_type)
        if not gpu_type:
            gpu_type = _asked_type(found)
        if gpus is None:
            named = (one for one in found if str(one.get("gpu_type")).casefold() == gpu_type.casefold())
            one = next(named, dict[str, Any]())
            gpus = _asked_count_of_machines() if distributed else _asked_count(one)
    return gpu_type, gpus, hours if hours is not None else asked_hours("How long", HOURS, DEFAULT_HOURS)


def ask_disk(client: ReservationClient) -> str:
    """Asks which of your disks that are free is to be the home, or makes a new one; empty for none."""
    try:
        found = [one for one in client.ask("GET", "disks")["disks"] if one.get("state") == "available"]
    except WavepoolError:
        # Without the right to list disks, one reserves without a disk.
        return ""
    texts = [_NO_DISK, *map(disk_text, found), "new…: an empty disk, which is kept"]
    while True:
        place = pick("Which disk is the home", texts, 0)
        if place <= len(found):
            return str(found[place - 1]["name"]) if place else ""
        name = str(typer.prompt("The new disk's name", err=True)).strip()
        try:
            return str(client.ask("POST", "disks", body={"name": name})["name"])
        except WavepoolError as error:
            say(str(error))


def agree() -> None:
    """Asks if what was just shown is to be reserved; leaves the command if it is not."""
    typer.confirm("Reserve this?", default=True, abort=True, err=True)


def asked_hours(question: str, presets: Sequence[float], default: float) -> float:
    """Asks for a number of hours: one of the presets, or another."""
    texts = [f"{hours_text(hours)}{' (default)' if hours == default else ''}" for hours in presets]
    place = pick(question, [*texts, "another time"], presets.index(default))
    if place < len(presets):
        return presets[place]
    return ask("Hours, such as 1.5", _hours, "is not a number of hours; 5 minutes are 0.0833")


def ask_change(reservation: Fields) -> dict[str, Any]:
    """Asks how a reservation is to change; returns the options of `reservations edit` that do it."""
    action = ACTIONS[pick(f"Change of {reservation.get('name') or reservation.get('id')}", ACTIONS)]
    if action == EXTEND:
        return {"more": asked_hours("Time to add", EXTENSIONS, EXTENSIONS[0])}
    if action == ADD_USER:
        return {"add_user": [str(typer.prompt("User (NAME, github:NAME, or NAME=FILE with public keys)", err=True))]}
    if action == REMOVE_USER:
        users = list(map(str, cast("list[object]", reservation.get("users") or [])))
        if not users:
            raise InputError("no user may log in, so there is no user to remove")
        return {"remove_user": [users[pick("Which user", users)]]}
    return {"name": str(typer.prompt("The new name", err=True))}


def _asked_type(found: Sequence[Fields]) -> str:
    """Shows the types with numbers, and asks for one by its number or name."""
    names = [str(one.get("gpu_type")) for one in found]
    if not names:
        raise InputError("the pool has no GPU type to reserve; see `wavepool avail`")
    if len(names) == 1:
        say(f"the GPUs are {names[0]}")
        return names[0]
    rows = [(str(number), *availability_row(one)) for number, one in enumerate(found, 1)]
    notes.print(table_of(("", *AVAILABILITY_COLUMNS), rows))
    by_name = {name.casefold(): name for name in names}
    by_number = {str(number): name for number, name in enumerate(names, 1)}
    # What is free now comes first to mind.
    free = next((at for at, one in enumerate(found, 1) if one.get("free_gpus") and not one.get("maintenance")), 1)
    known = by_name | by_number
    rule = f"is not valid; choose {', '.join(names)}, or a number from 1 to {len(names)}"
    return ask("Which GPU", lambda text: known.get(text.casefold()), rule, str(free))


def _asked_count(one: Fields) -> int:
    for size, wait in wait_texts(one).items():
        say(f"{size} GPU{'s' if size > 1 else ''}{f'  wait: {wait}' if wait else ''}")
    sizes = {str(size): size for size in SIZES}
    return ask("How many GPUs", sizes.get, f"is not valid; choose {', '.join(sizes)}", "1")


def _asked_count_of_machines() -> int:
    for size in SIZES_OF_MACHINES:
        say(f"{size} GPUs: {size // GPUS_OF_MACHINE} machines of {GPUS_OF_MACHINE}")
    sizes = {str(size): size for size in SIZES_OF_MACHINES}
    return ask("How many GPUs", sizes.get, f"is not valid; choose {', '.join(sizes)}", str(SIZES_OF_MACHINES[0]))


def _hours(text: str) -> float | None:
    try:
        hours = float(text)
    except ValueError:
        return None
    return hours if math.isfinite(hours) and hours > 0 else None
