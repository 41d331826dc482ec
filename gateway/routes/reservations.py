"""`/api/v1/reservations`: GPUs for people by the hour, over SSH."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict

import grpc
from fastapi import APIRouter, Header, Path, Query, Response
from starlette.websockets import WebSocket
from wavepool.billing.v1.reports_pb2 import GetWorkCostRequest
from wavepool.scheduler.v1 import reservations_pb2 as pb

from gateway.auth import Caller
from gateway.dependencies import (
    STREAM_PLACE,
    Gateway,
    TheAccount,
    TheGateway,
    TheSender,
    TheSubmitter,
    TheVisibleJobs,
    caller_of,
    gateway_of,
)
from gateway.http.errors import RATE_LIMIT_EXCEEDED, Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import NO_MORE_RESERVATION, RESERVATION_STREAM, WEBSOCKET, problems
from gateway.http.rpc_status import problem_of_rpc
from gateway.http.sse import EventStream, resume_point
from gateway.reservations import schemas, tunnel
from gateway.reservations.people_keys import KeyLookup, PeopleKeys, given_keys, joined
from gateway.reservations.views import (
    OVER,
    availability_of,
    calendar_of,
    frame_of,
    quote_of,
    reservation_of,
    reservation_path,
    usage_of,
    user_id_of,
    user_ids_of,
)
from gateway.routes.identity_calls import call, names_of
from gateway.submissions.frames import encode
from gateway.submissions.visible_jobs import VisibleJobs
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from servicekit.logging import get_logger
from vocabulary.money import dollars_of

log = get_logger(__name__)
router = APIRouter(tags=["reservations"], route_class=JsonRoute)

MOST_RANK = 63
"""More than any reservation has."""
ReservationId = Annotated[str, Path(max_length=100)]
Node = Annotated[int, Query(ge=0, le=MOST_RANK, description="The rank of one of several machines.")]
IdempotencyKey = Annotated[
    str, Header(max_length=200, description="A repeated key with the same content changes nothing more.")
]
NOT_ENOUGH_CREDIT = {grpc.StatusCode.FAILED_PRECONDITION: 402}
FIELD_NAMES = {
    "gpus": "gpu_count",
    "duration": "hours",
    "idempotency_key": "Idempotency-Key",
    "add_keys": "add",
    "remove_users": "remove",
}


@router.post("/build-contexts", responses=problems(413, 429))
async def upload_build_context(
    body: schemas.BuildContextRequest, caller: TheSubmitter, gateway: TheGateway
) -> schemas.BuildContext:
    """Store a Dockerfile and its folder, for reservations whose image is built from it. It is kept for a day."""
    request = pb.UploadBuildContextRequest(account_id=caller.account_id, content=body.content)
    try:
        answer = await gateway.upstreams.reservations.UploadBuildContext(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise _refused(error) from error
    return schemas.BuildContext(build_digest=answer.digest)


@router.post("/reservations", status_code=202, responses=problems(402, 403, 404, 409, 429))
async def create_reservation(
    body: schemas.ReservationRequest,
    response: Response,
    sender: TheSender,
    gateway: TheGateway,
    idempotency_key: IdempotencyKey = "",
) -> schemas.ChangedReservation:
    """Put a reservation in the queue. Follow it at its `events_url`. Its time begins once it is active."""
    _check_priority(sender, body.priority)
    given = schemas.session_keys(body.keys, sender.user_name)
    takes_own = not given if body.own_keys is None else body.own_keys
    lookup = _lookup(gateway, sender)
    found = await lookup.own(given) if takes_own else given_keys(given)
    if body.add_users:
        found = joined([found, await lookup.of(body.add_users, sender.user_name, "add_users")])
    request = pb.CreateReservationRequest(
        account_id=sender.account_id,
        user_id=sender.user_id,
        spec=body.spec(body.name, found.keys),
        idempotency_key=idempotency_key or str(uuid.uuid4()),
    )
    try:
        answer = await gateway.upstreams.reservations.CreateReservation(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise _refused(error) from error
    response.headers["Location"] = reservation_path(answer.reservation.reservation_id)
    return _changed(await _shown(gateway, answer.reservation), found)


@router.post("/reservations/quote", responses=problems(402, 403, 404, 409))
async def quote_reservation(
    body: schemas.QuoteRequest, caller: TheSubmitter, gateway: TheGateway
) -> schemas.ReservationQuote:
    """Check a reservation and price it, without making it."""
    _check_priority(caller, body.priority)
    request = pb.QuoteReservationRequest(account_id=caller.account_id, user_id=caller.user_id, spec=body.spec())
    try:
        return quote_of(await gateway.upstreams.reservations.QuoteReservation(request, timeout=CALL_TIMEOUT_SECONDS))
    except grpc.aio.AioRpcError as error:
        raise _refused(error) from error


@router.get("/reservations")
async def list_reservations(
    account: TheAccount,
    gateway: TheGateway,
    visible: TheVisibleJobs,
    state: Annotated[
        list[schemas.ReservationState] | None,
        Query(description="Only those in this state; several times for several states."),
    ] = None,
    user_id: Annotated[str, Query(max_length=100, description="Only those of this user; an id.")] = "",
    page_size: Annotated[int, Query(ge=1, le=200)] = 50,
    page_token: Annotated[str, Query(max_length=500, description="The `next_page_token` of the page before.")] = "",
) -> schemas.ReservationPage:
    """List the reservations of your accounts, newest first; operators and administrators see all."""
    request = pb.ListReservationsRequest(
        account_ids=account.overseen_account_ids,
        page_size=page_size,
        page_token=page_token,
        states=[pb.ReservationState.Value(f"RESERVATION_STATE_{one.name}") for one in state or ()],
        user_id=user_id,
    )
    page = await call(gateway.upstreams.reservations.ListReservations, request, FIELD_NAMES)
    names = await _names(gateway, page.reservations)
    now = datetime.now(UTC)
    return schemas.ReservationPage(
        reservations=[reservation_of(await _hidden(visible, one), names, now) for one in page.reservations],
        next_page_token=page.next_page_token,
    )


@router.get("/reservations/usage")
async def get_reservation_usage(
    account: TheAccount,
    gateway: TheGateway,
    days: Annotated[int, Query(ge=1, le=366, description="Days of UTC, today among them.")] = 30,
) -> schemas.ReservationUsage:
    """Add up the GPU hours of your accounts' reservations, by day and user; operators and administrators see all."""
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    request = pb.GetReservationUsageRequest(account_ids=account.overseen_account_ids)
    request.begin_time.FromDatetime(end - timedelta(days=days))
    request.end_time.FromDatetime(end)
    answer = await gateway.upstreams.reservations.GetReservationUsage(request, timeout=CALL_TIMEOUT_SECONDS)
    names = await names_of(gateway, {one.user_id for one in answer.usage})
    return usage_of(answer, names)


