"""A client of Wavepool: submits HIP kernels over HTTP, follows them, and reads their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavepool_client.client import Client

__all__ = ["Client"]


def __getattr__(name: str) -> object:
    """Imports `Client` when it is asked for: ssh starts a module of ours for each connection."""
    if name != "Client":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wavepool_client.client import Client  # noqa: PLC0415 - see above

    return Client
