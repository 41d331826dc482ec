"""Folders of one process of the lab; what a killed process left is removed by the next that makes one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil


def own_folder(subject: str) -> Path:
    """A new folder in the temporary folder, its name short enough for the sockets in it."""
    for left in Path(tempfile.gettempdir()).glob(f"wp{subject}-*-*"):
        pid = left.name.split("-")[1]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"wp{subject}-{os.getpid()}-"))
