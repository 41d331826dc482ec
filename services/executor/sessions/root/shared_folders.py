"""Folders of the operator that all sessions of a machine see, such as data sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from services.executor.sandboxes.sandbox import Mount

SHARED = "/shared"
"""Where sessions see them, each by its own name."""
_SETTING = "EXECUTOR_SHARED_FOLDERS"
_WRITABLE = ":rw"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def shared_folder(text: object) -> object:
    """Read `PATH`, or `PATH:rw` for one that sessions may write to; raises ValueError. Other types go unchanged."""
    if not isinstance(text, str):
        return text
    source = Path(text.strip().removesuffix(_WRITABLE))
    if not source.is_absolute() or not _NAME.fullmatch(source.name):
        raise ValueError(f"{text!r} must be the full path of a folder, and `:rw` behind it if sessions may write to it")
    return Mount(source, Path(SHARED, source.name), writable=text.strip().endswith(_WRITABLE))


def shared_folders_fault(folders: Sequence[Mount]) -> str:
    """Return why sessions cannot have these folders, with the setting; empty if they can."""
    twice = [str(target) for target, number in Counter(folder.target for folder in folders).items() if number > 1]
    if twice:
        return f"{_SETTING}: two folders would be {twice[0]} in sessions; rename one"
    missing = next((folder.source for folder in folders if not folder.source.is_dir()), None)
    return f"{_SETTING}: {missing} is no folder of this machine; make or mount it, or leave it out" if missing else ""


def shared_folders_note(folders: Sequence[Mount]) -> str:
    """What people should know of the folders, in lines of the welcome; empty if there are none."""
    written = {True: "all sessions of this machine may write to it", False: "read-only"}
    return "".join(f"  {folder.target!s:<10} {written[folder.writable]}\n" for folder in folders)
