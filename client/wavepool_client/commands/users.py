"""`wavepool users`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.completion import complete_user
from wavepool_client.commands.options import EndpointOption, GrantOption, JsonOption, TokenOption, examples
from wavepool_client.errors import InputError
from wavepool_client.identity_client import IdentityClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.identity import USER_COLUMNS, user_row, user_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    help="Users: people and programs that sign in. For administrators; operators may look.",
    epilog=examples(
        "wavepool users",
        "wavepool users create ada --grant 5 --email ada@example.org",
        "wavepool users change ada --role operator",
        "wavepool users disable ada",
    ),
)

UserArgument = Annotated[str, typer.Argument(metavar="USER", help="A user's name or id.", autocompletion=complete_user)]


class Role(StrEnum):
    """What a user may do in general."""

    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"
    SERVICE = "service"


RoleOption = Annotated[
    Role,
    typer.Option(case_sensitive=False, help="operator: looks after machines; admin: everything; service: a program."),
]


@app.callback(invoke_without_command=True)
def users(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Users: people and programs that sign in; without a subcommand, lists them."""
    if context.invoked_subcommand is None:
        list_users(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_users(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List all users; for operators and administrators."""
    with IdentityClient(endpoint, token) as identity:
        found = identity.users()
    print_json(found) if as_json else results.print(table_of(USER_COLUMNS, map(user_row, found)))


@app.command()
def show(
    user: UserArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a user: yourself, or anybody if you are an operator or administrator."""
    with IdentityClient(endpoint, token) as identity:
        tell_user(identity.user(user), as_json=as_json)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help='1 to 64 characters of a-z, 0-9 and "-".')],
    *,
    role: RoleOption = Role.USER,
    email: Annotated[str, typer.Option(help="For alerts and statements.")] = "",
    grant: GrantOption = 0.0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a user with an account of the same name."""
    with IdentityClient(endpoint, token) as identity:
        fields = {"name": name, "role": role.value, "email": email, "grant_usd": grant}
        tell_user(identity.create_user(fields), as_json=as_json)
    if not as_json:
        say(f"make a token for {name}: wavepool tokens create laptop --user {name}")


@app.command()
def change(
    user: UserArgument,
    *,
    role: Annotated[Role | None, typer.Option(case_sensitive=False, help="The new role.")] = None,
    email: Annotated[str | None, typer.Option(help="The new address; empty: none.")] = None,
    github_name: Annotated[
        str | None, typer.Option(help="The name on GitHub whose keys serve for reservations; empty: none.")
    ] = None,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a user's role, email or name on GitHub; a role takes effect within 5 s."""
    fields: dict[str, Any] = {}
    if role is not None:
        fields["role"] = role.value
    if email is not None:
        fields["email"] = email
    if github_name is not None:
        fields["github_name"] = github_name
    if not fields:
        raise InputError("nothing to change: give --role, --email or --github-name")
    with IdentityClient(endpoint, token) as identity:
        tell_user(identity.change_user(user, fields), as_json=as_json)


@app.command()
def disable(
    user: UserArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop all tokens of a user from working, within 5 s, until the user is enabled."""
    with IdentityClient(endpoint, token) as identity:
        tell_user(identity.change_user(user, {"disabled": True}), as_json=as_json)


@app.command()
def enable(
    user: UserArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a disabled user's tokens work again."""
    with IdentityClient(endpoint, token) as identity:
        tell_user(identity.change_user(user, {"disabled": False}), as_json=as_json)


def tell_user(user: Mapping[str, Any], *, as_json: bool) -> None:
    """Prints a user."""
    print_json(user) if as_json else results.print(table_of(("", ""), user_rows(dict(user))))
