"""A client that tests use to talk to an executor."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc, inventory_pb2, run_event_pb2
from wavepool.submission.v1 import submission_pb2

from servicekit.rpc.errors import RpcFailure, rpc_failure
from services.executor.server import ExecutorServer
from tests.job_specs import SUBMISSION_FIELDS

StartExecutor = Callable[..., Awaitable[tuple[ExecutorServer, "Client"]]]

LEASE_TOKEN = "the-lease-token"  # noqa: S105  of a test
ADMIN_TOKEN = "the-admin-token"  # noqa: S105  of a test
CALL_SECONDS = 60.0
_SERIAL = itertools.count()

Event = run_event_pb2.RunEvent
QUICK = "tell compiling\ntell checking\nfinish ACCEPTED"


def in_seconds(seconds: float) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromDatetime(datetime.now(UTC) + timedelta(seconds=seconds))
    return timestamp


def request(source: str, **fields: Any) -> executor_pb2.RunRequest:
    """A well-formed request under a fresh id, with `fields` replaced."""
    sound: dict[str, Any] = {
        "run_id": f"run-{next(_SERIAL)}",
        "problem": "softmax",
        "mode": submission_pb2.RUN_MODE_CHECK,
        "fencing_token": 7,
        "lease_expire_time": in_seconds(60),
    }
    asked = {**sound, "source": source, **fields}
    if "gpu" in asked:
        slot = {"eighths": asked.pop("eighths", 8), "first_eighth": asked.pop("first_eighth", 0)}
        asked["slots"] = [inventory_pb2.Slot(gpu=asked.pop("gpu"), **slot)]
    submission = {name: asked.pop(name) for name in SUBMISSION_FIELDS & set(asked)}
    return executor_pb2.RunRequest(submission=submission_pb2.Submission(**submission), **asked)


class Client:
    """A client of an executor, for one caller."""

    def __init__(self, channel: grpc.aio.Channel, token: str = LEASE_TOKEN) -> None:
        self.channel = channel
        self.stub = executor_pb2_grpc.ExecutorServiceStub(channel)
        self.metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token}"),)

    def as_admin(self) -> Client:
        return Client(self.channel, ADMIN_TOKEN)

    def stream(self, asked: executor_pb2.RunRequest) -> Stream:
        return Stream(self.stub.Run(asked, metadata=self.metadata, timeout=CALL_SECONDS))

    async def run(self, asked: executor_pb2.RunRequest) -> list[Event]:
        return [event async for event in self.stream(asked)]

    async def cancel(self, run_id: str) -> None:
        asked = executor_pb2.CancelRunRequest(run_id=run_id)
        await self.stub.CancelRun(asked, metadata=self.metadata, timeout=CALL_SECONDS)

    async def renew(self, run_id: str, seconds: float, fencing_token: int = 7) -> None:
        asked = executor_pb2.RenewRunLeaseRequest(
            run_id=run_id, fencing_token=fencing_token, lease_expire_time=in_seconds(seconds)
        )
        await self.stub.RenewRunLease(asked, metadata=self.metadata, timeout=CALL_SECONDS)

    async def capabilities(self) -> executor_pb2.GetCapabilitiesResponse:
        return await self.stub.GetCapabilities(
            executor_pb2.GetCapabilitiesRequest(), metadata=self.metadata, timeout=CALL_SECONDS
        )


class Stream:
    """The events of one call."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._events = call.__aiter__()

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Event:
        return (await anext(self._events)).event

    async def reach(self, name: str) -> None:
        """Reads on to the first event of this name; if there is none, fails and shows the run's last event."""
        async for event in self:
            if name_of(event) == name:
                return
            last = event
        pytest.fail(f"the run has no {name}; it ended with {last}")

    def drop(self) -> None:
        """Closes the stream, as a client that vanishes does."""
        self._call.cancel()


def name_of(event: Event) -> str:
    return event.WhichOneof("event") or ""


async def refusal(call: Awaitable[Any]) -> RpcFailure:
    """The error with which the call is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return rpc_failure(caught.value)


def held(gate: Path) -> str:
    """A script that waits until `gate` exists."""
    return f"tell compiling\nwait {gate}\ntell checking\nfinish ACCEPTED"


async def until(condition: Callable[[], bool]) -> None:
    """Polls `condition` until it is true; fails after a generous deadline."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true within 60 s"
        await asyncio.sleep(0.005)
