"""Reservations whose answers are written here, and a pool that carries their connections; both note what was asked."""

# pyright: basic
# ruff: noqa: N802 - RPCs are VerbNoun, and no secret here opens anything
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2 as pb
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.rpc.farewell import caller_leaves
from tests.gateway.job_events import CPU_MACHINE
from tests.gateway.refusals import Refusals
from tests.gateway.scripted_answers import ACTIVE_AT, EXPIRES_AT

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHostKey"
BANNER = b"SSH-2.0-scripted\r\n"
TARGET = pb.GetTunnelTargetResponse(lease_id="lease_1", session_id="ses_1")


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
        "borrowed_gpus": 2.0,
        "recall_time": ACTIVE_AT,
        "recall_queue": "blue",
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
        {
            "users_changed": pb.ReservationUsersChanged(
                users=["ada", "bob"],
                user_id="user_ada",
                added=["bob"],
                added_keys=[session_pb2.SessionKey(user="bob", public_key="ssh-ed25519 AAAA")],
            )
        },
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


class ScriptedReservations:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Returns to the initial state."""
        self.found = reservation()
        self.target = TARGET
        self.events = story()

    @property
    def answers(self) -> dict[str, Any]:
        listed = {"reservations": [self.found], "next_page_token": "page-2"}
        changed = ("CreateReservation", "ExtendReservation", "UpdateReservation")
        return {"ListReservations": listed, **{rpc: {"reservation": self.found} for rpc in changed}}

    async def GetReservation(self, request: Any, context: Any) -> pb.GetReservationResponse:
        if request.reservation_id != self.found.reservation_id or (
            request.account_ids and self.found.account_id not in request.account_ids
        ):
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no reservation {request.reservation_id}")
        return pb.GetReservationResponse(reservation=self.found)

    async def WatchReservation(self, request: Any, context: Any) -> AsyncIterator[pb.WatchReservationResponse]:
        for event in self.events:
            if event.seq > request.after_seq:
                yield pb.WatchReservationResponse(event=event)

    async def CancelReservation(self, request: Any, context: Any) -> pb.CancelReservationResponse:
        self.found.state = pb.RESERVATION_STATE_EXPIRING
        return pb.CancelReservationResponse(reservation=self.found)

    async def GetTunnelTarget(self, request: Any, context: Any) -> pb.GetTunnelTargetResponse:
        if request.account_ids and self.found.account_id not in request.account_ids:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no reservation {request.reservation_id}")
        return self.target


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
        self.breaks = False
        self.flood_bytes = 0
        self.flooded = asyncio.Event()

    async def carry(self, requests: Any, context: Any) -> AsyncIterator[vmpool_pb2.OpenTunnelResponse]:
        first = await anext(requests)
        await self.refusals.meet("OpenTunnel", first, context)
        try:
            if self.answers:
                yield vmpool_pb2.OpenTunnelResponse(data=BANNER)
            if self.breaks:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "Stream removed (Socket closed)")
            for _ in range(0, self.flood_bytes, 1 << 16):
                yield vmpool_pb2.OpenTunnelResponse(data=bytes(1 << 16))
            self.flooded.set()
            await self.reads.wait()
            async for request in requests:
                self.taken_bytes += len(request.data)
                yield vmpool_pb2.OpenTunnelResponse(data=request.data)
                await self.reads.wait()
            yield vmpool_pb2.OpenTunnelResponse(data=b"bye")
            yield vmpool_pb2.OpenTunnelResponse()
            await caller_leaves()
        finally:
            self.ended.set()
