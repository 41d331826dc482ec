"""Files that ssh reads: one for each reservation, and the line that makes ssh read them.

ssh refuses to work at all if a file that it includes can be written by others, or has a line that it does not know. So
files have mode 0600, are replaced as a whole, and have nothing from a gateway but what was checked.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavepool_client.errors import InputError, NotFoundError
from wavepool_client.ssh.access import config_text
from wavepool_client.ssh.keys import folder
from wavepool_client.text.reservations import host_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavepool_client.http.connection import Connection

Fields = dict[str, Any]

OVER = frozenset({"expired", "cancelled", "failed"})
_ABOUT = "# Wavepool: "


def config_file(reservation_id: str) -> Path:
    """The file with a reservation's lines for ssh, which may not exist."""
    return folder() / f"{host_name(reservation_id).removeprefix('wp-')}.conf"


def write_config(reservation: Fields, connection: Connection) -> Path:
    """Writes the lines with which ssh reaches an active reservation, and returns their file. Raises InputError."""
    file = config_file(str(reservation["id"]))
    text = f"{_ABOUT}{reservation['id']} {connection.endpoint}\n{config_text(reservation, connection)}"
    replace(file, text.encode())
    return file


def write_configs(found: Sequence[Fields], connection: Connection) -> None:
    """Writes the files of those that are active. Raises InputError."""
    for one in found:
        if one.get("state") == "active" and one.get("host_key"):
            write_config(one, connection)


def remove_ended(found: Sequence[Fields], connection: Connection, look_up: Callable[[str], Fields]) -> None:
    """Removes the files of this gateway's reservations that are over.

    `look_up` gives the reservation with an id, or raises NotFoundError. It is asked about those that `found` has not.
    """
    known = {str(one.get("id")): one for one in found}
    for file, reservation_id in _files_of(connection.endpoint):
        try:
            state = (known.get(reservation_id) or look_up(reservation_id)).get("state")
        except NotFoundError:
            state = None
        if state is None or state in OVER:
            for one in (file, *folder().glob(f"{reservation_id}.*")):
                with suppress(OSError):
                    one.unlink(missing_ok=True)


def include(*, enable: bool) -> list[Path]:
    """Adds the line that makes ssh read our files, or removes it; returns the files that changed. Raises InputError.

    The files are ~/.ssh/config and, if Cursor has its folder, ~/.cursor/ssh_config. The line is the first one, since
    what stands behind `Host` or `Match` would only apply there. All other bytes stay as they are.
    """
    changed: list[Path] = []
    for file in _including_files():
        before = _bytes_of(file)
        others = [line for line in before.splitlines(keepends=True) if line.strip() != _include_line()]
        is_there = len(others) < len(before.splitlines())
        if enable == is_there:
            continue
        replace(file, b"".join([_include_line(), b"\n", before] if enable else others))
        changed.append(file)
    return changed


def is_included() -> bool:
    """True if ~/.ssh/config has the line."""
    return _include_line() in (line.strip() for line in _bytes_of(_including_files()[0]).splitlines())


def replace(file: Path, content: bytes) -> None:
    """Replaces a file, or what it links to, as a whole; a new one has mode 0600. Raises InputError."""
    try:
        target = file.resolve()
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        if target.exists() and target.read_bytes() == content:
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".wavepool-")
        try:
            with os.fdopen(handle, "wb") as written:
                written.write(content)
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except (OSError, RuntimeError) as error:
        raise InputError(f"cannot write {file}: {error}") from error


def _files_of(endpoint: str) -> list[tuple[Path, str]]:
    """The files for this gateway's reservations, with the id of each."""
    found: list[tuple[Path, str]] = []
    for file in sorted(folder().glob("*.conf")):
        first = _bytes_of(file).decode(errors="replace").partition("\n")[0]
        reservation_id, _, at = first.removeprefix(_ABOUT).partition(" ")
        if first.startswith(_ABOUT) and at == endpoint:
            found.append((file, reservation_id))
    return found


def _including_files() -> list[Path]:
    cursor = Path.home() / ".cursor"
    others = [cursor / "ssh_config"] if cursor.is_dir() else []
    return [Path.home() / ".ssh" / "config", *others]


def _include_line() -> bytes:
    pattern = folder().absolute() / "*.conf"
    return (f'Include "{pattern}"' if " " in str(pattern) else f"Include {pattern}").encode()


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
