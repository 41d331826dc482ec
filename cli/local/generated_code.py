"""Checks that the code made from the protos exists and is as new as they are."""

from __future__ import annotations

from pathlib import Path

PROTOS = Path(__file__).resolve().parents[2] / "protos"
REMEDY = "run `make setup`"


def stale_protos(folder: Path = PROTOS) -> list[str]:
    """The protos that changed after their Python code was made, for example by a `git pull`, or that have no code.

    Empty for an installed package, which contains the code but no protos.
    """
    return [str(proto.relative_to(folder)) for proto in sorted(folder.rglob("*.proto")) if _is_stale(proto)]


def _is_stale(proto: Path) -> bool:
    generated = proto.with_name(f"{proto.stem}_pb2.py")
    try:
        return generated.stat().st_mtime_ns < proto.stat().st_mtime_ns
    except FileNotFoundError:
        return True
