"""`wavepool keys`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wavepool_client.commands.options import Gateway, Group, Shown, UserOption
from wavepool_client.errors import InputError
from wavepool_client.profiles import github_user
from wavepool_client.ssh.keys import lines_of
from wavepool_client.ssh.signing import signature_of
from wavepool_client.terminal.output import say
from wavepool_client.terminal.result_printing import listing
from wavepool_client.text.identity import KEYS

app = Group(
    "Public SSH keys that may log in to your reservations, and for administrators those of other users.",
    "wavepool keys",
    "wavepool keys add ~/.ssh/id_ed25519.pub",
    "ssh-add -L | wavepool keys add -",
    "wavepool keys remove laptop",
    "wavepool keys claim alice",
)


@app.lists()
def list_keys(gateway: Gateway, *, user: UserOption = "") -> Shown:
    """List public keys, oldest first."""
    answer = gateway.ask("GET", "keys", user=user)
    yield answer
    if answer["keys"]:
        yield listing(answer["keys"], KEYS)
    else:
        yield "no key; `wavepool keys add FILE` adds one"
    if answer.get("github_name"):
        yield f"and all keys of {answer['github_name']} on GitHub"


@app.answers("add", "wavepool keys add ~/.ssh/id_ed25519.pub --name laptop", "ssh-add -L | wavepool keys add -")
def add(
    gateway: Gateway,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that ends in .pub; `-`: standard input.")],
    *,
    name: Annotated[str, typer.Option("--name", help="A label. Default: the comment of the key.")] = "",
    user: UserOption = "",
) -> Shown:
    """Add all public keys of a file. A key that you already have stays as it is."""
    lines = lines_of(file)
    if name and len(lines) > 1:
        raise InputError(f"--name: {file} has {len(lines)} keys, and each needs a name of its own; leave --name out")
    made: list[dict[str, Any]] = []
    for line in lines:
        body = {"public_key": line, **({"name": name} if name else {})}
        made.append(gateway.ask("POST", "keys", body=body, user=user))
        say(f"added {made[-1]['fingerprint']} ({made[-1].get('name') or 'no name'})")
    yield made


@app.answers("remove")
def remove(
    gateway: Gateway,
    words: Annotated[list[str], typer.Argument(metavar="KEY…", help="Ids, fingerprints, or names.")],
    *,
    user: UserOption = "",
) -> Shown:
    """Remove public keys. Reservations that were made with them keep them."""
    found = gateway.ask("GET", "keys", user=user)["keys"]
    chosen = [_one(found, word) for word in words]
    for key in chosen:
        gateway.ask("DELETE", "keys", str(key["id"]))
        say(f"removed {key['fingerprint']} ({key.get('name') or 'no name'})")
    yield {"removed": [key["id"] for key in chosen]}


@app.answers("claim", "wavepool keys claim alice", "wavepool keys claim alice --key ~/.ssh/id_work")
def claim(
    gateway: Gateway,
    github_name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Your GitHub name. Default: github_user of `wavepool config show`.")
    ] = "",
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="The key to sign with. Default: one in ~/.ssh or in your ssh agent."
        ),
    ] = None,
) -> Shown:
    """Prove by a signature that a GitHub name is yours. Your reservations then accept all its keys."""
    github_name = github_name or github_user()[0]
    if not github_name:
        raise InputError("your GitHub name is missing: wavepool keys claim NAME")
    begun = gateway.ask("POST", "keys", "claims", body={"github_name": github_name})
    challenge = str(begun["challenge"])
    say(f"signing: {challenge}")
    signature = signature_of(challenge, begun.get("fingerprints") or [], key)
    body = {"github_name": github_name, "challenge": challenge, "signature": signature}
    claimed = gateway.ask("PUT", "keys", "claims", body=body)
    yield claimed
    yield f"{claimed['github_name']} on GitHub is you; your reservations accept all keys there"


def _one(found: Sequence[dict[str, Any]], word: str) -> dict[str, Any]:
    """The key that `word` names; raises InputError if there is no such key, or several."""
    matching = [key for key in found if word in {key.get("id"), key.get("fingerprint"), key.get("name")}]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(f"{word!r} is the name of {len(matching)} keys; give an id from `wavepool keys list`")
    raise InputError(f"there is no key {word!r}; `wavepool keys list` lists them")
