"""Files that cross the border of a sandbox: its inputs, and the files that untrusted code left in it.

A file that was left may be anything with the expected name: a link to a file of the host, a pipe without a writer, a
device, or more bytes than fit into memory. So it is opened without following links and without waiting, and read only
if it is a regular file.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO


class LeftFileError(Exception):
    """There is no file to read; the message gives its name and the reason in one line."""


def write_source(path: Path, text: str) -> None:
    """Write a source that every user can read; characters that UTF-8 cannot encode become question marks."""
    path.write_bytes(text.encode(errors="replace"))
    path.chmod(0o644)


def new_source_folder(folder: Path, text: str) -> None:
    """Make `folder` with only `solution.hip` in it."""
    folder.mkdir(mode=0o755)
    write_source(folder / "solution.hip", text)


def read_left(path: Path, most_bytes: int) -> bytes:
    """Return the file that a sandbox left at `path`; raises LeftFileError, also if it exceeds `most_bytes`."""
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise LeftFileError(f"{path.name} is no regular file of at most {most_bytes} bytes")
        return file.read(most_bytes)


def read_left_head(path: Path, most_bytes: int) -> bytes:
    """Return the first `most_bytes` of the file that a sandbox left at `path`; raises LeftFileError."""
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
