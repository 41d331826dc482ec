"""The options that ssh gets to reach a reservation, and the files that it reads."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wavepool_client.errors import InputError
from wavepool_client.http.connection import DEFAULT_DATA_DIR
from wavepool_client.ssh.keys import folder, own_identities
from wavepool_client.text.reservations import host_name, nodes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.http.connection import Connection

PROXY_MODULE = "wavepool_client.ssh.proxy"
_ID = re.compile(r"\w+", re.ASCII)
_WORD = re.compile(r"[a-z0-9_][a-z0-9_-]*")


def remember_identity(reservation_id: str, identity: Path) -> None:
    """Notes the private key for the public one that a reservation was made with, for later connections."""
    _write(_file(reservation_id, "identity"), str(identity))


def options_for(reservation: dict[str, Any], connection: Connection, node: int = 0) -> dict[str, list[str]]:
    """Ssh's options for one of an active reservation's machines; writes a file with its host key. Raises InputError."""
    machine = _machine(reservation, node)
    reservation_id, host_key = str(reservation["id"]), str(machine.get("host_key") or "")
    if not host_key:
        raise InputError(f"{reservation_id} has no host key yet; it is {reservation.get('state')}")
    user = str(machine.get("login_user") or "dev")
    if not (_ID.fullmatch(reservation_id) and _WORD.fullmatch(user) and host_key.isprintable()):
        # A line break in one of them would be a setting of ssh, such as a command to run here.
        raise InputError(f"the gateway's description of {reservation_id!r} is not safe for ssh")
    host, known_hosts = host_name(reservation_id, node), _file(reservation_id, f"known_hosts{node or ''}")
    _write(known_hosts, f"{host} {host_key}")
    return {
        "ProxyCommand": [proxy_command(reservation_id, connection, node)],
        "HostKeyAlias": [host],
        "StrictHostKeyChecking": ["yes"],
        "UserKnownHostsFile": [quoted(known_hosts)],
        "User": [user],
        "IdentityFile": [quoted(file) for file in identities(reservation_id)],
    }


def _machine(reservation: dict[str, Any], node: int) -> dict[str, Any]:
    """The description of one of its machines. Raises InputError."""
    nodes = nodes_of(reservation)
    if node and node >= len(nodes):
        has = f"nodes 0 to {len(nodes) - 1}" if nodes else "one machine, node 0"
        raise InputError(f"--node {node}: {reservation['id']} has {has}")
    return nodes[node] if node else reservation


def ssh_command(
    reservation: dict[str, Any],
    connection: Connection,
    words: Sequence[str],
    node: int = 0,
    *,
    forwards_agent: bool | None = None,
) -> list[str]:
    """The command that connects; `words` are options of ssh, or a command to run there. Raises InputError.

    If `forwards_agent` is None, ssh's own configuration says if the agent is forwarded.
    """
    options = options_for(reservation, connection, node)
    if forwards_agent is not None:
        options["ForwardAgent"] = ["yes" if forwards_agent else "no"]
    settings = [f"{name}={value}" for name, values in options.items() for value in values]
    with_flags = (word for setting in settings for word in ("-o", setting))
    return ["ssh", *with_flags, host_name(str(reservation["id"]), node), *words]


def has_agent() -> bool:
    """True if an agent holds keys for ssh here."""
    path = os.environ.get("SSH_AUTH_SOCK")
    return bool(path) and Path(path).is_socket()


def others_who_may_log_in(reservation: dict[str, Any], me: dict[str, Any]) -> list[str]:
    """The people beside the user `me` who may log in: the owner first, if that is another user.

    All are one user in the session, so each could use an agent that another one forwards.
    """
    owner = str(reservation.get("owner") or "")
    users = list(map(str, cast("list[object]", reservation.get("users") or [])))
    if reservation.get("owner_id") == me.get("user_id"):
        return [user for user in users if user != owner]
    return list(dict.fromkeys([owner or "its owner", *(user for user in users if user != me.get("user_name"))]))


def config_text(reservation: dict[str, Any], connection: Connection) -> str:
    """The lines for ~/.ssh/config: a host for each of its machines. Raises InputError."""
    ranks = range(max(1, len(nodes_of(reservation))))
    return "".join(_host_text(reservation, connection, node) for node in ranks)


def _host_text(reservation: dict[str, Any], connection: Connection, node: int) -> str:
    options = options_for(reservation, connection, node)
    names, name = [host_name(str(reservation["id"]), node)], str(reservation.get("name") or "")
    name += f"-{node}" if node and name else ""
    if _WORD.fullmatch(name) and name not in _own_hosts():
        names.append(name)
    lines = [f"Host {' '.join(names)}"]
    lines += [f"    {name} {value}" for name, values in options.items() for value in values]
    return "\n".join(lines) + "\n"


def proxy_command(reservation_id: str, connection: Connection, node: int = 0) -> str:
    """The command that ssh runs to reach one of a reservation's machines, from any folder.

    The token is not in it, since others could read it.
    """
    environment = {"WAVEPOOL_ENDPOINT": connection.endpoint}
    data_dir = Path(os.environ.get("WAVEPOOL_DATA_DIR") or DEFAULT_DATA_DIR).absolute()
    if data_dir.is_dir():
        environment["WAVEPOOL_DATA_DIR"] = str(data_dir)
    if profile := os.environ.get("WAVEPOOL_PROFILE"):
        environment["WAVEPOOL_PROFILE"] = profile
    settings = [f"{name}={value}" for name, value in environment.items()]
    words = ["env", *settings, sys.executable, "-m", PROXY_MODULE, reservation_id, *([str(node)] if node else [])]
    # ssh gives `%` a meaning of its own.
    return shlex.join(words).replace("%", "%%")


def quoted(file: Path) -> str:
    """A file's name as ssh's options take it."""
    text = str(file).replace("%", "%%")
    return f'"{text}"' if " " in text else text


def _own_hosts() -> set[str]:
    """The hosts that people have in their own ~/.ssh/config, whose names no reservation may take."""
    try:
        lines = (Path.home() / ".ssh" / "config").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    words = (line.replace("=", " ").split() for line in lines)
    return {host.strip('"') for first, *hosts in filter(None, words) if first.casefold() == "host" for host in hosts}


def identities(reservation_id: str) -> list[Path]:
    """The private keys that ssh is given for a reservation, beside those of the agent."""
    try:
        noted = [Path(_file(reservation_id, "identity").read_text(encoding="utf-8").strip())]
    except OSError:
        noted = []
    return list(dict.fromkeys([*noted, *own_identities()]))


def _file(reservation_id: str, kind: str) -> Path:
    return folder() / f"{reservation_id}.{kind}"


def _write(file: Path, line: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(f"{line}\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error
