"""Credentials of services that tests start in different data folders, and channels of callers that may call them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

import grpc.aio

from servicekit.rpc.access import SERVICES, Caller, callers_of
from servicekit.rpc.callers import Callers
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import ServiceToken, service_token_of

_FOLDER = Path(tempfile.mkdtemp(prefix="wavepool-test-token-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
SERVICE_TOKEN = service_token_of(_FOLDER)
TOKEN_SETTING = {"WAVEPOOL_SERVICE_TOKEN_FILE": str(SERVICE_TOKEN.file)}


async def services_alone(context: Any) -> Caller:
    """Identifies the services that have SERVICE_TOKEN, and nobody else."""
    return await Callers(ServiceCredentials("test", SERVICE_TOKEN), _nobody).identify(context)


async def _nobody(_: str) -> None:
    return None


class AllowedCaller(grpc.aio.Channel):
    """A channel to a service that calls each method as a service that may call it."""

    def __init__(self, target: str, token: ServiceToken = SERVICE_TOKEN) -> None:
        self._channels = {name: open_channel(target, ServiceCredentials(name, token)) for name in SERVICES}

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Any:
        return self._of(method).unary_unary(method, *args, **options)

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Any:
        return self._of(method).unary_stream(method, *args, **options)

    def stream_unary(self, *args: Any, **options: Any) -> Any:
        """Generated stubs have no such method of ours."""
        raise NotImplementedError

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Any:
        return self._of(method).stream_stream(method, *args, **options)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._channels["gateway"].get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._channels["gateway"].wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._channels["gateway"].channel_ready()

    async def close(self, grace: float | None = None) -> None:
        for channel in self._channels.values():
            await channel.close(grace)

    async def __aenter__(self) -> grpc.aio.Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _of(self, method: str) -> grpc.aio.Channel:
        named = next((name for name in SERVICES if name in callers_of(method)), "gateway")
        return self._channels[named]
