"""`wavepool accounts`."""

from __future__ import annotations

from typing import Annotated

import typer

from wavepool_client.commands.completion import complete_account
from wavepool_client.commands.options import EndpointOption, GrantOption, JsonOption, TokenOption, examples
from wavepool_client.identity_client import IdentityClient
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.identity import ACCOUNT_COLUMNS, account_row, account_rows

app = typer.Typer(
    help="Accounts: wallets with credit, each of one user or one team.",
    epilog=examples("wavepool accounts", "wavepool accounts show compilers", "wavepool accounts create ada --grant 5"),
)

AccountArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="An account's name or id.", autocompletion=complete_account)
]


@app.callback(invoke_without_command=True)
def accounts(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Accounts: wallets with credit, each of one user or one team; without a subcommand, lists them."""
    if context.invoked_subcommand is None:
        list_accounts(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_accounts(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List your account and those of your teams; operators and administrators see all."""
    with IdentityClient(endpoint, token) as identity:
        found = identity.accounts()
    print_json(found) if as_json else results.print(table_of(ACCOUNT_COLUMNS, map(account_row, found)))


@app.command()
def show(
    account: AccountArgument,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an account with its credit."""
    with IdentityClient(endpoint, token) as identity:
        found = identity.account(account)
    print_json(found) if as_json else results.print(table_of(("", ""), account_rows(found)))


@app.command(epilog=examples("wavepool accounts create ada --grant 5", "wavepool tokens create laptop --user ada"))
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help='1 to 64 characters of a-z, 0-9 and "-".')],
    *,
    grant: GrantOption = 0.0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open an account for a new user of the same name; for administrators. `wavepool teams create` opens a team's."""
    with IdentityClient(endpoint, token) as identity:
        made = identity.create_account(name, grant)
    if as_json:
        print_json(made)
        return
    results.print(table_of(("", ""), account_rows(made)))
    say(f"make a token for {name}: wavepool tokens create laptop --user {name}")
