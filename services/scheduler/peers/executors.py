"""Client of executors: runs and sessions on leased machines. One channel for each machine is kept open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from datetime import datetime, timedelta

import grpc
from wavepool.executor.v1 import (
    executor_pb2,
    executor_pb2_grpc,
    inventory_pb2,
    run_event_pb2,
    session_pb2,
    session_pb2_grpc,
)
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.rpc.channels import open_channel
from servicekit.rpc.errors import rpc_failure
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler.jobs.disk import LentDisk, UnwantedSnapshots
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import GRACE, Reservation
from services.scheduler.jobs.resources import Isolation
from services.scheduler.jobs.spec import Lease
from services.scheduler.peers.rpc_codes import UNREACHABLE
from vocabulary.bearer import authorization
from vocabulary.gang_nodes import node_name

CALL_SECONDS = 5.0
SNAPSHOT_SECONDS = 1000.0
"""Longer than two snapshots take: one may have to wait for the one before."""
# More than the machines of a pool. Beyond it, the least recently used channel is closed.
MAX_CHANNELS = 256


class ExecutorError(Exception):
    """An executor failed to carry out a request; the message is the executor's."""


class RunInterruptedError(ExecutorError):
    """The stream broke, or all slots are taken. The run may go on, and attaching again may work."""


class RunRefusedError(ExecutorError):
    """The executor will not run the job, or has lost the run."""


class MachineUnfitError(ExecutorError):
    """The machine takes no more runs."""


class RunUnknownError(ExecutorError):
    """The executor has no such run."""


class Executors:
    """Client of all executors. `grace` is the time for which sessions live on after their end."""

    def __init__(self, longest_run: timedelta, grace: timedelta = GRACE) -> None:
        self._longest_run = longest_run
        self._grace = grace
        self._channels: OrderedDict[str, grpc.aio.Channel] = OrderedDict()

    async def run(
        self, job: Job, lease: Lease, submission: Submission, expire_time: datetime
    ) -> AsyncIterator[run_event_pb2.RunEvent]:
        """Begins the job's run, or attaches to it after the last stored event.

        Raises RunInterruptedError if the stream breaks, RunRefusedError if another try is pointless, and
        MachineUnfitError if the machine refuses all runs.
        """
        request = executor_pb2.RunRequest(
            run_id=job.run_id,
            submission=submission,
            fencing_token=lease.fencing_token,
            lease_expire_time=instant_to_proto(expire_time),
            after_seq=job.run_seq,
            slots=_slots_of(lease),
            request_id=job.request_id,
            longest_run=duration_to_proto(job.spec.longest_run(self._longest_run)),
            mask_compute_units=job.spec.resources.isolation is Isolation.CU_MASK,
        )
        with _translated(RunRefusedError):
            stub = executor_pb2_grpc.ExecutorServiceStub(await self._channel(lease))
            async for answer in stub.Run(request, metadata=_authorization(lease)):
                yield answer.event

    async def cancel(self, job: Job, lease: Lease) -> None:
        """Ends the job's run; raises RunUnknownError, RunInterruptedError, RunRefusedError."""
        request = executor_pb2.CancelRunRequest(run_id=job.run_id)
        with _translated(RunUnknownError):
            stub = executor_pb2_grpc.ExecutorServiceStub(await self._channel(lease))
            await stub.CancelRun(request, metadata=_authorization(lease), timeout=CALL_SECONDS)

    async def renew(self, job: Job, lease: Lease, expire_time: datetime) -> None:
        """Extends the run's lease to `expire_time`; raises RunUnknownError, RunInterruptedError, RunRefusedError."""
        request = executor_pb2.RenewRunLeaseRequest(
            run_id=job.run_id, fencing_token=lease.fencing_token, lease_expire_time=instant_to_proto(expire_time)
        )
        with _translated(RunUnknownError):
            stub = executor_pb2_grpc.ExecutorServiceStub(await self._channel(lease))
            await stub.RenewRunLease(request, metadata=_authorization(lease), timeout=CALL_SECONDS)

    async def open_session(
        self,
        job: Job,
        reservation: Reservation,
        lease: Lease,
        end_time: datetime,
        disk: LentDisk | None = None,
        rank: int = 0,
        build_context: bytes = b"",
    ) -> AsyncIterator[session_pb2.SessionEvent]:
        """Opens the reservation's session on its machine of that rank, or attaches to it after the last stored event.

        Raises RunInterruptedError if the stream breaks, RunUnknownError if the session is lost, RunRefusedError if
        another try is pointless, and MachineUnfitError if the machine refuses everything.
        """
        request = session_pb2.OpenSessionRequest(
            session_id=job.run_id,
            fencing_token=lease.fencing_token,
            slots=_slots_of(lease),
            keys=_keys_of(reservation),
            end_time=instant_to_proto(end_time),
            lasts=duration_to_proto(reservation.lasts),
            grace=duration_to_proto(self._grace),
            environment={"WAVEPOOL_RESERVATION": job.job_id},
            after_seq=reservation.nodes[rank - 1].seq if rank else job.run_seq,
            request_id=job.request_id,
            disk=_disk_to_proto(disk) if disk else None,
            gang=_gang_to_proto(job, reservation, rank) if reservation.nodes else None,
            image=reservation.image,
            build_digest=reservation.build_digest,
            build_context=build_context,
            preserve_entrypoint=reservation.preserve_entrypoint,
        )
        with _translated(RunUnknownError):
            async for answer in (await self._sessions(lease)).OpenSession(request, metadata=_authorization(lease)):
                yield answer.event

    async def update_session(self, job: Job, reservation: Reservation, lease: Lease) -> int:
        """Gives the session the reservation's keys, and its end if it is known; gives the number of its last event.

        Raises RunUnknownError, RunInterruptedError, RunRefusedError (it is about to end).
        """
        request = session_pb2.UpdateSessionRequest(
            session_id=job.run_id,
            fencing_token=lease.fencing_token,
            keys=session_pb2.SessionKeys(keys=_keys_of(reservation)),
            end_time=instant_to_proto(reservation.expire_time),
        )
        with _translated(RunUnknownError):
            stub = await self._sessions(lease)
            answer = await stub.UpdateSession(request, metadata=_authorization(lease), timeout=CALL_SECONDS)
        return answer.last_seq

    async def notify(self, job: Job, lease: Lease, text: str) -> int:
        """Writes a text to the session's terminals; gives their number.

        Raises RunUnknownError, RunInterruptedError, RunRefusedError (the text is wrong).
        """
        request = session_pb2.NotifyRequest(session_id=job.run_id, fencing_token=lease.fencing_token, text=text)
        with _translated(RunUnknownError):
            answer = await (await self._sessions(lease)).Notify(
                request, metadata=_authorization(lease), timeout=CALL_SECONDS
            )
        return answer.terminals

    async def remove_snapshots(self, job: Job, lease: Lease, store_id: str, unwanted: UnwantedSnapshots) -> None:
        """Removes snapshots that no disk has; raises RunUnknownError, RunInterruptedError, RunRefusedError."""
        request = session_pb2.RemoveSnapshotsRequest(
            session_id=job.run_id,
            fencing_token=lease.fencing_token,
            store_id=store_id,
            owner_id=unwanted.owner_id,
            password=unwanted.password,
            snapshot_ids=unwanted.snapshot_ids,
        )
        with _translated(RunUnknownError):
            await (await self._sessions(lease)).RemoveSnapshots(
                request, metadata=_authorization(lease), timeout=SNAPSHOT_SECONDS
            )

    async def snapshot(self, job: Job, lease: Lease) -> session_pb2.SessionSnapshot:
        """Takes a snapshot of the session's disk; raises RunUnknownError, RunInterruptedError, RunRefusedError."""
        request = session_pb2.SnapshotHomeRequest(session_id=job.run_id, fencing_token=lease.fencing_token)
        with _translated(RunUnknownError):
            answer = await (await self._sessions(lease)).SnapshotHome(
                request, metadata=_authorization(lease), timeout=SNAPSHOT_SECONDS
            )
        return answer.snapshot

    async def close_session(self, job: Job, lease: Lease, grace: timedelta) -> None:
        """Ends the session; raises RunUnknownError, RunInterruptedError, RunRefusedError."""
        request = session_pb2.CloseSessionRequest(
            session_id=job.run_id, fencing_token=lease.fencing_token, grace=duration_to_proto(grace)
        )
        with _translated(RunUnknownError):
            await (await self._sessions(lease)).CloseSession(
                request, metadata=_authorization(lease), timeout=CALL_SECONDS
            )

    async def close(self) -> None:
        """Closes all channels."""
        while self._channels:
            await self._channels.popitem()[1].close()

    async def _sessions(self, lease: Lease) -> session_pb2_grpc.SessionServiceAsyncStub:
        return session_pb2_grpc.SessionServiceStub(await self._channel(lease))

    async def _channel(self, lease: Lease) -> grpc.aio.Channel:
        endpoint = lease.executor_endpoint
        if endpoint not in self._channels:
            self._channels[endpoint] = open_channel(endpoint)
        self._channels.move_to_end(endpoint)
        if len(self._channels) > MAX_CHANNELS:
            await self._channels.popitem(last=False)[1].close()
        return self._channels[endpoint]


