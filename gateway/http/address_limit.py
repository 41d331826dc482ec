"""Limits how often one address may try something."""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from gateway.config import GatewaySettings
from gateway.http.errors import RATE_LIMIT_EXCEEDED, Problem, ProblemError

MAX_REMEMBERED = 10_000
ACCOUNTS_AT_AN_ADDRESS = 5
"""So many accounts must submit as fast as they may before others at their address cannot submit."""
IPV6_PREFIX_BITS = 64
"""A network of this size is what one customer has, so its addresses count together."""


class AddressLimit:
    """Allows `burst` tries at once and one more each `seconds_per_try`; a burst of 0 means no limit.

    `refusal` is the sentence for an address that has no try left. Each gateway counts for itself, and in memory alone.
    """

    def __init__(
        self,
        burst: int,
        seconds_per_try: float,
        refusal: str,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst_seconds = burst * seconds_per_try
        self._seconds_per_try = seconds_per_try
        self._refusal = refusal
        self._monotonic_seconds = monotonic_seconds
        self._used_up_to: OrderedDict[str, float] = OrderedDict()
        """The instant at which all tries of an address are available again."""

    @classmethod
    def per_minute(cls, tries: int, refusal: str) -> AddressLimit:
        """Allows as many tries at once as in a minute."""
        return cls(tries, 60 / tries if tries else 0, refusal)

    def count(self, host: str) -> None:
        """Counts a try; raises ProblemError (429) if the address has none left."""
        wait_seconds = self._wait_seconds(host)
        if wait_seconds > 0:
            detail = f"{self._refusal} Try again in {math.ceil(wait_seconds)} s."
            raise ProblemError(
                Problem(
                    429,
                    detail,
                    retry_after_seconds=wait_seconds,
                    seed_error="Too many requests",
                    code=RATE_LIMIT_EXCEEDED,
                )
            )
        if not self._burst_seconds:
            return
        key, now = network_of(host), self._monotonic_seconds()
        self._used_up_to[key] = max(self._used_up_to.get(key, now), now) + self._seconds_per_try
        self._used_up_to.move_to_end(key)
        if len(self._used_up_to) > MAX_REMEMBERED:
            self._used_up_to.popitem(last=False)

    def is_used_up(self, host: str) -> bool:
        """True if the address has no try left."""
        return self._wait_seconds(host) > 0

    def _wait_seconds(self, host: str) -> float:
        if not self._burst_seconds:
            return 0.0
        now = self._monotonic_seconds()
        full_at = max(self._used_up_to.get(network_of(host), now), now) + self._seconds_per_try
        return full_at - now - self._burst_seconds


@dataclass(frozen=True)
class AddressLimits:
    """The limits of each address."""

    sign_ins: AddressLimit
    bad_tokens: AddressLimit
    public_reads: AddressLimit
    submissions: AddressLimit
    account_submissions: AddressLimit
    """For accounts instead of addresses: one account cannot use up what an address may send."""

    @classmethod
    def of(cls, settings: GatewaySettings) -> AddressLimits:
        """The limits of the settings, with nothing counted yet."""
        of_address = settings.submissions_per_minute
        of_account = max(1, of_address // ACCOUNTS_AT_AN_ADDRESS) if of_address else 0
        return cls(
            AddressLimit(20, 6, "Too many sign-ins from your address: 20 at once are allowed, then one every 6 s."),
            AddressLimit.per_minute(
                settings.bad_tokens_per_minute,
                f"The API token does not work, and your address sent {settings.bad_tokens_per_minute} such tokens in a "
                "minute. The operator can raise GATEWAY_BAD_TOKENS_PER_MINUTE.",
            ),
            AddressLimit.per_minute(
                settings.public_reads_per_minute,
                f"Your address sent {settings.public_reads_per_minute} reads without a token in a minute, which is the "
                "limit; sign in, or wait. The operator can raise GATEWAY_PUBLIC_READS_PER_MINUTE.",
            ),
            AddressLimit.per_minute(
                of_address,
                f"Your address sent {of_address} submissions of all accounts in a minute, which is the limit. "
                "The operator can raise GATEWAY_SUBMISSIONS_PER_MINUTE.",
            ),
            AddressLimit.per_minute(
                of_account,
                f"Your account sent {of_account} submissions in a minute, which is the limit. "
                "The operator can raise GATEWAY_SUBMISSIONS_PER_MINUTE, of which an account may use a fifth.",
            ),
        )


def address_of(request: HTTPConnection) -> str:
    """The address that a request or a WebSocket comes from; that of a proxy's client, if a trusted one sent it."""
    return request.client.host if request.client else ""


def network_of(host: str) -> str:
    """The name that limits count an address by: its own, or that of the network which a customer of IPv6 has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), IPV6_PREFIX_BITS), strict=False))
