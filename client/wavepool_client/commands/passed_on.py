"""Commands that keep what comes after `--`, or that know the options of other tools."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from wavepool_client.errors import InputError
from wavepool_client.text.not_here import NOT_HERE

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


class Reserves(TyperCommand):
    """A command that makes reservations, and says why it lacks options that other tools have for that."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as above
        """Parses the words; raises InputError for an option that Wavepool will not have."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # Only errors of typer about an option have its name.
            name = str(getattr(error, "option_name", ""))
            if name in NOT_HERE:
                raise InputError(f"{name}: {NOT_HERE[name]}") from error
            raise


class ReservesAndPassesOn(PassesOn, Reserves):
    """A command that makes a reservation for what comes after `--`."""
