"""`wavepool disk`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_disk
from wavepool_client.commands.options import Gateway, Group, Shown, YesOption, agrees
from wavepool_client.errors import InputError
from wavepool_client.terminal.result_printing import listing
from wavepool_client.text.counts import counted
from wavepool_client.text.disks import CONTENT, DISKS, USAGE, holder_text, size_text, snapshot_text, state_text
from wavepool_client.text.start_times import time_text

SNAPSHOT_SECONDS = 1000.0
"""Longer than two snapshots take: one may have to wait for the one before."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([mgt]?)(?:i?b)?", re.IGNORECASE)
_GIB_OF = {"m": 1 / 1024, "": 1.0, "g": 1.0, "t": 1024.0}

app = Group(
    "Homes that outlive reservations.",
    "wavepool disk create training --size 50g",
    "wavepool reserve -h 1 --disk training",
    "wavepool disk list",
    "wavepool disk delete training",
)

NAME_RULE = "1 to 63 lower case letters, digits and single hyphens."
NameArgument = Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_disk, help="A disk's name.")]
NewNameArgument = Annotated[str, typer.Argument(metavar="NEW-NAME", help=NAME_RULE)]
UserIdOption = Annotated[
    str, typer.Option("--user", metavar="ID", help="A user's id, for operators and administrators. Default: you.")
]
UserOrAllOption = Annotated[
    str, typer.Option("--user", metavar="ID", help="A user's id, or `all`, for operators. Default: you.")
]


@app.lists(watch_seconds=2.0)
def list_disks(
    gateway: Gateway,
    *,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Include deleted disks whose snapshots are still kept.")
    ] = False,
    user: UserOrAllOption = "",
) -> Shown:
    """List disks by name."""
    found = _disks(gateway, user, deleted=deleted)
    yield found
    yield listing(found, DISKS) if found else "no disk; `wavepool disk create NAME` makes one"


@app.answers("create", "wavepool disk create training", "wavepool disk create training --size 50g")
def create(
    gateway: Gateway,
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_RULE)],
    *,
    size: Annotated[
        str, typer.Option("--size", metavar="SIZE", help="Largest size, such as 50g. Default: the operator's limit.")
    ] = "",
) -> Shown:
    """Make an empty disk."""
    limit = {"size_gib": gib_of(size)} if size else {}
    made = gateway.ask("POST", "disks", body={"name": name, **limit})
    yield made
    most = size_text(made.get("size_limit_bytes"))
    yield f"{made['name']} holds up to {most}; use it with `wavepool reserve --disk {name}`"


@app.answers("delete")
def delete(gateway: Gateway, name: NameArgument, *, yes: YesOption = False, user: UserIdOption = "") -> Shown:
    """Delete a disk. Its snapshots are removed some time later."""
    if not agrees(f"Delete the disk {name}?", yes=yes):
        raise typer.Exit
    gone = gateway.ask("DELETE", "disks", name, user_id=user)
    yield gone
    yield f"{name} is {state_text(gone)}"


@app.answers("rename", "wavepool disk rename training old-training")
def rename(gateway: Gateway, name: NameArgument, new_name: NewNameArgument, *, user: UserIdOption = "") -> Shown:
    """Rename a disk."""
    yield gateway.ask("PATCH", "disks", name, body={"name": new_name}, user_id=user)
    yield f"{name} is now called {new_name}"


@app.answers("clone", "wavepool disk clone training experiment")
def clone(gateway: Gateway, name: NameArgument, new_name: NewNameArgument, *, user: UserIdOption = "") -> Shown:
    """Make a disk from the last snapshot of another one, which may be in use."""
    made = gateway.ask("POST", "disks", name, "clone", body={"name": new_name}, user_id=user)
    yield made
    safe = time_text(made.get("safe_time"))
    yield f"{new_name} is {name} as of {safe}" if safe else f"{new_name} is empty, as {name} is"


@app.answers("list-content")
def list_content(gateway: Gateway, name: NameArgument, *, user: UserIdOption = "") -> Shown:
    """List the files of a disk's last snapshot. It needs no machine."""
    found = gateway.ask("GET", "disks", name, "content", user_id=user)
    yield found
    if not found.get("snapshot"):
        yield f"{name} has no snapshot yet"
        return
    yield f"{name} as of {time_text(found['snapshot'].get('time'))}"
    yield listing(found["files"], CONTENT)
    if found.get("is_cut"):
        yield f"and more: {found['snapshot'].get('files')} files in all; only the first are listed"


@app.answers("snapshot")
def snapshot(gateway: Gateway, name: NameArgument, *, user: UserIdOption = "") -> Shown:
    """Save a disk that is in use by an active reservation, now."""
    taken = save(gateway, name, user)
    yield taken
    yield f"{name} is saved: {snapshot_text(taken)}"


@app.answers("unlock")
def unlock(gateway: Gateway, name: NameArgument, *, user: UserIdOption = "") -> Shown:
    """Show which reservation uses a disk, and how the disk becomes free. There are no stale locks."""
    found = one_of(_disks(gateway, user), name)
    yield found
    yield holder_text(found)


@app.answers("usage")
def usage(gateway: Gateway, *, user: UserOrAllOption = "") -> Shown:
    """Show how much is stored on disks, including deleted ones until they are removed."""
    found = _disks(gateway, user, deleted=True)
    yield found
    if not found:
        yield "no disk"
        return
    yield listing(found, USAGE)
    total = size_text(sum(int(one.get("size_bytes") or 0) for one in found))
    yield f"{total} in the last snapshots of {counted(len(found), 'disk')}"


def save(gateway: Gateway, name: str, user_id: str = "") -> dict[str, Any]:
    """Takes a snapshot of a disk that an active reservation has; this may take minutes."""
    return gateway.ask("POST", "disks", name, "snapshot", user_id=user_id, timeout_seconds=SNAPSHOT_SECONDS)


def one_of(found: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The disk of that name; raises InputError."""
    for one in found:
        if one.get("name") == name:
            return one
    raise InputError(f"there is no disk {name!r}; `wavepool disk list` lists them")


def gib_of(text: str) -> float:
    """GiB of a size such as `50g`, `500m` or `1t`; a number alone is GiB. Raises InputError."""
    found = _SIZE.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise InputError(f"--size: is {text!r}; give a size such as 50g, 500m or 1t")
    return float(found[1]) * _GIB_OF[found[2].lower()]


def _disks(gateway: Gateway, user_id: str, *, deleted: bool = False) -> list[dict[str, Any]]:
    return list(gateway.ask("GET", "disks", user_id=user_id, deleted=deleted)["disks"])
