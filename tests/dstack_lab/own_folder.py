"""Temporary folders of the lab's processes; the next process to make one removes those that killed processes left."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil


def own_folder(subject: str) -> Path:
    """Makes a new temporary folder, with a name short enough for the sockets in it."""
    for left in Path(tempfile.gettempdir()).glob(f"wp{subject}-*-*"):
        pid = left.name.split("-")[1]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"wp{subject}-{os.getpid()}-"))
