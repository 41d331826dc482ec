"""`wavepool connect`, `ssh-config` and `ssh-proxy`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.options import (
    EndpointOption,
    TokenOption,
)
from wavepool_client.commands.passed_on import PASSED_ON
from wavepool_client.commands.reservation_lookup import (
    ReservationArgument,
    check_active,
    find_reservation,
)
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.ssh.access import config_text, has_agent, identities, others_who_may_log_in, ssh_command
from wavepool_client.ssh.config_files import is_included, write_config
from wavepool_client.ssh.remote import CONNECTION_FAILED
from wavepool_client.ssh.visits import Visits
from wavepool_client.terminal.choices import pick
from wavepool_client.terminal.output import is_on_terminal, say
from wavepool_client.text.reservation_advice import refusal_lines
from wavepool_client.text.reservations import host_name, nodes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.http.connection import Connection


def connect(
    context: typer.Context,
    reservation: ReservationArgument = "",
    *,
    node: Annotated[
        int | None,
        typer.Option(
            "--node", min=0, help="The machine, by rank, if there are several. Prompted for on a terminal, else 0."
        ),
    ] = None,
    agent: Annotated[
        bool | None,
        typer.Option(
            "--agent/--no-agent",
            help="Forward your ssh agent. Default: only if no other user may log in there.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep/--no-keep",
            help="Keep the shell if the connection is lost, and reconnect to it. Default, on a terminal.",
        ),
    ] = True,
    show: Annotated[bool, typer.Option("--print", help="Print the command instead of running it.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Connect to an active reservation by SSH. Words after `--` go to ssh: options, or a command to run there."""
    words: list[str] = context.meta[PASSED_ON]
    with ReservationClient(endpoint, token) as client:
        found = find_reservation(client, reservation, ("active",))
        connection = client.connection
        forwards = _forwards_agent(client, found, agent)
    if node is None:
        node = _asked_node(found) if is_on_terminal() and not (words or show) else 0
    if show:
        check_active(found)
        command = ssh_command(found, connection, words, node, forwards_agent=forwards)
        sys.stdout.write(shlex.join(command) + "\n")
        return
    status = connect_to(found, connection, words, token, node, forwards, keeps=keep)
    if status == CONNECTION_FAILED:
        _explain(str(found["id"]), endpoint, token)
    raise typer.Exit(status)


def ssh_config(
    reservation: ReservationArgument = "", *, endpoint: EndpointOption = None, token: TokenOption = None
) -> None:
    """Print and store the lines that let `ssh`, `scp`, `rsync` and editors reach a reservation."""
    with ReservationClient(endpoint, token) as client:
        found = find_reservation(client, reservation, ("active",))
        sys.stdout.write(config_text(found, client.connection))
        file = write_config(found, client.connection)
    if is_included():
        say(f"ssh reads {file}: ssh {host_name(str(found['id']))}")
    else:
        say(f"stored in {file}; `wavepool config ssh-include enable` makes ssh read it")


def ssh_proxy(
    reservation_id: Annotated[str, typer.Argument(metavar="ID", help="A full id.")],
    *,
    node: Annotated[int, typer.Option("--node", min=0, help="The machine, by rank, if there are several.")] = 0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Connect ssh to a reservation: for ssh's option ProxyCommand."""
    from wavepool_client.ssh.proxy import carry, leave  # noqa: PLC0415 - WebSockets are for this command alone

    with ReservationClient(endpoint, token) as client:
        connection = client.connection
    leave(carry(connection, reservation_id, node))


def connect_to(
    reservation: dict[str, Any],
    connection: Connection,
    words: Sequence[str] = (),
    token: str | None = None,
    node: int = 0,
    forwards_agent: bool | None = None,  # noqa: FBT001 - as ssh_command takes it
    *,
    keeps: bool = True,
) -> int:
    """Runs ssh, and returns its exit status; `token` is one that only this command was given.

    A shell on a terminal outlives its connection, and ssh is started again, unless it is not to be kept.
    """

    def command(after_host: Sequence[str]) -> list[str]:
        return ssh_command(reservation, connection, after_host, node, forwards_agent=forwards_agent)

    check_active(reservation)
    write_config(reservation, connection)
    if shutil.which("ssh") is None:
        raise InputError("there is no ssh on this machine; install OpenSSH's client")
    environment = {**os.environ, **({"WAVEPOOL_TOKEN": token} if token else {})}
    on_terminal = is_on_terminal() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    keeps_shell = keeps and not words and on_terminal
    return Visits(str(reservation["id"]), command, words, environment, keeps_shell).run()


def _explain(reservation_id: str, endpoint: str | None, token: str | None) -> None:
    """Says why ssh may have failed, as far as the gateway knows; it may be the one that does not answer."""
    with suppress(WavepoolError), ReservationClient(endpoint, token) as client:
        now = client.reservation(reservation_id)
        caller = str(client.me().get("user_name") or "")
        for line in refusal_lines(now, [str(file) for file in identities(reservation_id)], caller):
            say(line)


def _forwards_agent(client: ReservationClient, reservation: dict[str, Any], wish: bool | None) -> bool | None:  # noqa: FBT001
    """If the agent is forwarded, and says so; None leaves it to ssh's own configuration. Raises InputError."""
    if wish is False:
        return False
    if not has_agent():
        if wish:
            raise InputError("--agent: there is no agent here (SSH_AUTH_SOCK); start one with `eval $(ssh-agent)`")
        return None
    others = [] if wish else others_who_may_log_in(reservation, client.me())
    if others:
        say(f"your ssh agent is not forwarded: {', '.join(others)} may also log in, and could use it; see --agent")
        return None
    say("your ssh agent is forwarded, so programs there can use its keys while you are connected; see --no-agent")
    return True


def _asked_node(reservation: dict[str, Any]) -> int:
    """Asks which of several machines; 0 if it has one."""
    nodes = nodes_of(reservation)
    texts = [f"node {node.get('rank')}: {node.get('machine_id')}" for node in nodes]
    return pick("Which machine", texts, 0) if nodes else 0
