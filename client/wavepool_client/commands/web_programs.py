"""`wavepool forward`, `jupyter` and `tensorboard`: web programs of a reservation, in the browser of this machine.

Nothing of them listens on any network: they are on the loopback of the session, and come over its ssh.
"""

from __future__ import annotations

import secrets
import shlex
import sys
import webbrowser
from dataclasses import dataclass
from typing import Annotated

import typer

from wavepool_client.commands.options import (
    EndpointOption,  # noqa: TC001 - typer reads annotations at run time
    TokenOption,  # noqa: TC001
)
from wavepool_client.commands.reservation_lookup import ReservationArgument, check_active, find_reservation
from wavepool_client.reservation_client import ReservationClient
from wavepool_client.ssh.forwarding import Forwarded, forwarding, free_port
from wavepool_client.ssh.remote import Remote, remote_of
from wavepool_client.terminal.output import print_json, say

_PORTS = range(20_000, 60_000)
_FOLDER = ".wavepool"
# The program ends with our connection, whose end is the end of its input; jobs of a shell without a terminal would
# have no input.
_UNTIL_WE_ARE_GONE = 'exec 3<&0; {command} & program=$!; (cat <&3 >/dev/null; kill "$program") & wait "$program"'

HereOption = Annotated[
    int, typer.Option("--port", min=0, max=65_535, help="Port on this machine, or another if it is taken. 0: any.")
]
BrowserOption = Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")]
InstallOption = Annotated[
    bool, typer.Option("--install", help=f"Install it first if it is missing, into ~/{_FOLDER} of the session.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print its address as JSON.")]


@dataclass(frozen=True)
class _Program:
    """A web program: its command's name, its package, and the path that answers once it is up."""

    name: str
    package: str
    title: str
    path: str

    def line(self, arguments: str, *, install: bool) -> str:
        """The shell's line that runs it, from the session's path or our folder there; status 127 without it.

        It is installed with uv, which is faster, if the session has it, and else with pip; with pip, too, if uv cannot,
        as only pip may know the index.
        """
        folder = f"$HOME/{_FOLDER}/{self.name}"
        found = f'PATH="$PATH:{folder}/bin"; command -v {self.name} >/dev/null'
        # The machine's certificates, as pip: a network may have a proxy that uv's own do not know.
        uv = "UV_SYSTEM_CERTS=1 UV_PYTHON_DOWNLOADS=never uv --quiet"
        made_by_uv = f'command -v uv >/dev/null && {uv} venv --clear --python "$(command -v python3)" "{folder}"'
        with_uv = f'{made_by_uv} && {uv} pip install --python "{folder}/bin/python" {self.package}'
        pip = f'"{folder}/bin/python" -m pip --quiet --disable-pip-version-check'
        with_pip = f'python3 -m venv "{folder}" && {pip} install {self.package}'
        otherwise = f"{{ {with_uv}; }} || {{ {with_pip}; }} || exit 1" if install else "exit 127"
        return f"{found} || {otherwise}; {_UNTIL_WE_ARE_GONE.format(command=f'{self.name} {arguments}')}"

    @property
    def missing(self) -> str:
        """Advice if it is not installed."""
        return f"the session has no {self.title}: add --install, or install `{self.package}` there"


_JUPYTER = _Program("jupyter-lab", "jupyterlab", "JupyterLab", "/api")
_TENSORBOARD = _Program("tensorboard", "tensorboard", "TensorBoard", "/")


def forward(
    port: Annotated[int, typer.Argument(metavar="PORT", min=1, max=65_535, help="The port in the session.")],
    reservation: ReservationArgument = "",
    *,
    here: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_535, help="Port on this machine. Default: PORT, or another if it is taken. 0: any."
        ),
    ] = None,
    browser: BrowserOption = False,
    as_json: JsonOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Forward a port of a reservation's session to this machine, until Ctrl-C."""
    remote = _remote(reservation, endpoint, token)
    # A named port is expected by programs on this machine.
    chosen = free_port(port) if here is None else free_port(here, no_other=True)
    with forwarding(remote, chosen, port) as forwarded:
        forwarded.wait_until_it_listens()
        _show(forwarded, "", browser=browser, as_json=as_json)


def jupyter(
    reservation: ReservationArgument = "",
    *,
    folder: Annotated[str, typer.Option(metavar="DIR", help="Folder of the session to open.")] = "~",
    here: HereOption = 8888,
    browser: BrowserOption = True,
    install: InstallOption = False,
    as_json: JsonOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Run JupyterLab in a reservation and open it in your browser, until Ctrl-C."""
    there, secret = secrets.choice(_PORTS), secrets.token_urlsafe(24)
    words = f"--no-browser --ip=127.0.0.1 --port={there} --ServerApp.port_retries=0"
    # The token is no argument, which everybody on the session's machine could read.
    line = "read -r JUPYTER_TOKEN; export JUPYTER_TOKEN; " + _in_folder(folder)
    line += _JUPYTER.line(words, install=install)
    with forwarding(_remote(reservation, endpoint, token), free_port(here), there, line, f"{secret}\n") as forwarded:
        forwarded.wait_until_it_answers(_JUPYTER.path, _JUPYTER.missing)
        _show(forwarded, f"/lab?token={secret}", browser=browser, as_json=as_json)


def tensorboard(
    reservation: ReservationArgument = "",
    *,
    logdir: Annotated[str, typer.Option(metavar="DIR", help="Folder of the session with the logs.")] = ".",
    here: HereOption = 6006,
    browser: BrowserOption = True,
    install: InstallOption = False,
    as_json: JsonOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Run TensorBoard in a reservation and open it in your browser, until Ctrl-C."""
    there = secrets.choice(_PORTS)
    line = _in_folder(logdir) + _TENSORBOARD.line(f"--logdir . --host 127.0.0.1 --port {there}", install=install)
    with forwarding(_remote(reservation, endpoint, token), free_port(here), there, line) as forwarded:
        forwarded.wait_until_it_answers(_TENSORBOARD.path, _TENSORBOARD.missing)
        _show(forwarded, "/", browser=browser, as_json=as_json)


def _remote(reservation: str, endpoint: str | None, token: str | None) -> Remote:
    with ReservationClient(endpoint, token) as client:
        found = find_reservation(client, reservation, ("active",))
        check_active(found)
        return remote_of(found, client.connection)


def _in_folder(folder: str) -> str:
    """The beginning of a line that goes to a folder; `~` is the session's home."""
    if folder == "~" or folder.startswith("~/"):
        return f"cd ~/{shlex.quote(folder[2:])} || exit; " if folder[2:] else "cd; "
    return f"cd -- {shlex.quote(folder)} || exit; "


def _show(forwarded: Forwarded, path: str, *, browser: bool, as_json: bool) -> None:
    """Says where it is, opens it, and waits for its end."""
    url = f"{forwarded.address}{path}"
    if as_json:
        print_json({"url": url, "port": forwarded.port})
    else:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        say("Ctrl-C ends it.")
    if browser and not as_json:
        webbrowser.open(url)
    raise typer.Exit(forwarded.wait())
