"""Packs a Dockerfile and its folder, as the machine that builds the image wants them.

The archive is a tar with gzip: first the file `Dockerfile`, then the folder, below `context/`, without what its
`.dockerignore` names. Times and owners of files are left out, so the same files are always the same archive.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from wavepool_client.errors import InputError

# The client imports nothing of Wavepool. `vocabulary/build_contexts.py` has these; a test compares them.
MOST_CONTEXT_BYTES = 8 << 20
MOST_DOCKERFILE_BYTES = 512 << 10
DOCKERFILE = "Dockerfile"
CONTEXT = "context"
_EXECUTABLE = 0o111


def build_context_of(dockerfile: Path | None, image: str) -> bytes:
    """What an image is built from, if one is; raises InputError."""
    if dockerfile is None:
        return b""
    if image:
        raise InputError(f"--image {image} and --dockerfile contradict each other; leave one out")
    return packed(dockerfile)


def packed(dockerfile: Path) -> bytes:
    """The archive of a Dockerfile and the folder that it is in; raises InputError, also if one of them is a link.

    Links below the folder are sent as links. A repository of somebody else may have one to a folder of private files.
    """
    named = dockerfile
    dockerfile = dockerfile / DOCKERFILE if dockerfile.is_dir() else dockerfile
    for path in (named, dockerfile, dockerfile.parent):
        if path.is_symlink():
            raise InputError(f"--dockerfile: {path} is a link; to send what it leads to, name that: {path.resolve()}")
    try:
        content = dockerfile.read_bytes()
        rules = _rules(dockerfile)
        if len(content) > MOST_DOCKERFILE_BYTES:
            fault = f"has {len(content)} bytes, and the most are {MOST_DOCKERFILE_BYTES}"
            raise InputError(f"--dockerfile: {dockerfile} {fault}: move files that it writes into its folder")
        written = _Limited(dockerfile.parent)
        with (
            gzip.GzipFile(fileobj=written, mode="wb", mtime=0) as compressed,
            tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            entry = tarfile.TarInfo(DOCKERFILE)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
            for name in _names(dockerfile.parent, rules):
                _add(archive, dockerfile.parent, name)
    except OSError as error:
        raise InputError(f"--dockerfile: {error.filename or dockerfile}: {error.strerror or error}") from error
    return written.getvalue()


class Rule:
    """A line of a `.dockerignore`: what matches is left out, or taken in again if the line begins with `!`."""

    def __init__(self, line: str) -> None:
        self.takes = line.startswith("!")
        parts = [part for part in line.removeprefix("!").strip().split("/") if part not in {"", "."}]
        self._pattern = re.compile("".join(_part(part, is_last=part is parts[-1]) for part in parts))

    def matches(self, name: str) -> bool:
        """True for what it names, and for all below that."""
        parts = name.split("/")
        return any(self._pattern.fullmatch("/".join(parts[:count])) for count in range(1, len(parts) + 1))


def is_left_out(name: str, rules: Sequence[Rule]) -> bool:
    """True if the last rule that matches a path in the folder leaves it out."""
    return next((not rule.takes for rule in reversed(rules) if rule.matches(name)), False)


def _part(part: str, *, is_last: bool) -> str:
    """A part of a pattern as a regular expression, with the `/` that follows it."""
    if part == "**":
        return ".*" if is_last else "(?:.*/)?"
    found = re.sub(r"\\.|\[\^?[^\]]*\]|\*|\?|.", _symbol, part)
    return found if is_last else f"{found}/"


def _symbol(found: re.Match[str]) -> str:
    text = found[0]
    if text.startswith("[") and len(text) > 1:
        return text
    return {"*": "[^/]*", "?": "[^/]"}.get(text) or re.escape(text[-1])


def _rules(dockerfile: Path) -> list[Rule]:
    """The rules of the Dockerfile's own file, `NAME.dockerignore`, or of the folder's."""
    for path in (dockerfile.with_name(f"{dockerfile.name}.dockerignore"), dockerfile.with_name(".dockerignore")):
        if path.is_file():
            lines = [line.strip() for line in path.read_text("utf-8", "replace").splitlines()]
            named = [line for line in lines if line and not line.startswith("#") and line.strip("!/. ")]
            try:
                return [Rule(line) for line in named]
            except re.error as error:
                raise InputError(f"{path}: a pattern cannot be read: {error}") from error
    return []


def _names(folder: Path, rules: Sequence[Rule]) -> Iterator[str]:
    """The paths in the folder that go along, each folder before what is in it."""
    can_come_back = any(rule.takes for rule in rules)
    for top, folders, files in os.walk(folder):
        below = os.path.relpath(top, folder)
        prefix = "" if below == "." else f"{below}/"
        folders.sort()
        kept = [name for name in sorted((*folders, *files)) if not is_left_out(prefix + name, rules)]
        yield from (prefix + name for name in kept)
        if not can_come_back:
            folders[:] = [name for name in folders if name in set(kept)]


def _add(archive: tarfile.TarFile, folder: Path, name: str) -> None:
    """Adds a file, a folder or a link; what is something else stays behind."""
    path = folder / name
    status = path.lstat()
    entry = tarfile.TarInfo(f"{CONTEXT}/{name}")
    entry.mode = 0o755 if stat.S_ISDIR(status.st_mode) or status.st_mode & _EXECUTABLE else 0o644
    if stat.S_ISLNK(status.st_mode):
        entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
        archive.addfile(entry)
    elif stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    elif stat.S_ISREG(status.st_mode):
        with path.open("rb") as file:
            entry.size = os.fstat(file.fileno()).st_size
            archive.addfile(entry, file)


class _Limited(io.BytesIO):
    """Bytes that are not more than an archive may have, so that a large folder is not read to its end."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def write(self, data: object) -> int:
        """Raises InputError."""
        written = super().write(data)  # type: ignore[arg-type]
        if self.tell() > MOST_CONTEXT_BYTES:
            most = f"{MOST_CONTEXT_BYTES >> 20} MiB"
            fix = "leave files out with a .dockerignore, or put large ones into an image that the Dockerfile is FROM"
            raise InputError(f"--dockerfile: {self._folder} has more than {most}, compressed: {fix}")
        return written
