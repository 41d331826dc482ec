"""`wavepool queues` and `wavepool why`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, cast

import typer
import yaml

from wavepool_client.commands.completion import complete_gpu_type, complete_queue
from wavepool_client.commands.options import (
    EndpointOption,
    Gateway,
    Group,
    JsonOption,
    Shown,
    TokenOption,
    YesOption,
    answered,
    examples,
    instant_with_zone,
)
from wavepool_client.commands.reservation_lookup import AnyIdArgument, find_id
from wavepool_client.errors import InputError
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.counts import counted
from wavepool_client.text.reservations import wait_text
from wavepool_client.text.start_times import time_text

app = Group(
    "The queues that share the GPUs.",
    "wavepool queues",
    "wavepool queues export > queues.yaml",
    "wavepool queues apply -f queues.yaml",
    "wavepool queues close red",
)

NameArgument = Annotated[str, typer.Argument(metavar="QUEUE", autocompletion=complete_queue)]
_USUAL = {"ordering": "age", "placement": "pack"}
_SIGNS = {"ADDED": "+", "REMOVED": "-", "CHANGED": "~"}


@app.lists()
def list_queues(gateway: Gateway) -> Shown:
    """List the queues, with quota, limit and use of GPUs, by GPU type."""
    found = gateway.ask("GET", "queues")
    yield found
    columns = ("queue", "GPU", "quota", "fair share", "limit", "used", "running", "waiting")
    yield table_of(columns, [row for queue in _with_depth(found["queues"]) for row in _rows(*queue)])
    for line in [*map(_order_of, found["queues"]), *map(_fault_of, found.get("plugins") or [])]:
        if line:
            results.print(line, markup=False)


@app.command()
def export(*, endpoint: EndpointOption = None, token: TokenOption = None) -> None:
    """Print the documents that describe the queues, as YAML that `apply` takes."""
    with Gateway(endpoint, token) as gateway:
        found = gateway.ask("GET", "queues")
    sys.stdout.write(yaml.safe_dump_all([queue["document"] for queue in found["queues"]], sort_keys=False))


@app.command(
    epilog=examples("wavepool queues apply -f queues.yaml", "wavepool queues apply -f queues.yaml --prune --dry-run")
)
def apply(
    *,
    file: Annotated[Path, typer.Option("-f", "--file", help="YAML or JSON documents; `-` reads standard input.")],
    prune: Annotated[bool, typer.Option("--prune", help="Remove queues that the file does not describe.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, and change nothing.")] = False,
    yes: YesOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the queues to match a file: shows the difference, asks, and changes all or nothing."""
    documents = documents_of(file)
    wanted = {"documents": documents, "prune": prune}
    with Gateway(endpoint, token) as gateway:
        shown = gateway.ask("POST", "queues", "apply", body={**wanted, "dry_run": True, "expected_generation": 0})
        if not as_json:
            _print_changes(shown)
        if dry_run or not shown["changes"]:
            print_json(shown) if as_json else None
            return
        if not yes and not as_json and not typer.confirm("Change the queues?", err=True):
            raise typer.Abort
        known = {"dry_run": False, "expected_generation": shown["generation"]}
        made = gateway.ask("POST", "queues", "apply", body={**wanted, **known})
    if as_json:
        print_json(made)
    else:
        say(f"the queues are changed (generation {made['generation']})")


@app.answers("close")
def close(gateway: Gateway, name: NameArgument) -> Shown:
    """Stop a queue from taking new submissions. Those that it has continue."""
    yield from _changed(gateway, "POST", name, "close", done=f"queue {name} takes no new submissions")


@app.answers("open")
def open_queue(gateway: Gateway, name: NameArgument) -> Shown:
    """Let a closed queue take submissions again."""
    yield from _changed(gateway, "POST", name, "open", done=f"queue {name} takes submissions")


@app.answers("remove")
def remove(gateway: Gateway, name: NameArgument) -> Shown:
    """Remove a queue that has no submissions in flight."""
    yield from _changed(gateway, "DELETE", name, done=f"queue {name} is removed")


