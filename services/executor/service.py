"""ExecutorService: decodes requests, calls the runs and encodes the answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC
from ipaddress import IPv4Address

import grpc
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc
from wavepool.executor.v1.run_event_pb2 import RunEvent

from services.executor.core.model.report import signed_statement
from services.executor.leases.authentication import Tokens
from services.executor.leases.errors import InvalidFieldError
from services.executor.machine.pool_watch import PoolWatch
from services.executor.machine.signing import Signer
from services.executor.runs.admission import Admission
from services.executor.runs.all_runs import Runs
from services.executor.runs.run import Run
from services.executor.sessions.all_sessions import Sessions
from services.executor.sessions.network.session_network import outer_addresses
from services.executor.wire.capabilities import Capabilities
from services.executor.wire.requests import RunDecoder, instant

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class ExecutorServicer(executor_pb2_grpc.ExecutorServiceServicer):
    """Serves the RPCs. Refusals are raised, and the interceptor turns them into statuses."""

    admission: Admission
    runs: Runs
    sessions: Sessions
    decoder: RunDecoder
    tokens: Tokens
    signer: Signer
    capabilities: Capabilities
    pool_watch: PoolWatch | None
    address: IPv4Address | None
    """Its address for other machines; None if each of its own may be."""

    async def Run(self, request: executor_pb2.RunRequest, context: Context) -> AsyncIterator[executor_pb2.RunResponse]:
        """Begin a run or attach to it, and stream its events."""
        caller = self.tokens.caller(context.invocation_metadata() or ())
        spec = self.decoder.decode(request, caller)
        run = await self.runs.begin_or_attach(spec, request.after_seq)
        async for event in run.follow(request.after_seq):
            yield executor_pb2.RunResponse(event=self._signed(run, event))

    async def CancelRun(
        self, request: executor_pb2.CancelRunRequest, context: Context
    ) -> executor_pb2.CancelRunResponse:
        """End a run."""
        self.runs.cancel(request.run_id)
        return executor_pb2.CancelRunResponse()

    async def RenewRunLease(
        self, request: executor_pb2.RenewRunLeaseRequest, context: Context
    ) -> executor_pb2.RenewRunLeaseResponse:
        """Move the end of a run's lease."""
        if not request.HasField("lease_expire_time"):
            raise InvalidFieldError(("lease_expire_time", "is missing; send the instant at which the lease expires"))
        self.runs.renew(request.run_id, request.fencing_token, instant(request.lease_expire_time))
        return executor_pb2.RenewRunLeaseResponse()

    async def GetCapabilities(
        self, request: executor_pb2.GetCapabilitiesRequest, context: Context
    ) -> executor_pb2.GetCapabilitiesResponse:
        """Report the executor's capabilities; the call is also the pool's heartbeat."""
        if self.pool_watch:
            self.pool_watch.heard()
        return self.capabilities.to_proto(
            self.admission.capacity,
            runs_in_flight=len(self.admission.in_flight),
            unfit_reason=self.runs.unfit_reason,
            no_sessions_because=self.sessions.no_sessions_because,
            session_gaps=self.sessions.gaps,
            addresses=[*map(str, [self.address] if self.address else outer_addresses())],
        )

    def _signed(self, run: Run, event: RunEvent) -> RunEvent:
        if not event.finished.unsigned_report:
            return event
        signed = RunEvent()
        signed.CopyFrom(event)
        finished, time = signed.finished, event.time.ToDatetime(tzinfo=UTC)
        payload = signed_statement(run.spec.run_id, time, json.loads(finished.unsigned_report))
        finished.signed_report = self.signer.envelope(payload)
        finished.ClearField("unsigned_report")
        return signed
