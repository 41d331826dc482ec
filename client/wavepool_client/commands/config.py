"""`wavepool config`: profiles, each a gateway with a token, and settings for all of them."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_profile, complete_switch
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, examples
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.http.connection import checked_url
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.profiles import (
    SETTINGS,
    github_user,
    load_profiles,
    name_for,
    profile_at,
    profiles_file,
    remove_profile,
    save_profile,
    save_setting,
    shown,
    use_profile,
)
from wavepool_client.ssh.config_files import include
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of

NAMES = ("profile", "endpoint", *SETTINGS)

app = typer.Typer(
    help="Profiles (gateways with their tokens) and settings, in a file that only you can read.",
    epilog=examples(
        "wavepool config set work --url https://wavepool.example --token - --use < token",
        "wavepool config list",
        "wavepool --profile work jobs",
        "wavepool config use work",
        "wavepool config get",
        "wavepool config set default_gpu_type MI300X",
    ),
    no_args_is_help=True,
)

ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="A profile's name.", autocompletion=complete_profile)
]


@app.command(
    "set", epilog=examples("wavepool config set work --url URL --token -", "wavepool config set github_user ada")
)
def set_profile(
    profile: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE|SETTING",
            help=f"A profile's name; or, with a value, one of {', '.join(NAMES)}.",
            autocompletion=complete_profile,
        ),
    ],
    value: Annotated[str, typer.Argument(metavar="[VALUE]", help="The setting's value.")] = "",
    *,
    url: Annotated[str | None, typer.Option(help="The gateway's URL.")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="The API token; `-` reads it from standard input, which keeps it out of the shell's history."
        ),
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Make it the current profile.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Store a profile, or change the given parts of one; or store a setting."""
    if value:
        if url is not None or token is not None or use:
            raise InputError(
                f"{value!r}: a setting's value cannot be combined with --url, --token or --use of a profile"
            )
        _store(_setting_name(profile), value)
        show_settings(as_json=as_json)
        return
    if url is None and token is None:
        raise InputError("nothing to store: give --url or --token, or the value of a setting")
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
    """Show the gateway and token in use, and the token's rights."""
    with GatewayClient(endpoint, token) as gateway:
        connection = gateway.connection
        try:
            me: dict[str, Any] = gateway.ask("GET", "me")
        except WavepoolError as error:
            me = {"error": str(error).splitlines()[0]}
    name = os.environ.get("WAVEPOOL_PROFILE") or load_profiles().current
    found = {"profile": name, "url": connection.endpoint, "token": shown(connection.token), **me}
    if as_json:
        print_json(found)
        return
    found |= {"scopes": ", ".join(me.get("scopes", ()))}
    results.print(table_of(("", ""), [(key, value) for key, value in found.items() if value not in ("", None)]))


@app.command("show")
def show_settings(*, as_json: JsonOption = False) -> None:
    """Show the settings and the file of each. `wavepool config get` shows who you are to the gateway."""
    profiles = load_profiles()
    name, file = github_user()
    current = profiles.by_name.get(profiles.current)
    values = {
        "profile": (profiles.current, profiles_file()),
        "endpoint": (current.url if current else "", profiles_file()),
        "default_gpu_type": (profiles.settings.get("default_gpu_type", ""), profiles_file()),
        "github_user": (name, file),
    }
    if as_json:
        print_json({key: value or None for key, (value, _) in values.items()})
        return
    rows = [(key, value or "-", str(file) if value else "") for key, (value, file) in values.items()]
    results.print(table_of(("setting", "value", "from"), rows))


@app.command(epilog=examples("wavepool config unset default_gpu_type"))
def unset(
    name: Annotated[str, typer.Argument(metavar="SETTING", help=f"One of {', '.join(NAMES)}.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Remove a setting. Removing `profile` or `endpoint` keeps all profiles, and makes none the current one."""
    name = _setting_name(name)
    save_setting(name, "") if name in SETTINGS else use_profile("")
    show_settings(as_json=as_json)


@app.command("list")
def list_profiles(*, as_json: JsonOption = False) -> None:
    """List the profiles. Only the beginning of a token is shown."""
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
    none: Annotated[
        bool, typer.Option("--none", help="Use no profile, only the files that `wavepool up` left in .wavepool/.")
    ] = False,
) -> None:
    """Make a profile the current one. Options and the environment take precedence."""
    if bool(profile) == none:
        raise InputError("give a profile, or --none")
    use_profile(profile)
    say(f"the current profile is {profile}" if profile else "there is no current profile")


@app.command()
def remove(profile: ProfileArgument) -> None:
    """Delete a profile with its token. The token itself keeps working until it is revoked."""
    remove_profile(profile)
    say(f"removed profile {profile}")


@app.command("ssh-include", epilog=examples("wavepool config ssh-include enable", "ssh wp-4k7q2f9x nproc"))
def ssh_include(
    change: Annotated[
        str,
        typer.Argument(metavar="enable|disable", help="Add the line, or remove it.", autocompletion=complete_switch),
    ],
) -> None:
    """Let ssh, scp, rsync and editors reach your reservations by name: adds an Include line to ~/.ssh/config."""
    if change not in {"enable", "disable"}:
        raise InputError(f"ssh-include: {change!r} is not valid; choose enable or disable")
    changed = include(enable=change == "enable")
    for file in changed:
        say(f"{'added the Include line to' if change == 'enable' else 'removed the Include line from'} {file}")
    if not changed:
        say(f"nothing to do: already {change}d")


@app.command()
def path() -> None:
    """Print the path of the file with the profiles."""
    results.print(str(profiles_file()), markup=False, soft_wrap=True)


def _setting_name(name: str) -> str:
    if name not in NAMES:
        raise InputError(f"there is no setting {name!r}; choose {', '.join(NAMES)}")
    return name


def _store(name: str, value: str) -> None:
    """Stores a setting. The endpoint is that of the current profile, so another one is another profile."""
    if name in SETTINGS:
        save_setting(name, value)
        if name == "github_user":
            say(f"prove once that {value} is you, and your reservations accept its keys: wavepool keys claim")
    elif name == "profile":
        use_profile(value)
    else:
        url = checked_url(value)
        known = profile_at(url)
        save_profile(known[0] if known else name_for(url), url=url, use=True)


def _token_from_stdin() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("API token", hide_input=True, err=True)).strip()
    given = sys.stdin.readline().strip()
    if not given:
        raise InputError("--token -: there is no token on standard input")
    return given
