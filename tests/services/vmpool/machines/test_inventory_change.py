"""A machine's description of itself is adopted when it changes, and passed on whole."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import orjson
import pytest
from wavepool.executor.v1 import executor_pb2, inventory_pb2

from services.vmpool.lifecycle.executor_client import inventory_from_proto
from services.vmpool.machines.inventory_change import inventory_change
from services.vmpool.machines.machine import Inventory, MachineState
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.machine_row import machine_from_row, machine_to_row
from services.vmpool.wire.machines import inventory_to_proto, machine_to_proto
from tests.services.vmpool.conftest import START, a_machine

if TYPE_CHECKING:
    from tests.services.vmpool.conftest import Bench

HARDWARE = inventory_pb2.Inventory(
    gpus=[
        inventory_pb2.Gpu(
            index=0,
            title="AMD Instinct MI300X",
            compute_partition_modes=[inventory_pb2.PartitionMode(name="CPX", settable=True)],
            memory_mib=196_592,
            firmware={"PM": "85.112.00"},
        )
    ],
    driver_version="6.12.12",
    host_memory_mib=1 << 20,
)
ANSWER = executor_pb2.GetCapabilitiesResponse(device="rocm", device_title="AMD Instinct MI300X", inventory=HARDWARE)


def test_what_an_executor_says_is_passed_on_whole() -> None:
    machine = a_machine(inventory=inventory_from_proto(ANSWER))

    assert machine_to_proto(machine, START).inventory == HARDWARE
    assert machine_from_row(machine_to_row(machine)) == machine


def test_an_executor_of_before_has_no_inventory() -> None:
    machine = a_machine(inventory=inventory_from_proto(executor_pb2.GetCapabilitiesResponse(device="cpu")))

    assert not machine_to_proto(machine, START).HasField("inventory")


def test_rows_of_before_and_of_later_are_read() -> None:
    machine = a_machine(inventory=Inventory(device="cpu", details="{}"))
    row = machine_to_row(machine)
    reported = asdict(machine.inventory)
    older = {name: value for name, value in reported.items() if name != "details"}

    assert machine_from_row(row | {"inventory": orjson.dumps(older).decode()}).inventory == Inventory(device="cpu")
    assert machine_from_row(row | {"inventory": orjson.dumps(reported | {"new": 1}).decode()}) == machine


def test_words_of_later_executors_are_left_out() -> None:
    assert inventory_to_proto('{"driver_version": "7", "warp_drive": {"on": true}}') == inventory_pb2.Inventory(
        driver_version="7"
    )


@pytest.mark.parametrize("details", ["", "{", '{"gpus": 5}', '{"driver_version": {}}'])
def test_an_inventory_that_makes_no_sense_is_none(details: str) -> None:
    assert inventory_to_proto(details) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"device_title": "B"}, "its inventory changed: device_title"),
        ({"details": '{"gpus": [], "driver_version": "1"}'}, "its inventory changed: driver_version"),
        ({"details": ""}, "its inventory changed: gpus"),
    ],
)
def test_a_change_is_reported_by_the_names_of_what_changed(changes: dict[str, str], words: str) -> None:
    before = Inventory(device_title="A", details=json.dumps({"gpus": []}))

    assert inventory_change(before, replace(before, **changes)) == words


async def test_a_machine_that_reads_itself_again_is_reported_in_an_event(bench: Bench) -> None:
    machine = await bench.warm_machine()
    log = EventLog(bench.database)
    before = await log.last_seq()
    bench.executors.inventory = replace(machine.inventory, details='{"driver_version": "6.12.13"}')

    for _ in range(3):
        bench.clock.advance(timedelta(seconds=30))
        await bench.passes()

    (event,) = await log.after(before)
    assert event.reason == "its inventory changed: driver_version"
    assert event.machine.inventory == bench.executors.inventory
    assert (event.machine.state, event.machine.reason) == (MachineState.WARM, machine.reason)


async def test_a_machine_that_is_unfit_is_drained_with_its_newest_inventory(bench: Bench) -> None:
    machine = await bench.warm_machine()
    bench.executors.inventory = replace(machine.inventory, details='{"gpus": []}')
    bench.executors.unfit_reason = "its canary failed"

    bench.clock.advance(timedelta(seconds=30))
    await bench.passes()

    ended = await bench.machines.get(machine.machine_id)
    assert ended.state is not MachineState.WARM
    assert ended.inventory == bench.executors.inventory


@pytest.mark.parametrize(
    ("network", "addresses", "found"),
    [
        ("10.128.0.0/20", ["172.17.0.1", "fd00::2", "rubbish", "10.128.3.9", "10.128.3.10"], "10.128.3.9"),
        ("10.128.0.0/20", ["172.17.0.1", "10.128.16.1"], ""),
        (None, ["10.128.3.9"], ""),
    ],
)
def test_a_machine_has_the_address_that_the_others_reach(network: str | None, addresses: list[str], found: str) -> None:
    answer = executor_pb2.GetCapabilitiesResponse(addresses=addresses)
    inventory = inventory_from_proto(answer, IPv4Network(network) if network else None)
    assert inventory.address == found
    machine = a_machine(inventory=inventory)
    assert machine_from_row(machine_to_row(machine)) == machine
