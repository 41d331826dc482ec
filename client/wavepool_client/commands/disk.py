"""`wavepool disk`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.completion import complete_disk
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, WatchOption, examples
from wavepool_client.commands.reservation_lookup import is_on_terminal
from wavepool_client.disk_client import DiskClient
from wavepool_client.errors import InputError
from wavepool_client.terminal.output import print_json, repeat, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.counts import counted
from wavepool_client.text.disks import (
    CONTENT_COLUMNS,
    LIST_COLUMNS,
    USAGE_COLUMNS,
    content_row,
    holder_text,
    list_row,
    size_text,
    snapshot_text,
    state_text,
    usage_row,
)
from wavepool_client.text.reservations import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

LIST_SECONDS = 2.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([mgt]?)(?:i?b)?", re.IGNORECASE)
_GIB_OF = {"m": 1 / 1024, "": 1.0, "g": 1.0, "t": 1024.0}

app = typer.Typer(
    help="Homes that outlive reservations.",
    epilog=examples(
        "wavepool disk create training --size 50g",
        "wavepool reserve -h 1 --disk training",
        "wavepool disk list",
        "wavepool disk delete training",
    ),
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_disk, help="A disk's name.")]
NewNameArgument = Annotated[
    str, typer.Argument(metavar="NEW-NAME", help="1 to 63 lower case letters, digits and single hyphens.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
UserIdOption = Annotated[
    str, typer.Option("--user", metavar="ID", help="A user's id, for operators and administrators; default: you.")
]


UserOrAllOption = Annotated[
    str, typer.Option("--user", metavar="ID", help="A user's id, or `all`, for operators; default: you.")
]


@app.callback(invoke_without_command=True)
def disk(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Homes that outlive reservations; without a subcommand, lists yours."""
    if context.invoked_subcommand is None:
        list_disks(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_disks(
    *,
    deleted: Annotated[bool, typer.Option("--deleted", help="Also those that are not removed yet.")] = False,
    user: UserOrAllOption = "",
    watch: WatchOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List disks by name."""
    with DiskClient(endpoint, token) as disks:

        def show() -> None:
            found = disks.disks(user, deleted=deleted)
            if as_json:
                print_json(found)
            elif found:
                results.print(table_of(LIST_COLUMNS, map(list_row, found)))
            else:
                say("no disk; `wavepool disk create NAME` makes one")

        repeat(show, LIST_SECONDS if watch else 0)


@app.command(epilog=examples("wavepool disk create training", "wavepool disk create training --size 50g"))
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="1 to 63 lower case letters, digits and single hyphens.")],
    *,
    size: Annotated[
        str,
        typer.Option("--size", metavar="SIZE", help="The most that it may have, such as 50g; default: the most."),
    ] = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an empty disk."""
    size_gib = gib_of(size) if size else None
    with DiskClient(endpoint, token) as disks:
        made = disks.create(name, size_gib)
    if as_json:
        print_json(made)
        return
    most = size_text(made.get("size_limit_bytes"))
    say(f"{made['name']} may have {most}; use it with `wavepool reserve --disk {name}`")


@app.command()
def delete(
    name: NameArgument,
    *,
    yes: YesOption = False,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a disk. Its snapshots are removed some time later."""
    agree_to(f"Delete the disk {name}?", yes=yes)
    with DiskClient(endpoint, token) as disks:
        gone = disks.delete(name, user)
    if as_json:
        print_json(gone)
        return
    say(f"{name} is {state_text(gone)}")


@app.command(epilog=examples("wavepool disk rename training old-training"))
def rename(
    name: NameArgument,
    new_name: NewNameArgument,
    *,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a disk another name."""
    with DiskClient(endpoint, token) as disks:
        renamed = disks.rename(name, new_name, user)
    if as_json:
        print_json(renamed)
        return
    say(f"{name} is {new_name} now")


@app.command(epilog=examples("wavepool disk clone training experiment"))
def clone(
    name: NameArgument,
    new_name: NewNameArgument,
    *,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a disk that begins with the last snapshot of another one, which may be in use."""
    with DiskClient(endpoint, token) as disks:
        made = disks.clone(name, new_name, user)
    if as_json:
        print_json(made)
        return
    safe = time_text(made.get("safe_time"))
    say(f"{new_name} is {name} as of {safe}" if safe else f"{new_name} is empty, as {name} is")


@app.command("list-content")
def list_content(
    name: NameArgument,
    *,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the files of a disk's last snapshot. It needs no machine."""
    with DiskClient(endpoint, token) as disks:
        found = disks.content(name, user)
    if as_json:
        print_json(found)
        return
    if not found.get("snapshot"):
        say(f"{name} has no snapshot yet")
        return
    say(f"{name} as of {time_text(found['snapshot'].get('time'))}")
    results.print(table_of(CONTENT_COLUMNS, map(content_row, found["files"])))
    if found.get("is_cut"):
        say(f"and more: {found['snapshot'].get('files')} files in all, of which only the first are listed")


@app.command()
def snapshot(
    name: NameArgument,
    *,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Save a disk that an active reservation has, now."""
    with DiskClient(endpoint, token) as disks:
        taken = disks.snapshot(name, user)
    if as_json:
        print_json(taken)
        return
    say(f"{name} is saved: {snapshot_text(taken)}")


@app.command()
def unlock(
    name: NameArgument,
    *,
    user: UserIdOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say who has a disk, and how it becomes free. There are no locks that could be stale."""
    with DiskClient(endpoint, token) as disks:
        found = one_of(disks.disks(user), name)
    if as_json:
        print_json(found)
        return
    say(holder_text(found))


@app.command()
def usage(
    *,
    user: UserOrAllOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how much is on disks; deleted ones are among them until they are removed."""
    with DiskClient(endpoint, token) as disks:
        found = disks.disks(user, deleted=True)
    if as_json:
        print_json(found)
        return
    if not found:
        say("no disk")
        return
    results.print(table_of(USAGE_COLUMNS, map(usage_row, found)))
    total = size_text(sum(int(one.get("size_bytes") or 0) for one in found))
    say(f"{total} in the last snapshots of {counted(len(found), 'disk')}")


def one_of(found: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The disk of that name; raises InputError."""
    for one in found:
        if one.get("name") == name:
            return one
    raise InputError(f"there is no disk {name!r}; `wavepool disk list` lists them")


def agree_to(question: str, *, yes: bool) -> None:
    """Asks on a terminal; raises InputError in a script that does not say --yes."""
    if yes:
        return
    if not is_on_terminal():
        raise InputError("--yes is missing: nobody can be asked here")
    if not typer.confirm(question, err=True):
        raise typer.Exit


def gib_of(text: str) -> float:
    """GiB of a size such as `50g`, `500m` or `1t`; a number alone is GiB. Raises InputError."""
    found = _SIZE.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise InputError(f"--size: is {text!r}; give a size such as 50g, 500m or 1t")
    return float(found[1]) * _GIB_OF[found[2].lower()]
