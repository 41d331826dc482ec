"""What ssh is called with to reach a reservation, and the files that it reads."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavepool_client.errors import InputError
from wavepool_client.http.connection import DEFAULT_DATA_DIR
from wavepool_client.ssh.keys import folder, own_identities
from wavepool_client.text.reservations import short_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.http.connection import Connection

PROXY_MODULE = "wavepool_client.ssh.proxy"


def host_of(reservation_id: str) -> str:
    """The host's name for ssh, which no name server knows."""
    return f"wp-{short_id(reservation_id).lower()}"


def remember_identity(reservation_id: str, identity: Path) -> None:
    """Notes the private key for the public one that a reservation was made with, for later connections."""
    _write(_file(reservation_id, "identity"), str(identity))


def options_for(reservation: dict[str, Any], connection: Connection) -> dict[str, list[str]]:
    """Ssh's options for an active reservation; writes the file with its host key. Raises InputError."""
    reservation_id, host_key = str(reservation["id"]), reservation.get("host_key")
    if not host_key:
        raise InputError(f"{reservation_id} has no host key yet; it is {reservation.get('state')}")
    known_hosts = _file(reservation_id, "known_hosts")
    _write(known_hosts, f"{host_of(reservation_id)} {host_key}")
    return {
        "ProxyCommand": [proxy_command(reservation_id, connection)],
        "HostKeyAlias": [host_of(reservation_id)],
        "StrictHostKeyChecking": ["yes"],
        "UserKnownHostsFile": [quoted(known_hosts)],
        "User": [str(reservation.get("login_user") or "dev")],
        "IdentityFile": [quoted(file) for file in _identities(reservation_id)],
    }


def ssh_command(reservation: dict[str, Any], connection: Connection, words: Sequence[str]) -> list[str]:
    """The command that connects; `words` are options of ssh, or a command to run there. Raises InputError."""
    options = options_for(reservation, connection)
    settings = [f"{name}={value}" for name, values in options.items() for value in values]
    with_flags = (word for setting in settings for word in ("-o", setting))
    return ["ssh", *with_flags, host_of(str(reservation["id"])), *words]


def config_text(reservation: dict[str, Any], connection: Connection) -> str:
    """The lines for ~/.ssh/config. Raises InputError."""
    options = options_for(reservation, connection)
    names = dict.fromkeys([host_of(str(reservation["id"])), str(reservation.get("name") or "")])
    lines = [f"Host {' '.join(name for name in names if name)}"]
    lines += [f"    {name} {value}" for name, values in options.items() for value in values]
    return "\n".join(lines) + "\n"


def proxy_command(reservation_id: str, connection: Connection) -> str:
    """What ssh runs to reach a reservation, from any folder; the token is not in it, since others could read it."""
    environment = {"WAVEPOOL_ENDPOINT": connection.endpoint}
    data_dir = Path(os.environ.get("WAVEPOOL_DATA_DIR") or DEFAULT_DATA_DIR).absolute()
    if data_dir.is_dir():
        environment["WAVEPOOL_DATA_DIR"] = str(data_dir)
    if profile := os.environ.get("WAVEPOOL_PROFILE"):
        environment["WAVEPOOL_PROFILE"] = profile
    settings = [f"{name}={value}" for name, value in environment.items()]
    words = ["env", *settings, sys.executable, "-m", PROXY_MODULE, reservation_id]
    # ssh gives `%` a meaning of its own.
    return shlex.join(words).replace("%", "%%")


def quoted(file: Path) -> str:
    """A file's name as ssh's options take it."""
    text = str(file).replace("%", "%%")
    return f'"{text}"' if " " in text else text


def _identities(reservation_id: str) -> list[Path]:
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
