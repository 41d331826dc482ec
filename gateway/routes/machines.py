"""`/api/v1/machines`: the pool."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from wavepool.vmpool.v1.vmpool_pb2 import ListMachinesRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.route_docs import problems
from gateway.schemas import MachineList
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.views import machine_of

router = APIRouter(prefix="/machines", tags=["machines"])


@router.get("", responses=problems(401, 503))
async def list_machines(
    _: TheAccount,
    gateway: TheGateway,
    include_ended: Annotated[bool, Query(description="Also machines that are over.")] = False,  # noqa: FBT002 - a query parameter
) -> MachineList:
    """The machines of the pool."""
    request = ListMachinesRequest(include_ended=include_ended)
    answer = await gateway.upstreams.vmpool.ListMachines(request, timeout=CALL_TIMEOUT_SECONDS)
    return MachineList(machines=[machine_of(machine) for machine in answer.machines])
