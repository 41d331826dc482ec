"""`wavepool accounts`, `users`, `teams` and `tokens`."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import (
    complete_account,
    complete_profile,
    complete_scope,
    complete_team,
    complete_token,
    complete_user,
)
from wavepool_client.commands.options import Gateway, GrantOption, Group, Shown, UserOption
from wavepool_client.errors import InputError
from wavepool_client.profiles import save_profile
from wavepool_client.terminal.output import results, say
from wavepool_client.terminal.result_printing import listing, table_of
from wavepool_client.text.identity import (
    ACCOUNTS,
    MEMBERS,
    TEAMS,
    USERS,
    account_rows,
    token_columns,
    user_rows,
    works,
)
from wavepool_client.text.lifetime import lifetime_seconds

accounts = Group(
    "Accounts: wallets with credit, each of one user or one team.",
    "wavepool accounts",
    "wavepool accounts show compilers",
    "wavepool accounts create ada --grant 5",
)
users = Group(
    "Users: people and programs that sign in. For administrators; operators may look.",
    "wavepool users",
    "wavepool users create ada --grant 5 --email ada@example.org",
    "wavepool users change ada --role operator",
    "wavepool users disable ada",
)
teams = Group(
    "Teams: users who share an account.",
    "wavepool teams",
    "wavepool teams create compilers --grant 50",
    "wavepool teams add compilers ada --manager",
    "wavepool tokens create ci --account compilers --scope read --scope submit",
)
tokens = Group(
    "API tokens: your own, and for administrators those of other users.",
    "wavepool tokens",
    "wavepool tokens create ci --scope read --scope submit --lifetime 90d",
    "wavepool tokens create ci --account compilers",
    "wavepool tokens create laptop --user ada --save ada",
    "wavepool tokens revoke tok_01J…",
)

AccountArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="An account's name or id.", autocompletion=complete_account)
]
UserArgument = Annotated[str, typer.Argument(metavar="USER", help="A user's name or id.", autocompletion=complete_user)]
TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name or id.", autocompletion=complete_team)]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help='1 to 64 characters of a-z, 0-9 and "-".')]


class Role(StrEnum):
    """A user's general rights."""

    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"
    SERVICE = "service"


RoleOption = Annotated[
    Role,
    typer.Option(case_sensitive=False, help="operator: looks after machines; admin: everything; service: a program."),
]


@accounts.lists()
def list_accounts(gateway: Gateway) -> Shown:
    """List your account and those of your teams; operators and administrators see all."""
    found = gateway.ask("GET", "accounts")["accounts"]
    yield found
    yield listing(found, ACCOUNTS)


@accounts.answers("show")
def show_account(gateway: Gateway, account: AccountArgument) -> Shown:
    """Show an account with its credit."""
    found = gateway.ask("GET", "accounts", account)
    yield found
    yield table_of(("", ""), account_rows(found))


@accounts.answers("create", "wavepool accounts create ada --grant 5", "wavepool tokens create laptop --user ada")
def create_account(gateway: Gateway, name: NameArgument, *, grant: GrantOption = 0.0) -> Shown:
    """Open an account for a new user of the same name; for administrators. `wavepool teams create` opens a team's."""
    made = gateway.ask("POST", "accounts", body={"name": name, "grant_usd": grant})
    yield made
    yield table_of(("", ""), account_rows(made))
    yield f"make a token for {name}: wavepool tokens create laptop --user {name}"


@users.lists()
def list_users(gateway: Gateway) -> Shown:
    """List all users; for operators and administrators."""
    found = gateway.ask("GET", "users")["users"]
    yield found
    yield listing(found, USERS)


@users.answers("show")
def show_user(gateway: Gateway, user: UserArgument) -> Shown:
    """Show a user: yourself, or any user if you are an operator or administrator."""
    yield from _user_shown(gateway.ask("GET", "users", user))


@users.answers("create")
def create_user(
    gateway: Gateway,
    name: NameArgument,
    *,
    role: RoleOption = Role.USER,
    email: Annotated[str, typer.Option(help="For mails about ends (`wavepool notices`).")] = "",
    grant: GrantOption = 0.0,
) -> Shown:
    """Add a user with an account of the same name."""
    fields = {"name": name, "role": role.value, "email": email, "grant_usd": grant}
    yield from _user_shown(gateway.ask("POST", "users", body=fields))
    yield f"make a token for {name}: wavepool tokens create laptop --user {name}"


@users.answers("change")
def change_user(
    gateway: Gateway,
    user: UserArgument,
    *,
    role: Annotated[Role | None, typer.Option(case_sensitive=False, help="The new role.")] = None,
    email: Annotated[str | None, typer.Option(help="The new address; empty: none.")] = None,
    github_name: Annotated[
        str | None, typer.Option(help="The GitHub name whose keys may log in to reservations; empty: none.")
    ] = None,
) -> Shown:
    """Change a user's role, email or GitHub name; a role takes effect within 5 s."""
    given = {"role": role.value if role else None, "email": email, "github_name": github_name}
    fields = {name: value for name, value in given.items() if value is not None}
    if not fields:
        raise InputError("nothing to change: give --role, --email or --github-name")
    yield from _user_shown(gateway.ask("PATCH", "users", user, body=fields))


