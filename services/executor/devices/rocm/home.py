"""Finds the folder of ROCm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def rocm_home() -> Path:
    """Return ROCM_PATH's folder, that of the hipcc on the path, or `/opt/rocm`; it may not exist."""
    if home := os.environ.get("ROCM_PATH"):
        return Path(home)
    hipcc = shutil.which("hipcc")
    return Path(hipcc).resolve().parent.parent if hipcc else Path("/opt/rocm")
