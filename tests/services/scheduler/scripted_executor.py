"""An executor that plays a script: real gRPC, real replay and attach, and faults on demand."""

# ruff: noqa: N802 - methods are named by the protos, and grpc's contexts have no useful type
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc, run_event_pb2

TOKEN = "lease-token"  # noqa: S105 - opens nothing


def finished(
    verdict: str = "ACCEPTED", *, billable_seconds: float = 2.0, message: str = "", reason: str = ""
) -> run_event_pb2.RunEvent:
    event = run_event_pb2.RunEvent()
    event.finished.verdict = run_event_pb2.Verdict.Value(f"VERDICT_{verdict}")
    event.finished.message = message
    event.finished.reason = reason
    event.finished.billable.FromMilliseconds(int(billable_seconds * 1000))
    return event


def compiling() -> run_event_pb2.RunEvent:
    return run_event_pb2.RunEvent(compiling=run_event_pb2.Compiling(toolchain="scripted"))


def checking() -> run_event_pb2.RunEvent:
    return run_event_pb2.RunEvent(checking=run_event_pb2.Checking(total_tests=2))


def passed_test(test_id: int) -> run_event_pb2.RunEvent:
    result = run_event_pb2.TestResult(test_id=test_id, name=f"case {test_id}", passed=True, total_tests=2)
    return run_event_pb2.RunEvent(test_result=result)


def output(line: str) -> run_event_pb2.RunEvent:
    return run_event_pb2.RunEvent(program_output=run_event_pb2.ProgramOutput(stream="stdout", line=line))


PASSING: tuple[run_event_pb2.RunEvent, ...] = (compiling(), checking(), passed_test(1), passed_test(2), finished())


@dataclass
class ScriptedRun:
    request: executor_pb2.RunRequest
    events: list[run_event_pb2.RunEvent] = field(default_factory=list[run_event_pb2.RunEvent])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    playing: asyncio.Task[None] | None = None
    skip: int = 0

    async def play(self, script: Sequence[Any]) -> None:
        for step in script:
            if isinstance(step, asyncio.Event):
                await _first({step.wait(), self.cancelled.wait()})
            elif not self.cancelled.is_set():
                await self.add(step)
        if self.cancelled.is_set():
            await self.add(finished("CANCELLED", billable_seconds=1.0))

    async def longer_than(self, seq: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.events) > seq)

    async def add(self, event: run_event_pb2.RunEvent) -> None:
        numbered = run_event_pb2.RunEvent()
        numbered.CopyFrom(event)
        numbered.seq = len(self.events) + 1 + self.skip
        async with self.changed:
            self.events.append(numbered)
            self.changed.notify_all()


class ScriptedExecutor(executor_pb2_grpc.ExecutorServiceServicer):
    """Every new run plays `script`; a stream breaks after each event in `breaks`, once each."""

    def __init__(self) -> None:
        self.script: Sequence[Any] = PASSING
        self.runs: dict[str, ScriptedRun] = {}
        self.requests: list[executor_pb2.RunRequest] = []
        self.request_arrived = asyncio.Event()
        self.breaks: list[int] = []
        self.refusals: list[grpc.StatusCode] = []
        self.cancels: list[str] = []
        self.deaf_to_cancel = False
        self.replays_all = False
        self.renewals: list[executor_pb2.RenewRunLeaseRequest] = []
        self.renewed = asyncio.Event()

    async def Run(self, request: executor_pb2.RunRequest, context: Any) -> AsyncIterator[executor_pb2.RunResponse]:
        await _authenticate(context)
        self.requests.append(request)
        self.request_arrived.set()
        if self.refusals:
            await context.abort(self.refusals.pop(0), "scripted refusal")
        run = self.runs.get(request.run_id)
        if run is None:
            if request.after_seq:
                await context.abort(grpc.StatusCode.NOT_FOUND, "the run is not known here")
            run = self.runs[request.run_id] = ScriptedRun(request)
            run.playing = asyncio.create_task(run.play(self.script))
        seq = 0 if self.replays_all else request.after_seq
        while True:
            await run.longer_than(seq)
            for event in run.events[seq:]:
                yield executor_pb2.RunResponse(event=event)
                if event.HasField("finished"):
                    return
                seq = event.seq
                if seq in self.breaks:
                    self.breaks.remove(seq)
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "scripted break")

    async def CancelRun(self, request: executor_pb2.CancelRunRequest, context: Any) -> executor_pb2.CancelRunResponse:
        await _authenticate(context)
        self.cancels.append(request.run_id)
        if request.run_id not in self.runs:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the run is not known here")
        if not self.deaf_to_cancel:
            self.runs[request.run_id].cancelled.set()
        return executor_pb2.CancelRunResponse()

    async def RenewRunLease(
        self, request: executor_pb2.RenewRunLeaseRequest, context: Any
    ) -> executor_pb2.RenewRunLeaseResponse:
        await _authenticate(context)
        self.renewals.append(request)
        self.renewed.set()
        if request.run_id not in self.runs:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the run is not known here")
        return executor_pb2.RenewRunLeaseResponse()

    async def close(self) -> None:
        playing = [run.playing for run in self.runs.values() if run.playing]
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def _authenticate(context: Any) -> None:
    if dict(context.invocation_metadata()).get("authorization") != f"Bearer {TOKEN}":
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, "wrong token")


async def _first(waits: set[Any]) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