@app.answers(
    "maintenance",
    "wavepool queues maintenance MI300X --reason 'new firmware' --until 2027-01-15T15:00",
    "wavepool queues maintenance MI300X --end",
)
def maintenance(
    gateway: Gateway,
    gpu_type: Annotated[str, typer.Argument(metavar="TYPE", help="A GPU type.", autocompletion=complete_gpu_type)],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; everybody who asks for the type reads it.")] = "",
    until: Annotated[
        str,
        typer.Option("--until", metavar="TIME", help="When it ends by itself. Default: when you end it."),
    ] = "",
    end: Annotated[bool, typer.Option("--end", help="End it now.")] = False,
) -> Shown:
    """Keep a GPU type from new reservations, or end that. Submissions, and what is reserved, go on."""
    if end == bool(reason) or (end and until):
        raise InputError("give --reason to begin it, with or without --until, or --end alone to end it")
    if end:
        yield gateway.ask("DELETE", "gpu-types", gpu_type, "maintenance")
        say(f"{gpu_type} can be reserved")
        return
    body = {"reason": reason, **({"until": instant_with_zone("--until", until)} if until else {})}
    yield gateway.ask("PUT", "gpu-types", gpu_type, "maintenance", body=body)
    say(f"{gpu_type} is in maintenance: only you can reserve it")


@answered
def why(gateway: ReservationClient, name: AnyIdArgument) -> Shown:
    """Show why a submission or a reservation waits: its position, the rule that blocks it, and what would free it."""
    found = gateway.ask("GET", "submissions", find_id(gateway, name), "why")
    yield found
    results.print(str(found.get("reason")), markup=False)
    if not found.get("position"):
        return
    results.print(f"To free it: {found.get('remedy')}", markup=False)
    results.print(_standing(found), markup=False)
    if found.get("deadline"):
        last = f"it must start by {time_text(found.get('latest_start_time'))}, or it is cancelled"
        results.print(f"Deadline {time_text(found['deadline'])}: {last}", markup=False)
    if found.get("class"):
        worth = f"{counted(found.get('class_value'), 'point')} ({found.get('ordering')})"
        results.print(f"Class {found['class']}: {worth}", markup=False)
    if found["shares"]:
        columns = ("GPU", "quota", "fair share", "limit", "used")
        results.print(f"Queue {found.get('queue')}:", markup=False)
        yield table_of(columns, map(_share_cells, found["shares"]))
    if found["machines"]:
        rows = (
            (one.get("machine_id"), one.get("gpu_type"), one.get("reason"), _scores_of(one))
            for one in found["machines"]
        )
        yield table_of(("machine", "GPU", "why not", "scores"), rows)


def _scores_of(machine: dict[str, Any]) -> str:
    """The scores of a machine that has room, in the order in which they decide."""
    scores = cast("list[dict[str, Any]]", machine.get("scores") or [])
    return ", ".join(f"{one.get('name')} {one.get('value'):g}" for one in scores)


