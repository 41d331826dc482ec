"""Files that are read again after each change of them, so that a secret is changed without a restart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

# The standard library's own: the kit that certifies a machine has these settings and not our log format.
log = logging.getLogger(__name__)

T = TypeVar("T")


class Reread(Generic[T]):
    """What `read` makes of some files, read again when one of them has changed.

    The first reading raises what `read` raises. If a later one raises ValueError, the value stays as it was and the
    reason is logged once, under `title`: files that are being written, or are gone, end no service.
    """

    def __init__(self, files: tuple[Path, ...], read: Callable[[], T], title: str) -> None:
        self._files = files
        self._reading = read
        self._title = title
        self._version = self._current_version()
        self._value = read()

    def value(self) -> T:
        """The value, after a look at the files."""
        version = self._current_version()
        if version != self._version:
            self._version = version
            try:
                self._value = self._reading()
            except ValueError as error:
                log.error("%s stays as it was", self._title, extra={"error": str(error)})  # noqa: TRY400 - ours
        return self._value

    def _current_version(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_version_of(file) for file in self._files)


def _version_of(file: Path) -> tuple[int, ...]:
    """Changes with the file; empty if there is none."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_size)
