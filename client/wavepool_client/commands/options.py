"""Options that several commands share, with one name and one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wavepool_client.client import Client
from wavepool_client.commands.completion import complete_submission, complete_user

EndpointOption = Annotated[
    str | None,
    typer.Option(
        envvar="WAVEPOOL_ENDPOINT", help="The gateway's URL; default: the profile's, or where `wavepool up` serves."
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option(envvar="WAVEPOOL_TOKEN", help="The API token; default: the profile's, or .wavepool/token."),
]
GrantOption = Annotated[float, typer.Option("--grant", min=0, help="First credit of the account, in dollars.")]
WatchOption = Annotated[bool, typer.Option("--watch", "-w", help="Show it again and again, until Ctrl-C.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for scripts.")]
DataDirOption = Annotated[
    Path,
    typer.Option("--data-dir", envvar="WAVEPOOL_DATA_DIR", help="Where databases, token and logs are."),
]
IdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", autocompletion=complete_submission, help="A submission's id, as `wavepool jobs` lists them."
    ),
]


UserOption = Annotated[
    str, typer.Option("--user", help="A user's name or id; default: you.", autocompletion=complete_user)
]


def connect(endpoint: str | None, token: str | None) -> Client:
    """A client for the given options."""
    return Client(endpoint, token)


def examples(*lines: str) -> str:
    """The epilog of a command's help: examples, a line each."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