@router.get("/reservations/calendar")
async def get_reservation_calendar(
    account: TheAccount,
    gateway: TheGateway,
    gpu_type: Annotated[str, Query(max_length=40, description="Default: all types.")] = "",
) -> schemas.ReservationCalendar:
    """Show which GPUs are used by reservations now, and which are planned for later ones.

    Names and owners are shown for your accounts only; operators and administrators see all.
    """
    request = pb.GetCalendarRequest(gpu_type=gpu_type)
    found = await call(gateway.upstreams.reservations.GetCalendar, request, FIELD_NAMES)
    account_ids = {one.account_id for one in found.entries} if account.oversees else account.visible_account_ids
    user_ids = {one.user_id for one in found.entries if one.account_id in account_ids}
    return calendar_of(found, await names_of(gateway, user_ids), account_ids)


@router.get("/reservations/{reservation_id}", responses=problems(404))
async def get_reservation(
    reservation_id: ReservationId, account: TheAccount, gateway: TheGateway, visible: TheVisibleJobs
) -> schemas.Reservation:
    """Get one reservation."""
    reservation = await _hidden(visible, await _reservation_of(gateway, account, reservation_id))
    shown, cost = await asyncio.gather(_shown(gateway, reservation), _work_cost(gateway, reservation))
    return shown.model_copy(update=cost)


@router.patch("/reservations/{reservation_id}", responses=problems(403, 404, 409))
async def rename_reservation(
    reservation_id: ReservationId, body: schemas.ReservationChange, caller: TheSubmitter, gateway: TheGateway
) -> schemas.Reservation:
    """Change a reservation's name."""
    request = pb.UpdateReservationRequest(**_asked_by(caller), reservation_id=reservation_id, name=body.name)
    return await _updated(gateway, request)


@router.get(
    "/reservations/{reservation_id}/events",
    response_class=Response,
    dependencies=[STREAM_PLACE],
    responses={**RESERVATION_STREAM, **NO_MORE_RESERVATION, **problems(404)},
)
async def stream_reservation_events(
    reservation_id: ReservationId,
    account: TheAccount,
    gateway: TheGateway,
    visible: TheVisibleJobs,
    last_event_id: Annotated[str | None, Header(description="Resume after the event with this id.")] = None,
    after: Annotated[str | None, Query(description="The same, where headers cannot be set.")] = None,
) -> Response:
    """Stream a reservation's events until its last. Closing the stream cancels nothing."""
    after_seq = resume_point(last_event_id, after)
    reservation = await _reservation_of(gateway, account, reservation_id)
    if reservation.state in OVER and after_seq >= reservation.last_seq:
        # On 204, a browser's EventSource stops reconnecting.
        return Response(status_code=204, media_type="text/event-stream")
    request = pb.WatchReservationRequest(
        account_ids=account.overseen_account_ids, reservation_id=reservation_id, after_seq=after_seq
    )
    frames = _frames(gateway, visible, request)
    return EventStream(frames, gateway.settings.heartbeat, gateway.settings.send_timeout)


