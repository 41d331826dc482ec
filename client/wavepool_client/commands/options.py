"""Options that several commands share, and the kind of command that shows what the gateway answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from wavepool_client.client import Client
from wavepool_client.commands.completion import complete_gpu_type, complete_submission, complete_user
from wavepool_client.errors import InputError
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.terminal.output import is_on_terminal, print_json, repeat, results, say

EndpointOption = Annotated[
    str | None,
    typer.Option(
        envvar="WAVEPOOL_ENDPOINT", help="The gateway's URL. Default: the profile's, or where `wavepool up` serves."
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option(envvar="WAVEPOOL_TOKEN", help="The API token. Default: the profile's, or .wavepool/token."),
]
GrantOption = Annotated[float, typer.Option("--grant", min=0, help="First credit of the account, in dollars.")]
WatchOption = Annotated[bool, typer.Option("--watch", "-w", help="Refresh until Ctrl-C.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for scripts.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DataDirOption = Annotated[
    Path,
    typer.Option("--data-dir", envvar="WAVEPOOL_DATA_DIR", help="The folder of databases, token and logs."),
]
GpuTypeOption = Annotated[
    str, typer.Option("--gpu-type", "-t", metavar="TYPE", autocompletion=complete_gpu_type, help="Only this GPU type.")
]
IdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        autocompletion=complete_submission,
        help="A submission's id, or as much of its beginning as no other has.",
    ),
]
SinceOption = Annotated[
    str, typer.Option("--since", metavar="TIME", help="24h, 7d, or a day or instant (UTC unless it has a zone).")
]
UntilOption = Annotated[str, typer.Option("--until", metavar="TIME", help="Likewise; not included. Default: now.")]
UserOption = Annotated[
    str, typer.Option("--user", help="A user's name or id. Default: you.", autocompletion=complete_user)
]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(rf"(\d{{1,5}})([{''.join(_UNITS)}])")
Gateway: TypeAlias = GatewayClient
Shown: TypeAlias = Generator[object, None, None]
Command: TypeAlias = Callable[..., None]


def connect(endpoint: str | None, token: str | None) -> Client:
    """A client for the given options."""
    return Client(endpoint, token)


def examples(*lines: str) -> str:
    """The epilog of a command's help: examples, a line each."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def instant_option(name: str, text: str) -> str:
    """An instant for the gateway, which understands days and instants itself; raises InputError."""
    ago = _AGO.fullmatch(text)
    if not ago:
        return text
    try:
        return (datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})).isoformat()
    except OverflowError as error:
        raise InputError(f"{name}: {text} ago is before all dates") from error


def instant_with_zone(option: str, text: str) -> str:
    """The instant in ISO 8601 with its zone; empty if `text` is. Raises InputError."""
    if not text:
        return ""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except (ValueError, OverflowError) as error:
        raise InputError(f"{option}: {text!r} is not a time such as 2027-01-01T00:00Z: {error}") from error


def words_of(text: str) -> list[str]:
    """The words of an option that takes several, with commas between them."""
    return [word.strip() for word in text.split(",") if word.strip()]


def agrees(question: str, *, yes: bool) -> bool:
    """Asks for confirmation on a terminal; raises InputError in a script without --yes."""
    if not yes and not is_on_terminal():
        raise InputError(f"{question} There is no terminal to ask on; give --yes")
    return yes or typer.confirm(question, err=True)


def with_parameters(run: Command, command: Callable[..., object], parameters: list[Parameter]) -> Command:
    """The function `run` as typer sees it: with the help of `command`, and an option for each of the parameters."""
    named = wraps(command)(run)
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    named.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    named.__annotations__ = {one.name: one.annotation for one in parameters}
    return named


def answered(ask: Callable[..., Shown], watch_seconds: float = 0.0) -> Command:
    """The command that connects to the gateway, asks it, and shows the answer as JSON or to people.

    `ask` gets a client of the annotated class as its first argument, then the options of its own. It yields the
    answer, which is all that `--json` prints; then what people see: text goes to stderr, tables to stdout. With
    `watch_seconds` the command has the option --watch, which asks again after so many.
    """
    client, *own = signature(ask, eval_str=True).parameters.values()
    watches = signature(_watches, eval_str=True).parameters.values() if watch_seconds else ()

    def run(*, endpoint: str | None, token: str | None, as_json: bool, watch: bool = False, **given: object) -> None:
        with client.annotation(endpoint, token) as gateway:
            repeat(lambda: _show(ask(gateway, **given), as_json=as_json), watch_seconds if watch else 0)

    return with_parameters(run, ask, [*own, *watches, *signature(_shared, eval_str=True).parameters.values()])


class Group(typer.Typer):
    """A group of commands, which may list something if it is called without a subcommand."""

    def __init__(self, about: str, *lines: str) -> None:
        super().__init__(help=about, epilog=examples(*lines))

    def answers(self, name: str, *lines: str, watch_seconds: float = 0.0) -> Callable[[Callable[..., Shown]], Command]:
        """Adds a command that asks the gateway (`answered`), with examples."""

        def add(ask: Callable[..., Shown]) -> Command:
            return self.command(name, epilog=examples(*lines) if lines else None)(answered(ask, watch_seconds))

        return add

    def lists(self, watch_seconds: float = 0.0) -> Callable[[Callable[..., Shown]], Command]:
        """Adds such a command as `list`, and as what the group does by itself."""

        def add(ask: Callable[..., Shown]) -> Command:
            command = self.answers("list", watch_seconds=watch_seconds)(ask)
            self.info.help = f"{self.info.help}\n\nWithout a subcommand: the same as `list`."
            return self.by_itself(command)

        return add

    def by_itself(self, command: Command) -> Command:
        """Makes a command that which the group does without a subcommand."""

        def alone(*, context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - whatever typer read
            if context.invoked_subcommand is None:
                command(**given)

        context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *signature(command).parameters.values()]
        self.callback(invoke_without_command=True)(with_parameters(alone, command, parameters))
        return command


def _show(shown: Shown, *, as_json: bool) -> None:
    # Closed, so that a `finally` of the command runs after JSON, too.
    with closing(shown):
        answer = next(shown)
        if as_json:
            print_json(answer)
            return
        for one in shown:
            say(one) if isinstance(one, str) else results.print(one)


def _shared(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """The options of all commands that ask the gateway."""


def _watches(*, watch: WatchOption = False) -> None:
    """The option of those that can ask again and again."""