@users.answers("disable")
def disable_user(gateway: Gateway, user: UserArgument) -> Shown:
    """Stop all tokens of a user from working, within 5 s, until the user is enabled."""
    yield from _user_shown(gateway.ask("PATCH", "users", user, body={"disabled": True}))


@users.answers("enable")
def enable_user(gateway: Gateway, user: UserArgument) -> Shown:
    """Let a disabled user's tokens work again."""
    yield from _user_shown(gateway.ask("PATCH", "users", user, body={"disabled": False}))


@teams.lists()
def list_teams(gateway: Gateway) -> Shown:
    """List your teams; operators and administrators see all."""
    found = gateway.ask("GET", "teams")["teams"]
    yield found
    yield listing(found, TEAMS)


@teams.answers("show")
def show_team(gateway: Gateway, team: TeamArgument) -> Shown:
    """Show a team with its members."""
    yield from _team_shown(gateway.ask("GET", "teams", team))


@teams.answers("create")
def create_team(gateway: Gateway, name: NameArgument, *, grant: GrantOption = 0.0) -> Shown:
    """Add a team with an account of the same name; for administrators."""
    yield from _team_shown(gateway.ask("POST", "teams", body={"name": name, "grant_usd": grant}))
    yield f"add members: wavepool teams add {name} USER"


@teams.answers("add")
def add_member(
    gateway: Gateway,
    team: TeamArgument,
    user: UserArgument,
    *,
    manager: Annotated[bool, typer.Option("--manager", help="May also add and remove members.")] = False,
) -> Shown:
    """Add a user to a team, or change a member's rights; for managers of the team and administrators."""
    level = {"level": "manager" if manager else "member"}
    yield from _team_shown(gateway.ask("PUT", "teams", team, "members", user, body=level))


@teams.answers("remove")
def remove_member(gateway: Gateway, team: TeamArgument, user: UserArgument) -> Shown:
    """Remove a user from a team; the user's tokens for the team stop working within 5 s. Every member may leave."""
    yield from _team_shown(gateway.ask("DELETE", "teams", team, "members", user))


@tokens.lists()
def list_tokens(
    gateway: Gateway,
    *,
    user: UserOption = "",
    account: Annotated[
        str, typer.Option(help="Tokens that charge this account, by name or id.", autocompletion=complete_account)
    ] = "",
    everything: Annotated[bool, typer.Option("--all", "-a", help="Include revoked and expired tokens.")] = False,
) -> Shown:
    """List tokens that work, without secrets."""
    now = datetime.now(UTC)
    found = gateway.ask("GET", "tokens", user_id=user, account_id=account)["tokens"]
    shown = [one for one in found if everything or works(one, now)]
    yield shown
    yield listing(shown, token_columns(now))
    if len(shown) < len(found):
        yield f"{len(found) - len(shown)} more are revoked or expired; --all shows them"


@tokens.answers(
    "create",
    "wavepool tokens create ci --scope read --scope submit --lifetime 90d > ci.token",
    "wavepool tokens create laptop --user ada --save ada",
)
def create_token(
    gateway: Gateway,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A label, such as `laptop`.")],
    *,
    user: UserOption = "",
    account: Annotated[
        str,
        typer.Option(
            help="The account to charge, by name or id, such as a team's. Default: that of your token.",
            autocompletion=complete_account,
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="read, submit, manage, operate or admin. Repeatable. Default: all scopes of your token.",
            autocompletion=complete_scope,
        ),
    ] = None,
    lifetime: Annotated[
        str, typer.Option(help="How long it works, such as 12h or 30d. Default: until it is revoked.")
    ] = "",
    save: Annotated[
        str,
        typer.Option(
            metavar="PROFILE",
            help="Store it in this profile, with the gateway's URL, instead of printing it.",
            autocompletion=complete_profile,
        ),
    ] = "",
) -> Shown:
    """Create a token and print its secret, which is shown only this once."""
    fields: dict[str, Any] = {"name": name, "user_id": user, "account_id": account, "scopes": scope or []}
    if lifetime:
        fields["lifetime_seconds"] = lifetime_seconds(lifetime)
    made = gateway.ask("POST", "tokens", body=fields)
    if not save:
        yield made
        results.print(str(made["token"]), markup=False, soft_wrap=True)
        yield f"token {made['id']} of {made['user_name']} charges {made['account_name']}; it is not shown again"
        return
    save_profile(save, url=gateway.connection.endpoint, token=str(made.pop("token")))
    yield made
    yield f"the token is in profile {save}; use it with --profile {save}, or `wavepool config use {save}`"


@tokens.answers("revoke")
def revoke_tokens(
    gateway: Gateway,
    token_ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Tokens' ids.", autocompletion=complete_token)],
) -> Shown:
    """Revoke tokens for good; they stop working within 5 s."""
    for token_id in token_ids:
        gateway.ask("DELETE", "tokens", token_id)
        say(f"{token_id} is revoked")
    yield {"revoked": token_ids}


def _user_shown(user: dict[str, Any]) -> Shown:
    yield user
    yield table_of(("", ""), user_rows(user))


def _team_shown(team: dict[str, Any]) -> Shown:
    yield team
    yield listing([team], TEAMS)
    yield listing(team.get("members") or [], MEMBERS)
