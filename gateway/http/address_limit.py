"""Limits how often one address may try something that needs no token."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from gateway.http.errors import Problem, ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_REMEMBERED = 10_000
IPV6_PREFIX_BITS = 64
"""A network of this size is what one customer has, so its addresses count together."""


class AddressLimit:
    """Allows `burst` tries at once and one more each `seconds_per_try`."""

    def __init__(
        self, burst: int, seconds_per_try: float, monotonic_seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst_seconds = burst * seconds_per_try
        self._seconds_per_try = seconds_per_try
        self._monotonic_seconds = monotonic_seconds
        self._used_up_to: OrderedDict[str, float] = OrderedDict()
        """The instant at which all tries of an address are available again."""

    def count(self, host: str) -> None:
        """Counts a try; raises ProblemError (429) if the address has none left."""
        key, now = _network(host), self._monotonic_seconds()
        full_at = max(self._used_up_to.get(key, now), now) + self._seconds_per_try
        wait_seconds = full_at - now - self._burst_seconds
        if wait_seconds > 0:
            detail = "Too many sign-ins from your address; wait a little."
            raise ProblemError(Problem(429, detail, retry_after_seconds=wait_seconds))
        self._used_up_to[key] = full_at
        self._used_up_to.move_to_end(key)
        if len(self._used_up_to) > MAX_REMEMBERED:
            self._used_up_to.popitem(last=False)


def _network(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4 or address.ipv4_mapped:  # noqa: PLR2004 - the protocol's number
        return host
    return str(ipaddress.ip_network((address, IPV6_PREFIX_BITS), strict=False))
