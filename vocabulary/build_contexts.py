"""What an image is built from, as it travels: a Dockerfile and its folder in one compressed archive; pure.

The archive is a tar with gzip. Its first entry is the file `Dockerfile`, and what the Dockerfile may copy is below
`context/`.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import zlib

MOST_CONTEXT_BYTES = 8 << 20
"""Of the archive."""
MOST_DOCKERFILE_BYTES = 512 << 10
DOCKERFILE = "Dockerfile"
CONTEXT = "context"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_GZIP = 16 + zlib.MAX_WBITS
_BEFORE_THE_FILE = 64 << 10
"""Bytes that the headers of the first entry may take."""


class WrongContextError(ValueError):
    """The archive cannot be built from; the message says why, and what to do."""


def context_digest(content: bytes) -> str:
    """Return the name of an archive."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def is_context_digest(text: str) -> bool:
    """True for what `context_digest` gives."""
    return _DIGEST.fullmatch(text) is not None


def too_large(what: str, size_bytes: int, most_bytes: int, fix: str) -> str:
    """Return that something is larger than it may be; empty if it is not."""
    return f"{what} has {size_bytes} bytes, and the most are {most_bytes}: {fix}" if size_bytes > most_bytes else ""


def wrong_dockerfile_size(size_bytes: int) -> str:
    """Return what is wrong with the size of a Dockerfile; empty if nothing is."""
    fix = "move files that it writes into its folder, and COPY them"
    return too_large("the Dockerfile", size_bytes, MOST_DOCKERFILE_BYTES, fix)


def wrong_context_size(size_bytes: int) -> str:
    """Return what is wrong with the size of an archive; empty if nothing is."""
    fix = "leave files out with a .dockerignore, or put large ones into an image that is FROM a registry"
    return too_large("the folder, compressed,", size_bytes, MOST_CONTEXT_BYTES, fix)


def dockerfile_of(content: bytes) -> str:
    """Return the Dockerfile of an archive of which no more is unpacked than that; raises WrongContextError."""
    if fault := wrong_context_size(len(content)):
        raise WrongContextError(fault)
    try:
        begin = zlib.decompressobj(_GZIP).decompress(content, MOST_DOCKERFILE_BYTES + _BEFORE_THE_FILE)
        with tarfile.open(fileobj=io.BytesIO(begin), mode="r:") as archive:
            entry = archive.next()
            if entry is None or entry.name != DOCKERFILE or not entry.isreg():
                raise WrongContextError("the archive does not begin with a file `Dockerfile`")
            if fault := wrong_dockerfile_size(entry.size):
                raise WrongContextError(fault)
            file = archive.extractfile(entry)
            return file.read().decode() if file else ""
    except (tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, WrongContextError):
            raise
        raise WrongContextError(f"the archive is no tar with gzip that has a Dockerfile in UTF-8: {error}") from error