@router.post("/reservations/{reservation_id}/cancel", status_code=202, responses=problems(404))
async def cancel_reservation(
    reservation_id: ReservationId,
    caller: TheSubmitter,
    gateway: TheGateway,
    reason: Annotated[
        str, Query(max_length=200, description="The reason, for the owner; only used if an operator ends it.")
    ] = "",
) -> schemas.Reservation:
    """End a reservation in any state, which may take a moment; its use is charged.

    One that has ended is not changed.
    """
    request = pb.CancelReservationRequest(
        account_ids=caller.overseen_account_ids,
        reservation_id=reservation_id,
        reason=reason if caller.oversees else "",
        user_id=caller.user_id,
    )
    answer = await gateway.upstreams.reservations.CancelReservation(request, timeout=CALL_TIMEOUT_SECONDS)
    return await _shown(gateway, answer.reservation)


@router.post("/reservations/{reservation_id}/extend", responses=problems(403, 404, 409))
async def extend_reservation(
    reservation_id: ReservationId,
    body: schemas.ExtensionRequest,
    caller: TheSubmitter,
    gateway: TheGateway,
    idempotency_key: IdempotencyKey = "",
) -> schemas.Reservation:
    """Add time to a reservation that is prepared or active."""
    request = pb.ExtendReservationRequest(
        **_asked_by(caller),
        reservation_id=reservation_id,
        duration=schemas.duration_of(body.hours),
        idempotency_key=idempotency_key or str(uuid.uuid4()),
    )
    answer = await call(gateway.upstreams.reservations.ExtendReservation, request, FIELD_NAMES)
    return await _shown(gateway, answer.reservation)


@router.post("/reservations/{reservation_id}/users", responses=problems(403, 404, 409))
async def change_reservation_users(
    reservation_id: ReservationId, body: schemas.UsersRequest, caller: TheSubmitter, gateway: TheGateway
) -> schemas.ChangedReservation:
    """Set who may log in, and who may change the reservation. Users who may no longer log in are logged out.

    For people named without keys, keys are looked up and checked before anything is changed.
    """
    lookup = _lookup(gateway, caller)
    found, editors = await lookup.of(body.add, caller.user_name, "add"), await lookup.editors(body.add_editors)
    found = joined([found, editors])
    request = pb.UpdateReservationRequest(
        **_asked_by(caller),
        reservation_id=reservation_id,
        add_keys=found.keys,
        remove_users=body.remove,
        add_editors=editors.users,
    )
    return _changed(await _updated(gateway, request), found)


@router.post("/reservations/{reservation_id}/notify", responses=problems(403, 404, 409))
async def notify_reservation(
    reservation_id: ReservationId, body: schemas.NotifyRequest, caller: TheSubmitter, gateway: TheGateway
) -> schemas.Notified:
    """Write a text to every terminal of a reservation's session."""
    request = pb.NotifyReservationRequest(**_asked_by(caller), reservation_id=reservation_id, text=body.text)
    answer = await gateway.upstreams.reservations.NotifyReservation(request, timeout=CALL_TIMEOUT_SECONDS)
    return schemas.Notified(terminals=answer.terminals)


@router.get("/reservations/{reservation_id}/tunnel", response_class=Response, responses=WEBSOCKET)
async def describe_tunnel(reservation_id: ReservationId, caller: TheSubmitter, node: Node = 0) -> Response:
    """Open a WebSocket whose binary messages are the bytes of one SSH connection to the reservation.

    An empty message ends your side. docs/http-api.md has the close codes.
    """
    del reservation_id, caller, node
    problem = Problem(426, "This is a WebSocket; `wavepool connect` and `wavepool ssh-proxy` use it.")
    raise ProblemError(problem)


@router.websocket("/reservations/{reservation_id}/tunnel")
async def open_tunnel(websocket: WebSocket, reservation_id: str, node: Node = 0) -> None:
    """Carry one SSH connection. Before the upgrade, failures are answered as those of all routes."""
    gateway = gateway_of(websocket)
    caller = await caller_of(websocket)
    caller.require("submit")
    with gateway.tunnels.place_for(caller.user_id, caller.user_id) as place:
        way = tunnel.Way(gateway.upstreams, gateway.authenticator, caller, place, reservation_id, node)
        await tunnel.carry(websocket, way, gateway.settings.tunnel_check)


