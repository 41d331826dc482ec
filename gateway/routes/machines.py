"""`/api/v1/machines`: the pool. Everybody may look; operators order machines, read their logs and end them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response
from wavepool.vmpool.v1.vmpool_pb2 import (
    DrainMachineRequest,
    GetMachineLogsRequest,
    GetMachineRequest,
    ListMachinesRequest,
    StopMachineRequest,
)

from gateway.dependencies import STREAM_PLACE, TheGateway, TheOperator, TheStillAllowed, TheVisibleJobs
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import LOG, MACHINE_STREAM, NO_MORE_EVENTS, problems
from gateway.http.sse import EventStream, resume_point
from gateway.machines import desk as machine_desk
from gateway.machines.schemas import Machine, MachineList, MachineOrder, OrderedMachine
from gateway.machines.views import machine_of, machine_path
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.shown import shown

router = APIRouter(prefix="/machines", tags=["machines"], route_class=JsonRoute)

MachineId = Annotated[str, Path(max_length=100)]
Reason = Annotated[str, Query(max_length=200, description="For people.")]
Force = Annotated[bool, Query(description="Even if there are reservations on it.")]


@router.get("")
async def list_machines(
    jobs: TheVisibleJobs,
    gateway: TheGateway,
    include_ended: Annotated[bool, Query(description="Include machines that have ended.")] = False,  # noqa: FBT002 - a query parameter
) -> MachineList:
    """List the machines of the pool, with the cost of each so far."""
    request = ListMachinesRequest(include_ended=include_ended)
    answer = await gateway.upstreams.vmpool.ListMachines(request, timeout=CALL_TIMEOUT_SECONDS)
    machines = [machine_of(await jobs.hide_others(machine)) for machine in answer.machines]
    return shown(MachineList, answer, machines=machines)


@router.post("", status_code=202, responses=problems(403, 409, 429))
async def request_machine(
    body: MachineOrder,
    response: Response,
    _: TheOperator,
    gateway: TheGateway,
    idempotency_key: Annotated[
        str, Header(max_length=100, description="A repeated key with the same content gives the first machine.")
    ] = "",
) -> OrderedMachine:
    """Order a machine that no submission waits for. Follow it at the `events_url` of the answer."""
    answer = await machine_desk.order(gateway.upstreams.vmpool, body, idempotency_key)
    path = machine_path(answer.machine.machine_id)
    response.headers["Location"] = path
    return OrderedMachine(machine=machine_of(answer.machine), started=answer.started, events_url=f"{path}/events")


@router.get("/{machine_id}", responses=problems(404))
async def get_machine(machine_id: MachineId, jobs: TheVisibleJobs, gateway: TheGateway) -> Machine:
    """Get one machine, with its cost so far."""
    request = GetMachineRequest(machine_id=machine_id)
    answer = await gateway.upstreams.vmpool.GetMachine(request, timeout=CALL_TIMEOUT_SECONDS)
    return machine_of(await jobs.hide_others(answer.machine))


@router.get(
    "/{machine_id}/events",
    response_class=Response,
    dependencies=[STREAM_PLACE],
    responses={**MACHINE_STREAM, **NO_MORE_EVENTS, **problems(404)},
)
async def stream_machine_events(
    machine_id: MachineId,
    jobs: TheVisibleJobs,
    gateway: TheGateway,
    last_event_id: Annotated[str | None, Header(description="Resume after the event with this id.")] = None,
    after: Annotated[str | None, Query(description="The same, where headers cannot be set.")] = None,
) -> Response:
    """Stream a machine's events from the first one until its release by its provider."""
    after_seq = resume_point(last_event_id, after)
    request = GetMachineRequest(machine_id=machine_id)
    machine = (await gateway.upstreams.vmpool.GetMachine(request, timeout=CALL_TIMEOUT_SECONDS)).machine
    frames = machine_desk.frames(gateway.upstreams.vmpool, gateway.calls, jobs, machine_id, after_seq)
    if machine.HasField("release_time") and after_seq:
        left = [frame async for frame in frames]
        if not left:
            # On 204, a browser's EventSource stops reconnecting.
            return Response(status_code=204, media_type="text/event-stream")
        frames = machine_desk.listed(left)
    return EventStream(frames, gateway.settings.heartbeat, gateway.settings.send_timeout)


@router.post("/{machine_id}/drain", responses=problems(403, 404, 409))
async def drain_machine(
    machine_id: MachineId,
    _: TheOperator,
    gateway: TheGateway,
    reason: Reason = "",
    force: Force = False,  # noqa: FBT002 - a query parameter
) -> Machine:
    """Let a machine finish its runs and reservations, then stop it.

    A machine that already drains or has ended is not changed.
    """
    request = DrainMachineRequest(machine_id=machine_id, reason=reason, force=force)
    return machine_of((await gateway.upstreams.vmpool.DrainMachine(request, timeout=CALL_TIMEOUT_SECONDS)).machine)


@router.post("/{machine_id}/stop", responses=problems(403, 404, 409))
async def stop_machine(
    machine_id: MachineId,
    _: TheOperator,
    gateway: TheGateway,
    reason: Reason = "",
    force: Force = False,  # noqa: FBT002 - a query parameter
) -> Machine:
    """Stop a machine at once; its runs start again elsewhere. A machine that has ended is not changed."""
    request = StopMachineRequest(machine_id=machine_id, reason=reason, force=force)
    return machine_of((await gateway.upstreams.vmpool.StopMachine(request, timeout=CALL_TIMEOUT_SECONDS)).machine)


@router.get("/{machine_id}/logs", response_class=Response, responses={**LOG, **problems(403, 404)})
async def get_machine_logs(
    machine_id: MachineId,
    _: TheOperator,
    still_allowed: TheStillAllowed,
    gateway: TheGateway,
    follow: Annotated[bool, Query(description="Continue with new lines until the machine has ended.")] = False,  # noqa: FBT002 - a query parameter
    tail: Annotated[int, Query(ge=0, le=10_000, description="Only this many of the last lines; 0: all.")] = 0,
) -> Response:
    """Get the output of a machine's executor, as text."""
    request = GetMachineLogsRequest(machine_id=machine_id, follow=follow, tail_lines=tail)
    return await machine_desk.log_text(gateway.upstreams.vmpool, gateway.calls, request, still_allowed)
