"""`wavepool keys`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer resolves the annotation at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, UserOption, examples
from wavepool_client.errors import InputError
from wavepool_client.identity_client import IdentityClient
from wavepool_client.profiles import github_user
from wavepool_client.ssh.keys import lines_of
from wavepool_client.ssh.signing import signature_of
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.identity import KEY_COLUMNS, key_row

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    help="Public SSH keys that your reservations take, and for administrators those of others.",
    epilog=examples(
        "wavepool keys",
        "wavepool keys add ~/.ssh/id_ed25519.pub",
        "ssh-add -L | wavepool keys add -",
        "wavepool keys remove laptop",
        "wavepool keys claim alice",
    ),
)


@app.callback(invoke_without_command=True)
def keys(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Public SSH keys; without a subcommand, lists yours."""
    if context.invoked_subcommand is None:
        list_keys(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_keys(
    *,
    user: UserOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List public keys, oldest first."""
    with IdentityClient(endpoint, token) as identity:
        answer = identity.keys(user)
    if as_json:
        print_json(answer)
        return
    if answer["keys"]:
        results.print(table_of(KEY_COLUMNS, map(key_row, answer["keys"])))
    else:
        say("no key; `wavepool keys add FILE` adds one")
    if answer.get("github_name"):
        say(f"and all keys of {answer['github_name']} on GitHub")


@app.command(
    epilog=examples("wavepool keys add ~/.ssh/id_ed25519.pub --name laptop", "ssh-add -L | wavepool keys add -")
)
def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that ends in .pub; `-`: the standard input.")],
    *,
    name: Annotated[str, typer.Option("--name", help="For people; default: the comment of the key.")] = "",
    user: UserOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add all public keys of a file. One that you have already stays as it is."""
    lines = lines_of(file)
    if name and len(lines) > 1:
        raise InputError(f"--name: {file} has {len(lines)} keys, and each needs a name of its own; leave --name out")
    made: list[dict[str, Any]] = []
    with IdentityClient(endpoint, token) as identity:
        for line in lines:
            made.append(identity.add_key(line, name, user))
            say(f"added {made[-1]['fingerprint']} ({made[-1].get('name') or 'no name'})")
    if as_json:
        print_json(made)


@app.command()
def remove(
    words: Annotated[list[str], typer.Argument(metavar="KEY…", help="Ids, fingerprints, or names.")],
    *,
    user: UserOption = "",
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove public keys. Reservations that were made with them keep them."""
    with IdentityClient(endpoint, token) as identity:
        found = identity.keys(user)["keys"]
        chosen = [_one(found, word) for word in words]
        for key in chosen:
            identity.remove_key(str(key["id"]))
            say(f"removed {key['fingerprint']} ({key.get('name') or 'no name'})")
    if as_json:
        print_json({"removed": [key["id"] for key in chosen]})


@app.command(epilog=examples("wavepool keys claim alice", "wavepool keys claim alice --key ~/.ssh/id_work"))
def claim(
    github_name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", help="Your name on GitHub; default: github_user of `wavepool config show`."),
    ] = "",
    *,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="What to sign with; default: a key of ~/.ssh or of the agent."),
    ] = None,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show that a name on GitHub is yours, by a signature; then your reservations take the keys that are there."""
    github_name = github_name or github_user()[0]
    if not github_name:
        raise InputError("which name on GitHub is yours? Give it: wavepool keys claim NAME")
    with IdentityClient(endpoint, token) as identity:
        begun = identity.begin_claim(github_name)
        say(f"signing: {begun['challenge']}")
        signature = signature_of(str(begun["challenge"]), begun.get("fingerprints") or [], key)
        claimed = identity.finish_claim(github_name, str(begun["challenge"]), signature)
    if as_json:
        print_json(claimed)
        return
    say(f"{claimed['github_name']} on GitHub is you; your reservations take all keys that are there")


def _one(found: Sequence[dict[str, Any]], word: str) -> dict[str, Any]:
    """The key that `word` names; raises InputError if it is none or several."""
    matching = [key for key in found if word in {key.get("id"), key.get("fingerprint"), key.get("name")}]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(f"{word!r} is the name of {len(matching)} keys; give one's id, as `wavepool keys list` has it")
    raise InputError(f"there is no key {word!r}; `wavepool keys list` lists them")