@router.get("/availability")
async def get_availability(
    _: TheAccount,
    gateway: TheGateway,
    gpu_type: Annotated[str, Query(max_length=40, description="Default: all types.")] = "",
) -> schemas.Availability:
    """Show what could be reserved now, and the expected wait for 1, 2, 4 and 8 GPUs."""
    request = pb.GetAvailabilityRequest(gpu_type=gpu_type)
    return availability_of(await gateway.upstreams.reservations.GetAvailability(request, timeout=CALL_TIMEOUT_SECONDS))


class _Asked(TypedDict):
    account_ids: list[str]
    managed_account_ids: list[str]
    user_id: str


def _asked_by(caller: Caller) -> _Asked:
    """Who asks for a change, as the scheduler decides on it."""
    managed = sorted(caller.managed_account_ids)
    return {"account_ids": caller.overseen_account_ids, "managed_account_ids": managed, "user_id": caller.user_id}


def _check_priority(caller: Caller, priority: int) -> None:
    if priority > 0 and caller.role == "admin":
        # The scheduler knows the role alone, and a token may be narrower.
        caller.require("admin")


def _refused(error: grpc.aio.AioRpcError) -> ProblemError:
    problem = problem_of_rpc(error, FIELD_NAMES, NOT_ENOUGH_CREDIT)
    if error.code() is grpc.StatusCode.FAILED_PRECONDITION and problem.errors:
        # Not of the credit, but of the queue that is named.
        problem = replace(problem, status=409)
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        problem = replace(problem, code=RATE_LIMIT_EXCEEDED)
    return ProblemError(problem)


def _lookup(gateway: Gateway, caller: Caller) -> KeyLookup:
    return KeyLookup(gateway.upstreams.identity, caller.token_id)


def _changed(shown: schemas.Reservation, found: PeopleKeys) -> schemas.ChangedReservation:
    return schemas.ChangedReservation(**shown.model_dump(), added_keys=found.added(), notes=list(found.notes))


async def _updated(gateway: Gateway, request: pb.UpdateReservationRequest) -> schemas.Reservation:
    answer = await call(gateway.upstreams.reservations.UpdateReservation, request, FIELD_NAMES)
    return await _shown(gateway, answer.reservation)


async def _reservation_of(gateway: Gateway, caller: Caller, reservation_id: str) -> pb.Reservation:
    request = pb.GetReservationRequest(account_ids=caller.overseen_account_ids, reservation_id=reservation_id)
    return (await gateway.upstreams.reservations.GetReservation(request, timeout=CALL_TIMEOUT_SECONDS)).reservation


async def _shown(gateway: Gateway, reservation: pb.Reservation) -> schemas.Reservation:
    return reservation_of(reservation, await _names(gateway, [reservation]), datetime.now(UTC))


async def _work_cost(gateway: Gateway, reservation: pb.Reservation) -> Mapping[str, float]:
    """The fields about the cost of its GPUs; none if it had none, or billing is away."""
    if not reservation.attempts:
        return {}
    request = GetWorkCostRequest(subject=reservation.reservation_id, attempts=reservation.attempts)
    try:
        found = await gateway.upstreams.reports.GetWorkCost(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        log.warning("the cost of a reservation's GPUs is not known now", extra={"code": error.code().name})
        return {}
    return {
        "machine_cost_usd": dollars_of(found.cost_micros),
        "overhead_usd": dollars_of(found.overhead_micros),
        "surplus_usd": dollars_of(found.surplus_micros),
    }


async def _names(gateway: Gateway, reservations: Iterable[pb.Reservation]) -> Mapping[str, str]:
    """Users' names by id; none if billing is away, since a reservation that was made must be answered."""
    return await names_of(gateway, {user_id for one in reservations for user_id in user_ids_of(one)})


async def _hidden(visible: VisibleJobs, reservation: pb.Reservation) -> pb.Reservation:
    reservation.message = await visible.shown(reservation.message)
    for act in reservation.acts:
        if act.HasField("ending"):
            act.ending.reason = await visible.shown(act.ending.reason)
    return reservation


async def _frames(gateway: Gateway, visible: VisibleJobs, request: pb.WatchReservationRequest) -> AsyncGenerator[bytes]:
    call = gateway.upstreams.reservations.WatchReservation(request)
    async with aclosing(gateway.calls.answers(call)) as answers:
        async for answer in answers:
            frame = frame_of(answer.event)
            if frame is None:
                continue
            if "message" in frame.fields:
                frame.fields["message"] = await visible.shown(frame.fields["message"])
            if user_id := user_id_of(answer.event):
                frame.fields["by"] = (await names_of(gateway, [user_id])).get(user_id, user_id)
            yield encode(answer.event.seq, frame)
