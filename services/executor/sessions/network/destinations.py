"""Which addresses a session can reach; pure.

A session reaches the internet by IPv4, and the networks that the operator allows. It never reaches this machine, nor
what clouds serve to the machine alone. What is denied becomes `unreachable` routes in the session's network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, collapse_addresses, ip_network

from services.executor.sessions.gang.gang import Gang

_ALWAYS_DENIED = {
    IPv4Network("0.0.0.0/8"): "is this machine",
    IPv4Network("127.0.0.0/8"): "is this machine's loopback",
    IPv4Network("169.254.0.0/16"): "has a cloud's metadata, which has secrets of this machine",
    IPv4Network("168.63.129.16/32"): "serves Azure's secrets of this machine",
    IPv4Network("192.0.0.0/24"): "has Oracle's metadata, which has secrets of this machine",
    IPv4Network("224.0.0.0/4"): "is for multicast",
    IPv4Network("240.0.0.0/4"): "is reserved",
}
_PRIVATE = [IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")]
"""RFC 1918 and RFC 6598: an operator's own machines."""
_INSIDE = [IPv4Network(text) for text in ("10.0.2.0/24", "10.0.3.0/24", "172.31.254.0/24", "192.168.254.0/24")]
_GATEWAY, _NAMESERVER = 2, 3
"""slirp4netns answers there; as nameserver it passes questions on to the machine's."""
_LOCAL = re.compile(r"\|-- ([\d.]+)\n((?:\s+/\d+ .*\n)+)")
_HOST = re.compile(r"/(\d+) host LOCAL\b")


@dataclass(frozen=True)
class NetworkPlan:
    """The addresses of one session's network: those `inside`, and those outside that cannot be reached.

    With a `node_address` it is that of a node of several, which has its machine's address.
    """

    inside: IPv4Network
    unreachable: Sequence[IPv4Network]
    node_address: IPv4Address | None = None

    @property
    def gateway(self) -> IPv4Address:
        """The way out."""
        return self.inside[_GATEWAY]

    @property
    def nameserver(self) -> IPv4Address:
        """The nameserver inside."""
        return self.inside[_NAMESERVER]


@dataclass(frozen=True)
class Destinations:
    """What the operator allows of the private networks, and denies of all others; what is in both is denied."""

    reaches: tuple[IPv4Network, ...] = ()
    denies: tuple[IPv4Network | IPv6Network, ...] = ()

    def plan(self, own: Iterable[IPv4Network], gang: Gang | None = None) -> NetworkPlan:
        """Return the network of a session on a machine with these addresses of its `own`.

        A node of a `gang` reaches the machines of its other nodes, unless the operator denies them.
        """
        own = list(own)
        reaches = [*self.reaches, *(IPv4Network(node.address) for node in (gang.others if gang else ()))]
        taken = [*own, *reaches]
        inside = next((net for net in _INSIDE if not any(net.overlaps(other) for other in taken)), _INSIDE[-1])
        private = [part for net in _PRIVATE for part in _without(net, reaches)]
        denied = [*_ALWAYS_DENIED, *private, *(net for net in self.denies if isinstance(net, IPv4Network))]
        outside = [part for net in collapse_addresses(denied) for part in _without(net, [inside])]
        unreachable = list(collapse_addresses([*outside, *own]))
        return NetworkPlan(inside, unreachable, gang.own.address if gang else None)


def reachable_network(text: str) -> IPv4Network:
    """Return a network that may be allowed; raises ValueError with the fix."""
    network = denied_network(text)
    if isinstance(network, IPv6Network):
        raise ValueError(f"{text} is IPv6, and sessions have IPv4 only; give the IPv4 network")  # noqa: TRY004  the text is wrong, not its type
    for denied, why in _ALWAYS_DENIED.items():
        if network.overlaps(denied):
            raise ValueError(f"{text} cannot be allowed: {denied} {why}; give a network without it")
    return network


def denied_network(text: str) -> IPv4Network | IPv6Network:
    """Return a network from its CIDR form; raises ValueError with the fix."""
    try:
        return ip_network(text)
    except ValueError as error:
        try:
            meant = ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f"{text!r} is not a network; write it like 10.20.0.0/16 or 10.20.1.5/32") from error
        raise ValueError(f"{text} is an address in a network; write {meant}, or the address with /32") from error


def own_networks(fib_trie: str) -> list[IPv4Network]:
    """Return the machine's own addresses, on all interfaces, from the text of `/proc/net/fib_trie`."""
    found = {
        IPv4Network(f"{address}/{local[1]}", strict=False)
        for address, kinds in _LOCAL.findall(fib_trie)
        for local in _HOST.finditer(kinds)
    }
    return sorted(found)


def _without(network: IPv4Network, holes: Iterable[IPv4Network]) -> list[IPv4Network]:
    parts = [network]
    for hole in holes:
        parts = [rest for part in parts for rest in _without_one(part, hole)]
    return parts


def _without_one(network: IPv4Network, hole: IPv4Network) -> Iterable[IPv4Network]:
    if not network.overlaps(hole):
        return [network]
    return network.address_exclude(hole) if hole.subnet_of(network) else []
