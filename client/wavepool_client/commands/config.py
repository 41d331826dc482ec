"""`wavepool config`: profiles, each a gateway with a token."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_profile, complete_switch
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, examples
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.http.connection import checked_url
from wavepool_client.identity_client import IdentityClient
from wavepool_client.profiles import load_profiles, profiles_file, remove_profile, save_profile, shown, use_profile
from wavepool_client.ssh.config_files import include
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of

app = typer.Typer(
    help="Profiles: gateways with their tokens, in a file that only you can read.",
    epilog=examples(
        "wavepool config set work --url https://wavepool.example --token - --use < token",
        "wavepool config list",
        "wavepool --profile work jobs",
        "wavepool config use work",
        "wavepool config get",
    ),
    no_args_is_help=True,
)

ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="A profile's name.", autocompletion=complete_profile)
]


@app.command("set")
def set_profile(
    profile: ProfileArgument,
    *,
    url: Annotated[str | None, typer.Option(help="The gateway's URL.")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="The API token; `-` reads it from standard input, so that the shell's history does not have it."
        ),
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Make it the current profile.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Store a profile, or change the given parts of one."""
    if url is None and token is None:
        raise InputError("nothing to store: give --url or --token")
    given = _token_from_stdin() if token == "-" else token  # noqa: S105 - a sign, not a secret
    stored = save_profile(profile, url=checked_url(url) if url else url, token=given, use=use)
    if as_json:
        print_json({"profile": profile, "url": stored.url, "token": stored.shown_token})
        return
    say(f"stored profile {profile} in {profiles_file()}")
    if not use and load_profiles().current != profile:
        say(f"use it with --profile {profile}, or `wavepool config use {profile}`")


@app.command("get")
def get_profile(
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the gateway and the token that commands use now, and what this token may do."""
    with IdentityClient(endpoint, token) as identity:
        connection = identity.connection
        try:
            me: dict[str, Any] = identity.me()
        except WavepoolError as error:
            me = {"error": str(error).splitlines()[0]}
    name = os.environ.get("WAVEPOOL_PROFILE") or load_profiles().current
    found = {"profile": name, "url": connection.endpoint, "token": shown(connection.token), **me}
    if as_json:
        print_json(found)
        return
    found |= {"scopes": ", ".join(me.get("scopes", ()))}
    results.print(table_of(("", ""), [(key, value) for key, value in found.items() if value not in ("", None)]))


@app.command("list")
def list_profiles(*, as_json: JsonOption = False) -> None:
    """List the profiles; tokens are cut off after their first characters."""
    profiles = load_profiles()
    found = [
        {"profile": name, "url": one.url, "token": one.shown_token, "current": name == profiles.current}
        for name, one in sorted(profiles.by_name.items())
    ]
    if as_json:
        print_json(found)
        return
    rows = ((one["profile"], one["url"], one["token"], "current" if one["current"] else "") for one in found)
    results.print(table_of(("profile", "url", "token", ""), rows))


@app.command()
def use(
    profile: Annotated[
        str, typer.Argument(metavar="[PROFILE]", help="A profile's name.", autocompletion=complete_profile)
    ] = "",
    *,
    none: Annotated[bool, typer.Option("--none", help="Use none: what `wavepool up` left in .wavepool/.")] = False,
) -> None:
    """Make a profile the current one, which applies if neither an option nor the environment says otherwise."""
    if bool(profile) == none:
        raise InputError("give a profile, or --none")
    use_profile(profile)
    say(f"the current profile is {profile}" if profile else "there is no current profile")


@app.command()
def remove(profile: ProfileArgument) -> None:
    """Delete a profile with its token. The token itself goes on working until it is revoked."""
    remove_profile(profile)
    say(f"removed profile {profile}")


@app.command("ssh-include", epilog=examples("wavepool config ssh-include enable", "ssh wp-4k7q2f9x nproc"))
def ssh_include(
    change: Annotated[
        str,
        typer.Argument(metavar="enable|disable", help="Add the line, or remove it.", autocompletion=complete_switch),
    ],
) -> None:
    """Let ssh, scp, rsync and editors reach your reservations by name: one Include line at the top of ~/.ssh/config."""
    if change not in {"enable", "disable"}:
        raise InputError(f"ssh-include: is {change!r}; say enable or disable")
    changed = include(enable=change == "enable")
    for file in changed:
        say(f"{'added the Include line to' if change == 'enable' else 'removed the Include line from'} {file}")
    if not changed:
        say(f"nothing to do: it is {change}d")


@app.command()
def path() -> None:
    """Print where the profiles are stored."""
    results.print(str(profiles_file()), markup=False, soft_wrap=True)


def _token_from_stdin() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("API token", hide_input=True, err=True)).strip()
    given = sys.stdin.readline().strip()
    if not given:
        raise InputError("--token -: there is no token on standard input")
    return given
