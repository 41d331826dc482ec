"""Asks executors for their health."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import timedelta
from ipaddress import IPv4Network, ip_address
from typing import Protocol

import grpc
from google.protobuf.json_format import MessageToDict
from wavepool.executor.v1 import executor_pb2 as pb
from wavepool.executor.v1 import executor_pb2_grpc

from servicekit.rpc.channels import open_channel
from services.vmpool.machines.load import Load
from services.vmpool.machines.machine import Inventory
from vocabulary.bearer import authorization


class ExecutorUnreachableError(Exception):
    """The executor did not answer; the message has the gRPC status."""


@dataclass(frozen=True)
class Health:
    """An executor's report on itself."""

    inventory: Inventory
    runs_in_flight: int
    unfit_reason: str = ""
    load: Load = field(default_factory=Load)


class Executors(Protocol):
    """Reports the health of executors."""

    async def health(self, endpoint: str, token: str) -> Health:
        """The health of a machine's executor; raises ExecutorUnreachableError if it does not answer in time."""
        ...


class ExecutorClient:
    """Calls executors by endpoint, over one channel each, which is kept while the executor answers.

    In `network` the pool's machines reach one another.
    """

    def __init__(self, timeout: timedelta, network: IPv4Network | None = None) -> None:
        self._network = network
        self._timeout_seconds = timeout.total_seconds()
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def health(self, endpoint: str, token: str) -> Health:
        """The health of a machine's executor; raises ExecutorUnreachableError if it does not answer in time."""
        channel = self._channels.pop(endpoint, None) or open_channel(endpoint)
        try:
            stub = executor_pb2_grpc.ExecutorServiceStub(channel)
            answer = await stub.GetCapabilities(
                pb.GetCapabilitiesRequest(), metadata=(authorization(token),), timeout=self._timeout_seconds
            )
        except grpc.aio.AioRpcError as error:
            # A fresh channel connects at once; a failed one would first wait for its back-off.
            await channel.close()
            raise ExecutorUnreachableError(f"{error.code().name}: {error.details()}") from error
        except BaseException:
            await channel.close()
            raise
        self._channels[endpoint] = channel
        return Health(
            inventory_from_proto(answer, self._network),
            answer.runs_in_flight,
            answer.unfit_reason,
            _load_from_proto(answer.load),
        )

    async def close(self) -> None:
        """Close all channels."""
        while self._channels:
            await self._channels.popitem()[1].close()


def inventory_from_proto(answer: pb.GetCapabilitiesResponse, network: IPv4Network | None = None) -> Inventory:
    """The inventory that an executor reports; its address is that in `network`."""
    reported = {field.name: getattr(answer, field.name) for field in fields(Inventory) if hasattr(answer, field.name)}
    return Inventory(**reported, details=_details(answer), address=_address_in(network, answer.addresses))


def _address_in(network: IPv4Network | None, addresses: Iterable[str]) -> str:
    for text in addresses:
        with suppress(ValueError):
            if network and ip_address(text) in network:
                return text
    return ""


def _load_from_proto(load: pb.MachineLoad) -> Load:
    """What the executor reports; it is a program of another machine, so shares that are none are left out."""
    shares = {field.name: value for field, value in load.ListFields() if 0 <= value <= 1}
    return Load(**shares)


def _details(answer: pb.GetCapabilitiesResponse) -> str:
    if not answer.HasField("inventory"):
        return ""
    return json.dumps(MessageToDict(answer.inventory, preserving_proto_field_name=True), sort_keys=True)
