"""A secret of this machine, made once and kept in a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def kept_secret(file: Path, make: Callable[[], str]) -> str:
    """Return the text in `file`, which is made with `make` if it does not exist. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return file.read_text().strip()
    secret = make()
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secret)
    return secret
