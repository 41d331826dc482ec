"""Commands that the whole of Wavepool adds to the client's `wavepool`, by the entry point `wavepool.commands`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.commands import admin, core
from cli.commands.doctor import doctor
from cli.commands.plugins import plugins
from cli.commands.up import down, up
from wavepool_client.commands.options import examples

if TYPE_CHECKING:
    import typer

PANEL = "This machine"


def add_to(app: typer.Typer) -> None:
    """Adds the commands that need the services or the core on this machine."""
    app.command(
        rich_help_panel=PANEL,
        epilog=examples("wavepool up", "wavepool up --port 9000 --data-dir /tmp/pool", "wavepool up --free-ports"),
    )(up)
    for command in (down, doctor, plugins):
        app.command(rich_help_panel=PANEL)(command)
    core.add_to(app, PANEL)
    admin.add_to(app, "Administration")
