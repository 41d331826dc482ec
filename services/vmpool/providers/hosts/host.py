"""The process on a host that makes it into a machine of a pool when vmpool asks for it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import grpc
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from wavepool.vmpool.v1 import machine_host_pb2 as pb
from wavepool.vmpool.v1 import machine_host_pb2_grpc as pb_grpc

from servicekit import logging
from servicekit.rpc.access import Caller
from servicekit.rpc.errors import ErrorMap, RefusedCallError
from servicekit.rpc.server import ServiceServer
from servicekit.service_token import ServiceToken
from servicekit.settings.config import ServiceSettings
from services.vmpool.errors import InvalidFieldError, LogNotFoundError, ProviderError
from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.provider import Order
from services.vmpool.providers.rented_executor import executor_environment
from vocabulary.ports import MACHINE_HOST_PORT, USUAL_PORTS

TOKEN_SETTING = "MACHINE_HOST_TOKEN_FILE"  # noqa: S105 - a setting's name
_MACHINE_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_GPUS = 64


class HostTakenError(Exception):
    """The host is another machine now."""


ERROR_MAP: ErrorMap = {
    InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    HostTakenError: grpc.StatusCode.ALREADY_EXISTS,
    LogNotFoundError: grpc.StatusCode.NOT_FOUND,
    ProviderError: grpc.StatusCode.FAILED_PRECONDITION,
}


class HostSettings(ServiceSettings):
    """Settings, read from `MACHINE_HOST_*`. The executor has its own, from the same environment."""

    model_config = SettingsConfigDict(env_prefix="MACHINE_HOST_")

    port: int = MACHINE_HOST_PORT
    token_file: Path
    """The token that vmpool shows; each line of the file is one, and all are accepted."""
    executor_command: tuple[str, ...] = (sys.executable, "-m", "services.executor")
    """Command that runs the executor, as JSON."""
    executor_port: Annotated[int, Field(ge=0, le=64535)] = USUAL_PORTS["executor"]
    """Port of the executor, at the same address; 0, or if it is taken: any free port."""
    orphan_timeout: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(minutes=15)
    """An executor without sessions that no pool has asked for this long is ended, and the host is free."""
    stop_grace: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=15)
    """Time between asking an executor to end and killing it."""

    def machines(self) -> LocalProvider:
        """What starts and ends the executor here."""
        return LocalProvider(
            LocalConfig(
                data_dir=self.data_dir,
                command=self.executor_command,
                preferred_port=self.executor_port,
                gpu_types=(),
                gpu_counts=(),
                price_micros_per_hour=0,
                start_timeout=timedelta(0),
                orphan_timeout=self.orphan_timeout,
                stop_grace=self.stop_grace,
                environment={
                    **executor_environment({}),
                    "EXECUTOR_HOST": self.host,
                    # A disk is to be found again on another host, so a folder of this one is no place for it.
                    "EXECUTOR_DISKS": os.environ.get("EXECUTOR_DISKS", ""),
                },
            )
        )


class MachineHostServicer(pb_grpc.MachineHostServiceServicer):
    """Answers vmpool. The host is a machine for as long as `machines` has one."""

    def __init__(self, machines: LocalProvider) -> None:
        self._machines = machines
        self._changes = asyncio.Lock()

    async def GetHost(self, request: pb.GetHostRequest, context: Any) -> pb.GetHostResponse:  # noqa: ANN401, N802, ARG002 - grpc's
        """The machine that this host is now. A pool that looks at it keeps it going."""
        machine_id = next(iter(await self._machines.list_all()), "")
        if not machine_id:
            return pb.GetHostResponse()
        seen = await self._machines.observe(machine_id)
        order = await self._machines.order_of(machine_id) or Order(machine_id, "", 0, "")
        return pb.GetHostResponse(
            machine_id=machine_id,
            gpu_type=order.gpu_type,
            gpu_count=order.gpu_count,
            token=order.token,
            state=seen.state.value,
            stage=seen.stage,
            port=int(seen.endpoint.rpartition(":")[2] or 0),
            reason=seen.reason,
            exit_status=seen.exit_status,
        )

    async def StartMachine(self, request: pb.StartMachineRequest, context: Any) -> pb.StartMachineResponse:  # noqa: ANN401, N802, ARG002 - grpc's
        """Become the machine."""
        machine_id = _checked_id(request.machine_id)
        if not 1 <= request.gpu_count <= _MOST_GPUS:
            raise InvalidFieldError("gpu_count", f"must be 1 to {_MOST_GPUS}; it is {request.gpu_count}")
        if not request.token:
            raise InvalidFieldError("token", "is empty, and anybody could use the machine; give one")
        async with self._changes:
            for other in await self._machines.list_all():
                if other != machine_id:
                    raise HostTakenError(f"this host is machine {other} now; end that one first")
            await self._machines.provision(Order(machine_id, request.gpu_type, request.gpu_count, request.token))
        return pb.StartMachineResponse()

    async def EndMachine(self, request: pb.EndMachineRequest, context: Any) -> pb.EndMachineResponse:  # noqa: ANN401, N802, ARG002 - grpc's
        """Be free again."""
        machine_id = _checked_id(request.machine_id)
        async with self._changes:
            await self._machines.release(machine_id)
        return pb.EndMachineResponse()

    async def ReadLog(self, request: pb.ReadLogRequest, context: Any) -> AsyncIterator[pb.ReadLogResponse]:  # noqa: ANN401, N802, ARG002 - grpc's
        """The executor's output."""
        machine_id = _checked_id(request.machine_id)
        try:
            async for piece in self._machines.logs(machine_id, follow=request.follow):
                yield pb.ReadLogResponse(piece=piece)
        except ProviderError as error:
            raise LogNotFoundError(machine_id, str(error)) from error


def _checked_id(machine_id: str) -> str:
    if not _MACHINE_ID.fullmatch(machine_id):
        raise InvalidFieldError("machine_id", f"must be 1 to 100 letters, digits, `_` and `-`; it is {machine_id!r}")
    return machine_id


def build_server(settings: HostSettings, machines: LocalProvider) -> ServiceServer:
    """The server of this host; raises NoServiceTokenError."""
    token = ServiceToken(settings.token_file, TOKEN_SETTING, "the host's token")

    async def identify(context: grpc.aio.ServicerContext[object, object]) -> Caller:
        metadata = context.invocation_metadata() or ()
        if not any(key == "authorization" for key, _ in metadata):
            raise RefusedCallError(grpc.StatusCode.UNAUTHENTICATED, "send `authorization: Bearer <the host's token>`")
        if not token.is_in(metadata):
            raise RefusedCallError(grpc.StatusCode.PERMISSION_DENIED, f"the token is in no line of {TOKEN_SETTING}")
        return Caller(frozenset({"host_pool"}), "the host's pool")

    server = ServiceServer("machine_host", settings, ERROR_MAP, identify)
    pb_grpc.add_MachineHostServiceServicer_to_server(MachineHostServicer(machines), server.grpc)
    server.expose("wavepool.vmpool.v1.MachineHostService")
    return server


def check_settings() -> None:
    """Raises ValidationError or NoServiceTokenError if `main` would not serve."""
    settings = HostSettings()  # pyright: ignore[reportCallIssue] - from the environment
    ServiceToken(settings.token_file, TOKEN_SETTING, "the host's token")


async def main() -> None:
    """Serve until SIGTERM or SIGINT. The executor goes on, so that a restart of this process ends no work."""
    settings = HostSettings()  # pyright: ignore[reportCallIssue] - from the environment
    logging.configure("machine_host", settings.log_level)
    await build_server(settings, settings.machines()).run_until_signalled()
