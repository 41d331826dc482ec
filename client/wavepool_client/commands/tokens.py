"""`wavepool tokens`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import (
    complete_account,
    complete_profile,
    complete_scope,
    complete_token,
)
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, UserOption, examples
from wavepool_client.identity_client import IdentityClient
from wavepool_client.profiles import save_profile
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.identity import TOKEN_COLUMNS, token_row, works
from wavepool_client.text.lifetime import lifetime_seconds

app = typer.Typer(
    help="API tokens: your own, and for administrators those of others.",
    epilog=examples(
        "wavepool tokens",
        "wavepool tokens create ci --scope read --scope submit --lifetime 90d",
        "wavepool tokens create ci --account compilers",
        "wavepool tokens create laptop --user ada --save ada",
        "wavepool tokens revoke tok_01J…",
    ),
)


@app.callback(invoke_without_command=True)
def tokens(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """API tokens; without a subcommand, lists yours that work."""
    if context.invoked_subcommand is None:
        list_tokens(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_tokens(
    *,
    user: UserOption = "",
    account: Annotated[
        str,
        typer.Option(help="Tokens that charge this account, by name or id.", autocompletion=complete_account),
    ] = "",
    everything: Annotated[bool, typer.Option("--all", "-a", help="Also revoked and expired tokens.")] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tokens, without secrets."""
    now = datetime.now(UTC)
    with IdentityClient(endpoint, token) as identity:
        found = identity.tokens(user, account)
    shown = [one for one in found if everything or works(one, now)]
    if as_json:
        print_json(shown)
        return
    results.print(table_of(TOKEN_COLUMNS, (token_row(one, now) for one in shown)))
    if len(shown) < len(found):
        say(f"{len(found) - len(shown)} more are revoked or expired; --all shows them")


@app.command(
    epilog=examples(
        "wavepool tokens create ci --scope read --scope submit --lifetime 90d > ci.token",
        "wavepool tokens create laptop --user ada --save ada",
    )
)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="For people, such as `laptop`.")],
    *,
    user: UserOption = "",
    account: Annotated[
        str,
        typer.Option(
            help="The account that it charges, by name or id, such as a team's; default: that of your token.",
            autocompletion=complete_account,
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="read, submit, manage, operate or admin; may be repeated. Default: all that your token may do.",
            autocompletion=complete_scope,
        ),
    ] = None,
    lifetime: Annotated[
        str, typer.Option(help="How long it works, such as 12h or 30d; default: until it is revoked.")
    ] = "",
    save: Annotated[
        str,
        typer.Option(
            metavar="PROFILE",
            help="Store it in this profile, with the gateway's URL, instead of printing it.",
            autocompletion=complete_profile,
        ),
    ] = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a token and print its secret, which is shown only this once."""
    fields: dict[str, Any] = {"name": name, "user_id": user, "account_id": account, "scopes": scope or []}
    if lifetime:
        fields["lifetime_seconds"] = lifetime_seconds(lifetime)
    with IdentityClient(endpoint, token) as identity:
        made = identity.create_token(fields)
        url = identity.connection.endpoint
    secret = str(made["token"])
    if save:
        save_profile(save, url=url, token=secret)
        del made["token"]
        say(f"the token is in profile {save}; use it with --profile {save}, or `wavepool config use {save}`")
    if as_json:
        print_json(made)
    elif not save:
        results.print(secret, markup=False, soft_wrap=True)
        say(f"token {made['id']} of {made['user_name']} charges {made['account_name']}; keep it, it is not shown again")


@app.command()
def revoke(
    token_ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Tokens' ids.", autocompletion=complete_token)],
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke tokens for good; they stop working within 5 s."""
    with IdentityClient(endpoint, token) as identity:
        for token_id in token_ids:
            identity.revoke_token(token_id)
            say(f"{token_id} is revoked")
    if as_json:
        print_json({"revoked": token_ids})
