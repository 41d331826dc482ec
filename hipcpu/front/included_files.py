"""Which files a submission included or embedded beside itself and the toolchain's headers.

The build's sandbox holds no secret, so this is no wall: it is so that a source which reaches for files of the machine
is refused with a reason, also where the file happens to be empty.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_ESCAPED = re.compile(r"\\(?=[ #])|\$(?=\$)")


def dependency_options(file: Path) -> list[str]:
    """Options for clang's front end: write every file that it reads into `file`, as a rule of make."""
    return ["-dependency-file", str(file), "-MT", "solution", "-sys-header-deps"]


def foreign_files(rule: str, folder: Path, own: Iterable[Path]) -> list[str]:
    """The files of a rule of make, read with `folder` as the working directory, that lie below none of `own`."""
    _, _, prerequisites = rule.replace("\\\n", " ").partition(":")
    names = [_ESCAPED.sub("", name) for name in re.split(r"(?<!\\)\s+", prerequisites.strip()) if name]
    roots = [os.path.realpath(path) for path in own]
    real_path = _paths_of(folder, names)
    return sorted({name for name in names if not _is_below(real_path[name], roots)})


def _paths_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Without links, looking at each folder once: they are few, and the files a thousand.

    A file that is itself a link is taken for where it lies: only we can have put it there.
    """
    split = {name: os.path.split(name) for name in names}
    parents = {parent: os.path.realpath(folder / parent) for parent in {parent for parent, _ in split.values()}}
    return {name: os.path.join(parents[parent], last) for name, (parent, last) in split.items()}  # noqa: PTH118 - quicker


def _is_below(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(f"{root}{os.sep}") for root in roots)