def documents_of(file: Path) -> list[dict[str, Any]]:
    """The documents of a file; raises InputError."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        read = [document for document in yaml.safe_load_all(text) if document is not None]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{file} is not YAML: {error}") from error
    wrong = next((number for number, one in enumerate(read, 1) if not isinstance(one, dict)), 0)
    if wrong or not read:
        found = f"document {wrong} of {file} is not a mapping" if wrong else f"{file} has no document"
        raise InputError(f"{found}; `wavepool queues export` shows the form")
    return cast("list[dict[str, Any]]", read)


def _changed(gateway: Gateway, method: str, *path: str, done: str) -> Shown:
    made = gateway.ask(method, "queues", *path)
    yield made
    yield done if made["changes"] else f"{done} already"


def _print_changes(shown: dict[str, Any]) -> None:
    for change in shown["changes"]:
        results.print(f"{_SIGNS.get(change['kind'], '?')} {change['name']}", markup=False)
        for field in change["fields"]:
            before = f"{field['before'] or '(unset)'} -> " if change["kind"] == "CHANGED" else ""
            results.print(f"    {field['field']}: {before}{field['after'] or '(unset)'}", markup=False)
    if not shown["changes"]:
        say("nothing to change: the queues match the file")


def _with_depth(listed: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    depths: dict[str, int] = {}
    for queue in listed:
        depths[queue["name"]] = depths.get(queue.get("parent") or "", -1) + 1
        yield depths[queue["name"]], queue


def _rows(depth: int, queue: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    name = f"{'  ' * depth}{queue['name']}{' (closed)' if queue.get('closed') else ''}"
    later = f", {queue['later_reservations']} later" if queue.get("later_reservations") else ""
    counts = (queue.get("running"), f"{queue.get('waiting')}{later}")
    # Nobody has asked for GPUs yet: what the document says.
    shares: list[dict[str, Any]] = queue.get("shares") or _described(queue)
    if not shares:
        yield (name, "", "", "", "", "", *counts)
    for number, share in enumerate(shares):
        gpu_type, quota, fair, limit, used = _share_cells(share)
        yield (name if not number else "", gpu_type, quota, fair, limit, used, *(counts if not number else ("", "")))


def _described(queue: dict[str, Any]) -> list[dict[str, Any]]:
    """What the queue's document says of each resource, in the form of its shares."""
    resources: dict[str, Any] = queue.get("document", {}).get("spec", {}).get("resources") or {}
    return [
        {"gpu_type": "any" if name == "gpu" else name, "quota": one.get("quota"), "limit": one.get("limit")}
        for name, one in resources.items()
    ]


def _order_of(queue: dict[str, Any]) -> str:
    """The queue's order, placement and classes, if they are not those of a queue that says nothing."""
    said = [f"{key} {queue[key]}" for key, usual in _USUAL.items() if queue.get(key, usual) != usual]
    if queue.get("max_priority"):
        said.append(f"priorities up to {queue['max_priority']}")
    classes: dict[str, Any] = queue.get("classes") or {}
    if classes:
        words = (_class_words(name, one, queue.get("default_class")) for name, one in classes.items())
        said.append(f"classes {', '.join(words)}")
    return f"{queue['name']}: {'; '.join(said)}" if said else ""


def _class_words(name: str, job_class: dict[str, Any], default: object) -> str:
    notes = ["default"] if name == default else []
    notes += ["administrators only"] if job_class.get("administratorsOnly") else []
    return f"{name} {job_class.get('value', 0)}" + (f" ({', '.join(notes)})" if notes else "")


def _fault_of(plugin: dict[str, Any]) -> str:
    if not plugin.get("failures"):
        return ""
    what = f"The {plugin.get('kind')} {plugin.get('name')!r} has failed {counted(plugin['failures'], 'time')}"
    instead = _USUAL.get(str(plugin.get("kind")), "the built-in one")
    last = plugin.get("last_failure")
    return f"{what}, and {instead!r} decided instead." + (f" The last time: {last}" if last else "")


def _share_cells(share: dict[str, Any]) -> tuple[object, ...]:
    least = "all" if share.get("quota") == -1 else _amount(share.get("quota"))
    rest = (_amount(share.get(name)) for name in ("fair_share", "limit", "used"))
    return (share.get("gpu_type"), least, *rest)


def _amount(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _standing(found: dict[str, Any]) -> str:
    others = found.get("ahead_in_others")
    ahead = f"{found.get('ahead_in_queue')} ahead of it in its queue" + (f" and {others} in others" if others else "")
    basis = found.get("estimate_basis")
    wait = wait_text({"eta_p50": found.get("eta_p50_seconds"), "eta_p90": found.get("eta_p90_seconds")})
    if wait:
        said = f" It starts {wait}{f' (estimate: {basis})' if basis else ''}."
    else:
        said = f" How long it waits is {basis}." if basis else ""
    return f"Position {found.get('position')}: {ahead}.{said}"
