"""Reservations whose answers are written here, and a pool that carries their connections; both note what was asked."""

# ruff: noqa: N802, S106 - RPCs are VerbNoun, and no secret here opens anything
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2 as pb
from wavepool.scheduler.v1 import reservations_pb2_grpc, scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from tests.gateway.job_events import CPU_MACHINE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.gateway.refusals import Refusals

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHostKey"
BANNER = b"SSH-2.0-scripted\r\n"
TARGET = pb.GetTunnelTargetResponse(lease_id="lease_1", session_id="ses_1")
ACTIVE_AT, EXPIRES_AT = Timestamp(seconds=1_800_000_000), Timestamp(seconds=4_000_000_000)


def reservation(**fields: Any) -> pb.Reservation:
    """An active reservation of the user, with `fields` replaced."""
    spec = pb.ReservationSpec(
        gpu_type="MI300X",
        gpus=2,
        duration=Duration(seconds=5400),
        name="training",
        keys=[session_pb2.SessionKey(user="ada", public_key="ssh-ed25519 AAAA ada")],
        queue="default",
        disk="work",
        image="registry.example/rocm:6.2",
        preserve_entrypoint=True,
    )
    sound: dict[str, Any] = {
        "reservation_id": "res_01J",
        "account_id": "acc_user",
        "user_id": "user_ada",
        "spec": spec,
        "state": pb.RESERVATION_STATE_ACTIVE,
        "message": "People can log in.",
        "create_time": Timestamp(seconds=1_799_999_000),
        "active_time": ACTIVE_AT,
        "expire_time": EXPIRES_AT,
        "machine_id": "m_1",
        "machine_gpu_type": "MI300X",
        "machine_gpus": [0, 3],
        "host_key": HOST_KEY,
        "login_user": "dev",
        "gaps": ["Nothing limits memory."],
        "software": {"driver": "6.12.12", "rocm": "6.4.1"},
        "steps": [pb.ReservationStep(name="queue", duration=Duration(seconds=2, nanos=500_000_000))],
        "extensions": [pb.ReservationExtension(duration=Duration(seconds=1800), user_id="user_ada", time=ACTIVE_AT)],
        "out_of_memory_kills": 1,
        "last_out_of_memory_time": ACTIVE_AT,
        "idle_since": ACTIVE_AT,
        "connections": 2,
        "disk_safe_time": ACTIVE_AT,
        "disk_fault": "the home is too large",
        "image_digest": "sha256:1234",
        "price_micros_per_hour": 1_990_000,
        "hold_micros": 5_970_000,
        "cost_micros": 100_000,
        "last_seq": 9,
    }
    return pb.Reservation(**{**sound, **fields})


def story() -> list[pb.ReservationEvent]:
    """A reservation's events, one of each kind, and one of a kind that this gateway does not know."""
    fingerprint = {"user": "ada", "fingerprint": "SHA256:x", "connection": 1}
    queued = scheduler_pb2.Queued(position=1, eta_p50=Duration(seconds=2), message="Waiting behind job_0THER.")
    provisioning = scheduler_pb2.Provisioning(stage="starting", machine=CPU_MACHINE, message="Starting a machine.")
    step = session_pb2.SessionStep(name="sandbox", duration=Duration(nanos=500_000_000))
    active = pb.ReservationActive(expire_time=EXPIRES_AT, host_key=HOST_KEY, login_user="dev", gaps=["A gap."])
    extended = pb.ReservationExtended(duration=Duration(seconds=1800), expire_time=EXPIRES_AT, user_id="user_ada")
    kinds: list[dict[str, Any]] = [
        {"queued": queued},
        {"provisioning": provisioning},
        {"retrying": scheduler_pb2.Retrying(reason="its machine was lost")},
        {"session": session_pb2.SessionEvent(step=step)},
        {"session": session_pb2.SessionEvent(ready=session_pb2.SessionReady(host_key=HOST_KEY))},
        {"active": active},
        {},
        {"session": session_pb2.SessionEvent(login=session_pb2.SessionLogin(**fingerprint))},
        {"session": session_pb2.SessionEvent(logout=session_pb2.SessionLogout(**fingerprint))},
        {"session": session_pb2.SessionEvent(out_of_memory=session_pb2.SessionOutOfMemory(killed=2))},
        {"session": session_pb2.SessionEvent(warning=session_pb2.SessionWarning(minutes_left=30))},
        {"extended": extended},
        {"users_changed": pb.ReservationUsersChanged(users=["ada", "bob"], user_id="user_ada", added=["bob"])},
        {"notified": pb.ReservationNotified(text="Save.", terminals=2, user_id="user_op")},
        {"ending": pb.ReservationEnding(user_id="user_ada", reason="Behind job_0THER.")},
        {"session": session_pb2.SessionEvent(warning=session_pb2.SessionWarning(minutes_left=0))},
        {
            "ended": pb.ReservationEnded(
                state=pb.RESERVATION_STATE_EXPIRED, message="Time is up.", cost_micros=3_000_000
            )
        },
    ]
    return [
        pb.ReservationEvent(reservation_id="res_01J", seq=seq, time=ACTIVE_AT, cost_micros=seq, **kind)
        for seq, kind in enumerate(kinds, 1)
    ]


