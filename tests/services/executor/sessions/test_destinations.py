"""Which addresses a session can reach, and how an operator's wrong networks are refused."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.executor.config import ExecutorSettings
from services.executor.sessions.network.destinations import Destinations, own_networks
from services.executor.sessions.network.session_network import own_addresses

ADDRESSES = st.integers(0, 2**32 - 1).map(IPv4Address)
NETWORKS = st.builds(
    lambda address, length: IPv4Network((address, length), strict=False), ADDRESSES, st.integers(4, 32)
)
PRIVATE = [IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")]
FIB_TRIE = """\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 192.0.2.0
        /24 link UNICAST
Local:
  +-- 0.0.0.0/0 2 0 2
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.0
           /8 host LOCAL
        |-- 127.0.0.1
           /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     |-- 192.0.2.2
        /32 host LOCAL
     |-- 198.51.100.0
        /24 link UNICAST
        /24 host LOCAL
"""


def reaches(plan_of: Destinations, own: list[IPv4Network], address: str | IPv4Address) -> bool:
    unreachable = plan_of.plan(own).unreachable
    return not any(IPv4Address(address) in network for network in unreachable)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "0.0.0.0", "169.254.169.254", "169.254.0.1", "168.63.129.16", "192.0.0.192"),  # noqa: S104 - denied
        *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200"),
        *("224.0.0.1", "255.255.255.255"),
    ],
)
def test_private_addresses_and_those_of_the_machine_and_its_cloud_are_denied(address: str) -> None:
    assert not reaches(Destinations(), [], address)


@pytest.mark.parametrize("address", ["1.1.1.1", "172.32.0.1", "11.0.0.1", "100.128.0.1", "203.0.113.9"])
def test_the_internet_is_reached(address: str) -> None:
    assert reaches(Destinations(), [], address)


@given(st.lists(NETWORKS, max_size=3), st.lists(NETWORKS, max_size=3), st.lists(NETWORKS, max_size=4), ADDRESSES)
def test_an_address_is_reached_by_these_rules_and_no_others(
    allowed: list[IPv4Network], denied: list[IPv4Network], own: list[IPv4Network], address: IPv4Address
) -> None:
    destinations = Destinations(tuple(allowed), tuple(denied))
    inside = destinations.plan(own).inside

    def within(networks: list[IPv4Network]) -> bool:
        return any(address in network for network in networks)

    always = within(
        [
            *map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "192.0.0.0/24")),
            *map(IPv4Network, ("224.0.0.0/4", "240.0.0.0/4")),
        ]
    )
    private = within(PRIVATE) and not within(allowed)
    expected = not within(own) and (address in inside or not (always or private or within(denied)))
    assert reaches(destinations, own, address) == expected


@given(st.lists(NETWORKS.filter(lambda network: network.prefixlen >= 24), max_size=1))
def test_a_sessions_network_is_none_that_the_machine_is_in(own: list[IPv4Network]) -> None:
    plan = Destinations().plan(own)

    assert not any(plan.inside.overlaps(network) for network in own)
    assert plan.nameserver in plan.inside


def test_the_machines_own_addresses_are_read_from_all_interfaces() -> None:
    own = own_networks(FIB_TRIE)

    assert own == [IPv4Network(text) for text in ("127.0.0.0/8", "127.0.0.1/32", "192.0.2.2/32", "198.51.100.0/24")]
    assert IPv4Network("127.0.0.1/32") in own_networks(Path("/proc/net/fib_trie").read_text())


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("EXECUTOR_SESSION_NETWORK", "inbound", "'outbound' or 'none'"),
        ("EXECUTOR_SESSION_REACHES", "10.1.2.3/16", "write 10.1.0.0/16, or the address with /32"),
        ("EXECUTOR_SESSION_REACHES", "mirror.example", "is not a network; write it like 10.20.0.0/16"),
        ("EXECUTOR_SESSION_REACHES", "169.254.169.254/32", "cannot be allowed: 169.254.0.0/16 has a cloud's metadata"),
        ("EXECUTOR_SESSION_REACHES", "0.0.0.0/0", "cannot be allowed"),
        ("EXECUTOR_SESSION_REACHES", "10.0.0.0/8,fd00::/8", "sessions have IPv4 only"),
        ("EXECUTOR_SESSION_DENIES", "203.0.113.1/24", "write 203.0.113.0/24"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_fix(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ValidationError) as refused:
        ExecutorSettings()

    assert words in str(refused.value)


def test_the_settings_say_what_sessions_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ExecutorSettings().destinations == Destinations()

    monkeypatch.setenv("EXECUTOR_SESSION_REACHES", "10.20.0.0/16, 192.168.7.9")
    monkeypatch.setenv("EXECUTOR_SESSION_DENIES", "203.0.113.0/24,2001:db8::/32")
    allowed = (IPv4Network("10.20.0.0/16"), IPv4Network("192.168.7.9/32"))
    denied = (IPv4Network("203.0.113.0/24"), ip_network("2001:db8::/32"))
    assert ExecutorSettings().destinations == Destinations(allowed, denied)

    monkeypatch.setenv("EXECUTOR_SESSION_NETWORK", "none")
    assert ExecutorSettings().destinations is None


def test_an_address_that_one_reading_of_a_changing_table_leaves_out_is_denied() -> None:
    without = FIB_TRIE.replace("/32 host LOCAL", "/32 host NOTHING")
    readings = iter([without, FIB_TRIE, FIB_TRIE])
    assert set(own_addresses(lambda: next(readings))) == set(own_networks(FIB_TRIE))
    assert set(own_networks(without)) < set(own_networks(FIB_TRIE))
