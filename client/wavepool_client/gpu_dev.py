"""`gpu-dev`: the names and options that scripts for gpu-dev have, translated to those of `wavepool`, which then runs.

The tables below are all there is: commands, options with another name, options that have nothing to do here, and those
whose subject does not exist here. What is in none of them reaches `wavepool` as it is, which explains what it does not
know.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from wavepool_client.errors import InputError
from wavepool_client.text.not_here import NOT_HERE

COMMANDS: dict[str, tuple[str, ...]] = {
    "reserve": ("reserve",),
    "list": ("reservations", "list"),
    "show": ("reservations", "show"),
    "connect": ("connect",),
    "cancel": ("cancel",),
    "edit": ("reservations", "edit"),
    "avail": ("avail",),
    "availability": ("avail",),
    "status": ("status",),
    "queue-status": ("queue-status",),
    "submit": ("run",),
    "login": ("login",),
    "disk": ("disk",),
    "help": ("--help",),
}
RENAMED = {
    "cancel": {"--all": "--reservations", "-a": "--reservations"},
    "submit": {"--runtime": "--dir", "--dockerimage": "--image"},
    "reserve": {"--dockerimage": "--image"},
}
"""Options with another name, by command."""
UNNEEDED = frozenset(
    {"--no-persist", "--no-persistent-disk", "--ignore-no-persist", "--recreate-env", "--details", "--no-build"}
)
"""Flags that ask for what is so anyway: a home is kept on a named disk alone, and one reservation is shown whole."""
MISSING = {
    **{name: why for name, why in NOT_HERE.items() if name not in UNNEEDED},
    "--enable-jupyter": NOT_HERE["--jupyter"],
    "--disable-jupyter": NOT_HERE["--jupyter"],
    "-l": NOT_HERE["--label"],
    "--ref": "code is not checked out for you: copy your tree with `wavepool run --dir DIR -- COMMAND`",
}
MISSING_COMMANDS = {
    "setup": "name the gateway with `wavepool config set NAME --url URL --use`, then `wavepool login`",
    "ci-debug": "CI logs are not read here: reserve with the image of that job, `wavepool reserve --image IMAGE`, then "
    "`wavepool connect`; or run its command in it, `wavepool run --image IMAGE --dir DIR -- COMMAND`",
    "repro": "code is not checked out for you: use `wavepool run --dir DIR -- COMMAND`",
}
STATES = {"pending": "pending,queued"}
"""There, one that waits for GPUs is pending; here, one that starts later."""
DEFAULT_HOURS = "8"
"""The default of gpu-dev if a script gives no hours."""
CONFIG_HELP = (
    "`wavepool config show` and `wavepool config get` show settings, gateway and user; "
    "`wavepool config ssh-include enable|disable` is as in gpu-dev"
)


def translated(words: Sequence[str], *, on_terminal: bool) -> list[str]:
    """The words for `wavepool` that do what these do for `gpu-dev`; raises InputError for what does not exist here."""
    if not words or words[0] in {"--help", "-h"}:
        return ["--help"]
    if words[0] == "--version":
        return ["--version"]
    command, *rest = words
    if command in MISSING_COMMANDS:
        raise InputError(f"gpu-dev {command}: {MISSING_COMMANDS[command]}")
    if command == "config":
        return _config(rest)
    if command not in COMMANDS:
        raise InputError(f"gpu-dev {command}: there is no such command; it has {', '.join(sorted(COMMANDS))}, config")
    place = rest.index("--") if "--" in rest else len(rest)
    own, passed_on = rest[:place], rest[place:]
    options = _options(command, own)
    if command in {"reserve", "submit"} and "--help" not in own:
        options += _default_hours(command, own, on_terminal=on_terminal)
    return [*COMMANDS[command], *options, *passed_on]


def main() -> None:
    """Runs the `wavepool` command for these words, and exits with its status."""
    from wavepool_client.main import main as wavepool  # noqa: PLC0415 - nothing is imported for a word that is wrong

    try:
        words = translated(sys.argv[1:], on_terminal=sys.stdin.isatty() and sys.stderr.isatty())
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    sys.argv = ["wavepool", *words]
    wavepool()


def _options(command: str, words: Sequence[str]) -> list[str]:
    """The words of a command, with its options by our names."""
    found: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in UNNEEDED and (command, name) != ("list", "--details"):
            continue
        if name in MISSING and not _is_ours(command, name):
            raise InputError(f"gpu-dev {command} {name}: {MISSING[name]}")
        if name in {"--status", "-s"} and command == "list":
            value = value or (left.pop(0) if left else "")
            states = ",".join(STATES.get(state, state) for state in value.split(","))
            found += [name, ",".join(dict.fromkeys(states.split(",")))]
            continue
        if name == "--add-user":
            value = value or (left.pop(0) if left else "")
            # Its names are those of GitHub; ours may also be a user here, with `=` or `:`.
            found += [name, value if not value or set(value) & set("=:") else f"github:{value}"]
            continue
        if name == "--all" and command == "list":
            found += ["--status", "all"]
            continue
        found.append(f"{RENAMED.get(command, {}).get(name, name)}{equals}{value}")
    return found


def _is_ours(command: str, name: str) -> bool:
    """True for short options that mean something else in some commands."""
    return name == "-l" and command not in {"reserve", "submit"}


def _default_hours(command: str, words: Sequence[str], *, on_terminal: bool) -> list[str]:
    """On a terminal `reserve` asks; elsewhere it is what gpu-dev takes."""
    is_given = any(word in {"--hours", "-h"} or word.startswith(("--hours=", "-h")) for word in words)
    asks = command == "reserve" and on_terminal and "--no-interactive" not in words
    return [] if is_given or asks else ["--hours", DEFAULT_HOURS]


def _config(words: Sequence[str]) -> list[str]:
    match list(words):
        case ["show"] | []:
            return ["config", "show"]
        case ["ssh-include", *rest]:
            return ["config", "ssh-include", *rest]
        case ["set", "github_user", name]:
            return ["keys", "claim", name]
        case ["set", "default_gpu_type" | "endpoint" | "profile", _] | ["unset", _]:
            return ["config", *words]
        case _:
            raise InputError(f"gpu-dev config {' '.join(words)}: {CONFIG_HELP}")


if __name__ == "__main__":
    main()
