"""Files that cross the border of a sandbox: what it is given to read, and what untrusted code left in it.

What is left may be anything with the expected name: a link to a file of the host, a pipe that never has a writer, a
device, or more bytes than memory has. So it is opened through no link and without waiting, and read only where it is a
regular file.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


class LeftFileError(Exception):
    """There is no file to read; the message names it and says why, in one line."""


def write_source(path: Path, text: str) -> None:
    """Write a source that every user can read; what is no UTF-8 becomes question marks."""
    path.write_bytes(text.encode(errors="replace"))
    path.chmod(0o644)


def new_source_folder(folder: Path, text: str) -> None:
    """Make `folder` with nothing but `solution.hip` in it."""
    folder.mkdir(mode=0o755)
    write_source(folder / "solution.hip", text)


def read_left(path: Path, most_bytes: int) -> bytes:
    """The whole file that a sandbox left at `path`; raises LeftFileError, also where it has more than `most_bytes`."""
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise LeftFileError(f"{path.name} is no regular file of at most {most_bytes} bytes")
        return file.read(most_bytes)


def read_left_head(path: Path, most_bytes: int) -> bytes:
    """The same, and of a longer file its first `most_bytes`."""
    with _opened(path) as file:
        return file.read(most_bytes)


def _opened(path: Path) -> BinaryIO:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise LeftFileError(f"{path.name}: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LeftFileError(f"{path.name} is no regular file")
    return os.fdopen(descriptor, "rb")
