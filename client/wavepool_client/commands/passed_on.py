"""Commands that keep what comes after `--` for another program."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

PASSED_ON = "wavepool.passed_on"


class PassesOn(TyperCommand):
    """A command that keeps what comes after `--` for another program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer has its own copy of click
        """Parses what comes before `--`."""
        own, passed_on = args, list[str]()
        if "--" in args:
            place = args.index("--")
            own, passed_on = args[:place], args[place + 1 :]
        ctx.meta[PASSED_ON] = passed_on
        return super().parse_args(ctx, own)
