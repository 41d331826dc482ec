"""A client of Wavepool: submits HIP kernels over HTTP, follows them, and reads their results; and reserves GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavepool_client.client import Client
    from wavepool_client.reservation import Reservation

__all__ = ["Client", "Reservation"]


def __getattr__(name: str) -> object:
    """Imports a class when it is asked for: ssh starts a module of ours for each connection."""
    if name == "Client":
        from wavepool_client.client import Client  # noqa: PLC0415 - see above

        return Client
    if name == "Reservation":
        from wavepool_client.reservation import Reservation  # noqa: PLC0415 - see above

        return Reservation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
