"""Certificates as `make certs` makes them, for tests."""

from __future__ import annotations

import importlib.util
import sys
from datetime import timedelta
from pathlib import Path

_PROGRAM = Path(__file__).parents[1] / "deploy" / "certs.py"
_SPEC = importlib.util.spec_from_file_location("certs", _PROGRAM)
_CERTS = importlib.util.module_from_spec(_SPEC)
sys.modules["certs"] = _CERTS  # dataclasses look their module up
_SPEC.loader.exec_module(_CERTS)

NAMES = _CERTS.NAMES


def make(
    folder: Path, life: timedelta = timedelta(days=30), *, also: tuple[str, ...] = (), new_authority: bool = False
) -> None:
    """Makes or renews the certificates in the folder."""
    _CERTS.make(folder, life, also=also, new_authority=new_authority)
