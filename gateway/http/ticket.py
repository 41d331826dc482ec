"""Tickets in addresses: `?ticket=<secret>` opens one address once, without a token.

`RequestScope` takes a ticket out of the address of a request before anything else sees it. A ticket is for the
address that is left: the path as it was sent, and the query if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.types import Scope

PARAMETER = "ticket"
PREFIX = "/api/v1/"
"""Tickets are for addresses below this path."""


@dataclass(frozen=True)
class Ticket:
    """A ticket, and the address that it came with."""

    secret: str
    address: str


def take_ticket(scope: Scope) -> None:
    """Moves the ticket, if there is one, from the query of a request to its scope."""
    if not scope["path"].startswith(PREFIX):
        return
    query, secret = parted(scope["query_string"].decode("latin-1"))
    if secret is not None:
        scope["query_string"] = query.encode("latin-1")
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        scope[PARAMETER] = Ticket(secret, address_of(path, query))


def ticket_of(connection: HTTPConnection) -> Ticket | None:
    """The ticket of a request or a WebSocket; None if it has none."""
    return connection.scope.get(PARAMETER)


def parted(query: str) -> tuple[str, str | None]:
    """A query without its tickets, and the last of them; None if it has none."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    secrets = [value for name, _, value in pairs if name == PARAMETER]
    if not secrets:
        return query, None
    return "&".join("".join(pair) for pair in pairs if pair[0] not in {PARAMETER, ""}), secrets[-1]


def address_of(path: str, query: str) -> str:
    """The address that a ticket is for."""
    return f"{path}?{query}" if query else path


def with_ticket(address: str, secret: str) -> str:
    """The address to open."""
    return f"{address}{'&' if '?' in address else '?'}{PARAMETER}={secret}"
