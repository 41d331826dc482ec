"""Finds files that a submission includes or embeds besides itself and the toolchain's headers.

The build's sandbox holds no secrets, so this is no security boundary: a source that reaches for files of the machine is
refused with a reason, even if the file happens to be empty.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

_ESCAPED = re.compile(r"\\(?=[ #])|\$(?=\$)")


def dependency_options(file: Path) -> list[str]:
    """Return clang front-end options that write every file it reads into `file`, as a make rule."""
    return ["-dependency-file", str(file), "-MT", "solution", "-sys-header-deps"]


def foreign_files(rule: str, folder: Path, own: Iterable[Path]) -> list[str]:
    """Return the files of a make rule, relative to `folder`, that are below none of `own`."""
    _, _, prerequisites = rule.replace("\\\n", " ").partition(":")
    names = [_ESCAPED.sub("", name) for name in re.split(r"(?<!\\)\s+", prerequisites.strip()) if name]
    roots = [os.path.realpath(path) for path in own]
    real_path = _paths_of(folder, names)
    return sorted({name for name in names if not _is_below(real_path[name], roots)})


def _paths_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Resolve links in paths by resolving each folder once: there are few folders, and a thousand files.

    A file that is itself a link counts by the link's own place: only we can have put it there.
    """
    split = {name: os.path.split(name) for name in names}
    parents = {parent: os.path.realpath(folder / parent) for parent in {parent for parent, _ in split.values()}}
    return {name: os.path.join(parents[parent], last) for name, (parent, last) in split.items()}  # noqa: PTH118 - quicker


def _is_below(path: str, roots: list[str]) -> bool:
    return any(path == root or path.startswith(f"{root}{os.sep}") for root in roots)