class ScriptedReservations(reservations_pb2_grpc.ReservationServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.forget()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.found = reservation()
        self.target = TARGET
        self.events = story()

    async def CreateReservation(self, request: Any, context: Any) -> pb.CreateReservationResponse:
        await self.refusals.meet("CreateReservation", request, context)
        return pb.CreateReservationResponse(reservation=self.found)

    async def UploadBuildContext(self, request: Any, context: Any) -> pb.UploadBuildContextResponse:
        await self.refusals.meet("UploadBuildContext", request, context)
        return pb.UploadBuildContextResponse(digest=f"sha256:{len(request.content)}")

    async def QuoteReservation(self, request: Any, context: Any) -> pb.QuoteReservationResponse:
        await self.refusals.meet("QuoteReservation", request, context)
        return pb.QuoteReservationResponse(
            gpu_type="MI300X",
            gpus=request.spec.gpus,
            duration=request.spec.duration,
            price_micros_per_hour=1_990_000,
            hold_micros=3_980_000,
            eta_p50=Duration(seconds=90),
            start_time=request.spec.start_time if request.spec.HasField("start_time") else None,
        )

    async def GetReservation(self, request: Any, context: Any) -> pb.GetReservationResponse:
        await self.refusals.meet("GetReservation", request, context)
        if request.reservation_id != self.found.reservation_id or (
            request.account_ids and self.found.account_id not in request.account_ids
        ):
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no reservation {request.reservation_id}")
        return pb.GetReservationResponse(reservation=self.found)

    async def ListReservations(self, request: Any, context: Any) -> pb.ListReservationsResponse:
        await self.refusals.meet("ListReservations", request, context)
        return pb.ListReservationsResponse(reservations=[self.found], next_page_token="page-2")

    async def WatchReservation(self, request: Any, context: Any) -> AsyncIterator[pb.WatchReservationResponse]:
        await self.refusals.meet("WatchReservation", request, context)
        for event in self.events:
            if event.seq > request.after_seq:
                yield pb.WatchReservationResponse(event=event)

    async def CancelReservation(self, request: Any, context: Any) -> pb.CancelReservationResponse:
        await self.refusals.meet("CancelReservation", request, context)
        self.found.state = pb.RESERVATION_STATE_EXPIRING
        return pb.CancelReservationResponse(reservation=self.found)

    async def ExtendReservation(self, request: Any, context: Any) -> pb.ExtendReservationResponse:
        await self.refusals.meet("ExtendReservation", request, context)
        return pb.ExtendReservationResponse(reservation=self.found)

    async def UpdateReservation(self, request: Any, context: Any) -> pb.UpdateReservationResponse:
        await self.refusals.meet("UpdateReservation", request, context)
        return pb.UpdateReservationResponse(reservation=self.found)

    async def GetTunnelTarget(self, request: Any, context: Any) -> pb.GetTunnelTargetResponse:
        await self.refusals.meet("GetTunnelTarget", request, context)
        if request.account_ids and self.found.account_id not in request.account_ids:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no reservation {request.reservation_id}")
        return self.target

    async def NotifyReservation(self, request: Any, context: Any) -> pb.NotifyReservationResponse:
        await self.refusals.meet("NotifyReservation", request, context)
        return pb.NotifyReservationResponse(terminals=2)

    async def GetReservationUsage(self, request: Any, context: Any) -> pb.GetReservationUsageResponse:
        await self.refusals.meet("GetReservationUsage", request, context)
        one = pb.ReservationUsage(account_id="acct_1", user_id="user_9", gpu_type="MI300X", reservations=2)
        one.day.FromSeconds(1_795_651_200)
        one.gpu_time.FromSeconds(5_400)
        return pb.GetReservationUsageResponse(usage=[one])

    async def GetCalendar(self, request: Any, context: Any) -> pb.GetCalendarResponse:
        await self.refusals.meet("GetCalendar", request, context)
        own = pb.CalendarEntry(
            reservation_id="res_01J",
            account_id="acc_user",
            user_id="user_ada",
            name="training",
            gpu_type="MI300X",
            gpus=2,
            begin_time=ACTIVE_AT,
            end_time=EXPIRES_AT,
            state=pb.RESERVATION_STATE_ACTIVE,
            machine_id="m_1",
        )
        other = pb.CalendarEntry(
            reservation_id="res_02J",
            account_id="acc_other",
            user_id="user_eve",
            name="secret",
            gpu_type="MI300X",
            gpus=4,
            begin_time=EXPIRES_AT,
            end_time=Timestamp(seconds=EXPIRES_AT.seconds + 3600),
            state=pb.RESERVATION_STATE_PENDING,
            late=True,
        )
        return pb.GetCalendarResponse(entries=[own, other])

    async def GetAvailability(self, request: Any, context: Any) -> pb.GetAvailabilityResponse:
        await self.refusals.meet("GetAvailability", request, context)
        waits = [pb.SizeWait(gpus=1, eta_p50=Duration(), eta_p90=Duration(seconds=5)), pb.SizeWait(gpus=8)]
        one = pb.GpuAvailability(
            gpu_type="MI300X",
            total_gpus=16,
            free_gpus=5,
            largest_free=4,
            reserved_gpus=8,
            queue_length=3,
            price_micros_per_hour=1_990_000,
            waits=waits,
            next_dated_time=EXPIRES_AT,
            next_dated_gpus=4,
            maintenance="new firmware until 15:00",
            queue_head=pb.QueueHead(gpus=8, create_time=EXPIRES_AT, reason="It needs 8 GPUs."),
        )
        return pb.GetAvailabilityResponse(gpu_types=[one])


class ScriptedSessions:
    """What OpenTunnel leads to: sends a banner, then everything back; at the end of the input `bye`, and closes.

    While `reads` is not set, it takes nothing. `ended` is set whenever a connection is over.
    """

    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.forget()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.reads = asyncio.Event()
        self.reads.set()
        self.ended = asyncio.Event()
        self.taken_bytes = 0
        self.answers = True
        self.flood_bytes = 0
        self.flooded = asyncio.Event()

    async def carry(self, requests: Any, context: Any) -> AsyncIterator[vmpool_pb2.OpenTunnelResponse]:
        first = await anext(requests)
        await self.refusals.meet("OpenTunnel", first, context)
        try:
            if self.answers:
                yield vmpool_pb2.OpenTunnelResponse(data=BANNER)
            for _ in range(0, self.flood_bytes, 1 << 16):
                yield vmpool_pb2.OpenTunnelResponse(data=bytes(1 << 16))
            self.flooded.set()
            await self.reads.wait()
            async for request in requests:
                self.taken_bytes += len(request.data)
                yield vmpool_pb2.OpenTunnelResponse(data=request.data)
                await self.reads.wait()
            yield vmpool_pb2.OpenTunnelResponse(data=b"bye")
        finally:
            self.ended.set()
