"""`wavepool login` and `wavepool logout`."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.options import JsonOption
from wavepool_client.errors import AuthenticationError, InputError
from wavepool_client.http.connection import Connection, resolve
from wavepool_client.http.device_flow import DeviceFlow
from wavepool_client.http.transport import Transport
from wavepool_client.profiles import name_for, profile_at, profiles_file, save_profile
from wavepool_client.terminal.output import print_json, say
from wavepool_client.text.start_times import time_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavepool_client.http.device_flow import DeviceCode

SIGN_IN = "/api/v1/sign-in"

UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        "--endpoint",
        envvar="WAVEPOOL_ENDPOINT",
        help="The gateway's URL. Default: where `wavepool up` serves.",
    ),
]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Print the address, and do not open a browser.")]


def login(*, url: UrlOption = None, no_browser: NoBrowserOption = False, as_json: JsonOption = False) -> None:
    """Sign in with your organisation's identity provider, in a browser on this or any other device.

    The new API token is stored in a profile, which becomes the current one (`wavepool config`).
    """
    endpoint = resolve(url).endpoint
    with closing(Transport(Connection(endpoint, ""))) as anonymous:
        flow = _flow(endpoint, anonymous.call("GET", SIGN_IN))
        code = flow.begin()
        _show(code, in_browser=not no_browser and _has_desktop())
        made = anonymous.call("POST", SIGN_IN, body={"id_token": flow.id_token(code)})
    known = profile_at(endpoint)
    save_profile(known[0] if known else name_for(endpoint), url=endpoint, token=made["token"], use=True)
    with closing(Transport(Connection(endpoint, made["token"]))) as signed_in:
        me = signed_in.call("GET", "/api/v1/me")
    expire_time = made.get("expire_time")
    if as_json:
        print_json({"endpoint": endpoint, "expire_time": expire_time, "me": me})
        return
    name = me.get("user_name") or me.get("account_name")
    until = time_text(expire_time) or "you sign out"
    say(f"signed in at {endpoint} as {name}, until {until}; the token is in {profiles_file()}")


def logout(*, url: UrlOption = None) -> None:
    """Sign out: revoke the token of `wavepool login` and delete it here."""
    endpoint = resolve(url).endpoint
    known = profile_at(endpoint)
    if known is None or not known[1].token:
        raise InputError(f"you are not signed in at {endpoint}")
    name, profile = known
    try:
        with closing(Transport(Connection(endpoint, profile.token))) as transport:
            token_id = transport.call("GET", "/api/v1/me")["token_id"]
            transport.call("DELETE", f"/api/v1/tokens/{token_id}")
    except AuthenticationError:
        # It is revoked or expired already.
        pass
    # A token that is not revoked is kept: it may be the last one of all administrators.
    save_profile(name, token="")
    say(f"signed out of {endpoint}")


def _flow(endpoint: str, options: Mapping[str, Any]) -> DeviceFlow:
    if not options["enabled"]:
        raise InputError(
            f"sign-in is off at {endpoint}: ask its operator for an API token, and give it with --token or "
            "WAVEPOOL_TOKEN"
        )
    if not options["device_authorization_endpoint"]:
        raise InputError(
            f"the identity provider of {endpoint} has no sign-in for terminals: sign in on its page, make a token "
            "there, and give it with --token or WAVEPOOL_TOKEN"
        )
    return DeviceFlow(options)


def _show(code: DeviceCode, *, in_browser: bool) -> None:
    say(f"Open {code.verification_uri}\nand enter the code {code.user_code}")
    if in_browser and webbrowser.open(code.complete_uri):
        say("The page opens in your browser; check that it shows the same code.")


def _has_desktop() -> bool:
    """True if a browser of this machine would have a window; in a terminal it would take the terminal over."""
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
