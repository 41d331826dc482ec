"""What the clients of a gateway's parts share: where it is, and a connection that ends with the `with` block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from wavepool_client.http.connection import resolve
from wavepool_client.http.transport import Transport

if TYPE_CHECKING:
    from wavepool_client.http.connection import Connection


class GatewayClient:
    """A synchronous client of one gateway, to be used in a `with` block.

    If `endpoint` and `token` are not given, they are found in the same way as for `wavepool_client.Client`.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        self.connection: Connection = resolve(endpoint, token)
        self._transport = Transport(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections; what was begun goes on."""
        self._transport.close()