def _slots_of(lease: Lease) -> list[inventory_pb2.Slot]:
    return [inventory_pb2.Slot(gpu=slot.gpu, first_eighth=slot.first, eighths=slot.eighths) for slot in lease.slots]


def _keys_of(reservation: Reservation) -> list[session_pb2.SessionKey]:
    return [session_pb2.SessionKey(user=key.user, public_key=key.line) for key in reservation.keys]


def _gang_to_proto(job: Job, reservation: Reservation, rank: int) -> session_pb2.Gang:
    """The sessions that the one on the machine of that rank reaches; always the same in one attempt."""
    nodes = [
        session_pb2.GangNode(name=node_name(one), address=address)
        for one, address in enumerate(reservation.node_addresses)
    ]
    return session_pb2.Gang(gang_id=job.run_id, rank=rank, nodes=nodes, ssh_seed=bytes.fromhex(reservation.node_seed))


def _disk_to_proto(disk: LentDisk) -> session_pb2.KeptDisk:
    return session_pb2.KeptDisk(
        disk_id=disk.disk_id,
        name=disk.name,
        owner_id=disk.owner_id,
        password=disk.password,
        snapshot_id=disk.snapshot_id,
        store_id=disk.store_id,
        size_limit_bytes=disk.size_limit_bytes,
        snapshot_bytes=disk.snapshot_bytes,
    )


def _authorization(lease: Lease) -> tuple[tuple[str, str]]:
    return (authorization(lease.executor_token),)


@contextmanager
def _translated(not_found: type[ExecutorError]) -> Generator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        failure = rpc_failure(error)
        said = f"{failure.code.name}: {failure.message}"
        if failure.code is grpc.StatusCode.ABORTED:
            # gRPC itself never uses this code, so the executor sent it.
            raise MachineUnfitError(failure.message) from error
        if failure.code in UNREACHABLE or failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise RunInterruptedError(said) from error
        kind = not_found if failure.code is grpc.StatusCode.NOT_FOUND else RunRefusedError
        raise kind(said) from error
