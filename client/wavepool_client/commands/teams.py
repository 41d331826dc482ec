"""`wavepool teams`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.completion import complete_team, complete_user
from wavepool_client.commands.options import EndpointOption, GrantOption, JsonOption, TokenOption, examples
from wavepool_client.identity_client import IdentityClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.identity import MEMBER_COLUMNS, TEAM_COLUMNS, member_rows, team_row

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    help="Teams: users who share an account.",
    epilog=examples(
        "wavepool teams",
        "wavepool teams create compilers --grant 50",
        "wavepool teams add compilers ada --manager",
        "wavepool tokens create ci --account compilers --scope read --scope submit",
    ),
)

TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name or id.", autocompletion=complete_team)]
MemberArgument = Annotated[
    str, typer.Argument(metavar="USER", help="A user's name or id.", autocompletion=complete_user)
]


@app.callback(invoke_without_command=True)
def teams(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Teams: users who share an account; without a subcommand, lists yours."""
    if context.invoked_subcommand is None:
        list_teams(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_teams(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List your teams; operators and administrators see all."""
    with IdentityClient(endpoint, token) as identity:
        found = identity.teams()
    print_json(found) if as_json else results.print(table_of(TEAM_COLUMNS, map(team_row, found)))


@app.command()
def show(
    team: TeamArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a team with its members."""
    with IdentityClient(endpoint, token) as identity:
        tell_team(identity.team(team), as_json=as_json)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help='1 to 64 characters of a-z, 0-9 and "-".')],
    *,
    grant: GrantOption = 0.0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a team with an account of the same name; for administrators."""
    with IdentityClient(endpoint, token) as identity:
        tell_team(identity.create_team(name, grant), as_json=as_json)
    if not as_json:
        say(f"add members: wavepool teams add {name} USER")


@app.command()
def add(
    team: TeamArgument,
    user: MemberArgument,
    *,
    manager: Annotated[bool, typer.Option("--manager", help="May add and remove members, too.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a user to a team, or change what a member may do; for managers of the team and administrators."""
    with IdentityClient(endpoint, token) as identity:
        tell_team(identity.add_member(team, user, "manager" if manager else "member"), as_json=as_json)


@app.command()
def remove(
    team: TeamArgument,
    user: MemberArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a user from a team; the user's tokens for the team stop working within 5 s. Everybody may leave."""
    with IdentityClient(endpoint, token) as identity:
        tell_team(identity.remove_member(team, user), as_json=as_json)


def tell_team(team: Mapping[str, Any], *, as_json: bool) -> None:
    """Prints a team with its members."""
    if as_json:
        print_json(team)
        return
    results.print(table_of(TEAM_COLUMNS, [team_row(dict(team))]))
    results.print(table_of(MEMBER_COLUMNS, member_rows(dict(team))))
