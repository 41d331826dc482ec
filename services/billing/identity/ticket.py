"""Tickets: each is the secret of one GET or WebSocket of one address, for browsers, whose links carry no token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.billing.errors import InvalidFieldError

TICKET = "wpk_"
"""How a ticket begins."""
LIFETIME = timedelta(seconds=30)
"""For this long a ticket works: from a click to the request that it leads to."""
MAX_ADDRESS_CHARACTERS = 2048


@dataclass(frozen=True)
class Ticket:
    """A stored ticket, without its secret."""

    token_id: str
    """The token that asked for it, and whose rights it has."""
    address: str
    """The path with its query."""
    expire_time: datetime
    use_time: datetime | None = None


def check_address(address: str) -> str:
    """Gives the address back; raises InvalidFieldError if it is not one of a request to this host."""
    is_clear = address.isascii() and address.isprintable() and " " not in address
    if not address.startswith("/") or address.startswith("//") or not is_clear:
        raise InvalidFieldError("address", "must be a path with its query, in ASCII, such as '/api/v1/me'")
    if len(address) > MAX_ADDRESS_CHARACTERS:
        raise InvalidFieldError("address", f"must have at most {MAX_ADDRESS_CHARACTERS} characters")
    return address


def why_refused(ticket: Ticket | None, address: str) -> str:
    """Why a ticket could not be used for an address; None is one that is not known."""
    if ticket is None:
        return "It is unknown, or was made long ago."
    if ticket.use_time is not None:
        return "It was used already, and works once."
    if ticket.address != address:
        return "It is for another address: it works for exactly the path and the query that it was made for."
    return f"It is too old: it works for {LIFETIME.total_seconds():.0f} s."
