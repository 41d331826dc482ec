"""`wavepool share` and `rename`: who sees a submission, and its name."""

from __future__ import annotations

from typing import Annotated

import typer

from wavepool_client.commands.options import Client, IdArgument, Shown, answered
from wavepool_client.errors import InputError

MEANINGS = {
    "private": "only you and those with whom you share the account see it",
    "link": "everybody here who knows its id sees its code and result",
    "public": "everybody here sees its code and result, and leaderboards show its id",
}


@answered
def share(
    gateway: Client,
    submission_id: IdArgument,
    *,
    link: Annotated[bool, typer.Option("--link", help="Who knows the id. This is the default.")] = False,
    public: Annotated[bool, typer.Option("--public", help="Everybody, and leaderboards show its id.")] = False,
    private: Annotated[bool, typer.Option("--private", help="Only the people of its account.")] = False,
) -> Shown:
    """Let other users see a submission's code and result; its cost, account and queue stay yours."""
    chosen = [name for name, is_given in (("link", link), ("public", public), ("private", private)) if is_given]
    if len(chosen) > 1:
        raise InputError("give one of --link, --public and --private")
    visibility = chosen[0] if chosen else "link"
    yield gateway.change_submission(submission_id, visibility=visibility)
    yield f"{submission_id} is {visibility}: {MEANINGS[visibility]}"


@answered
def rename(
    gateway: Client,
    submission_id: IdArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="At most 100 characters; empty: none.")],
) -> Shown:
    """Give a submission another name."""
    yield gateway.change_submission(submission_id, name=name)
    yield f"{submission_id} is now called {name}" if name else f"{submission_id} has no name now"
