"""`wavepool audit`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any, cast

import typer

from wavepool_client.commands.options import Gateway, Shown, answered
from wavepool_client.terminal.result_printing import listing
from wavepool_client.text.columns import written

PAGE_SIZE = 100


@answered
def audit(
    gateway: Gateway,
    *,
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Only what this person did.")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="Only this, such as drain_machine.")] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="From this moment on, such as 2027-01-15T15:00Z.")
    ] = "",
    until: Annotated[str, typer.Option("--until", metavar="TIME", help="Before this moment.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most entries to show.")] = 50,
) -> Shown:
    """List what operators and administrators did, and tried to do, newest first; for administrators."""
    asked = {"user": user, "kind": kind, "since": since, "until": until}
    newest_first = gateway.listed("acts", "audit", page_size=min(limit, PAGE_SIZE), **asked)
    acts = list(islice(newest_first, limit))
    yield acts
    as_they_are = {name: name for name in ("user", "kind", "outcome", "address")}
    yield listing(acts, {"time": written("time"), **as_they_are, "what": _what})


def _what(act: Mapping[str, Any]) -> str:
    asked = cast("Mapping[str, Any]", act["request"] if isinstance(act["request"], Mapping) else {})
    said = " ".join(f"{name}={value}" for name, value in asked.items() if name != "caller_token_id")
    return f"{said}: {act['message']}" if act["message"] else said
