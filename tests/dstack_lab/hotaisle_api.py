"""Hot Aisle's HTTP interface, virtual machines only, as far as dstack's hotaisle backend calls it.

The shapes come from dstack's `core/backends/hotaisle/api_client.py`, and the offers from gpuhunt's hotaisle provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.dstack_lab.datacenter import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tests.dstack_lab.datacenter import Datacenter, Size

TEAM = "wavepool"
GIB = 1024**3


class HotAisleApi:
    """Serves the user, keys and virtual machines of one team."""

    def __init__(self, datacenter: Datacenter) -> None:
        self._datacenter = datacenter
        self._keys: list[str] = []

    def app(self) -> Starlette:
        machines = f"/api/teams/{TEAM}/virtual_machines"
        routes = [
            Route("/api/user/", self._user),
            Route("/api/user/ssh_keys/", self._add_key, methods=["POST"]),
            Route(f"{machines}/available/", self._available),
            Route(f"/api/teams/{TEAM}/bare_metal/available/", self._no_bare_metal),
            Route(f"{machines}/", self._create, methods=["POST"]),
            Route(machines + "/{name}/state/", self._state),
            Route(machines + "/{name}/", self._delete, methods=["DELETE"]),
        ]
        return Starlette(routes=routes, exception_handlers={RefusedError: _refused})

    async def _user(self, _: Request) -> Response:
        return JSONResponse({"teams": [{"handle": TEAM}]})

    async def _add_key(self, request: Request) -> Response:
        key = (await request.json())["authorized_key"]
        if key in self._keys:
            return Response("the key exists", status_code=409)
        self._keys.append(key)
        return JSONResponse({}, status_code=201)

    async def _available(self, _: Request) -> Response:
        return JSONResponse([_offer(each) for each in self._datacenter.sizes["hotaisle"]] or None)

    async def _no_bare_metal(self, _: Request) -> Response:
        return JSONResponse(None)

    async def _create(self, request: Request) -> Response:
        specs = await request.json()
        fitting = [each.slug for each in self._datacenter.sizes["hotaisle"] if _specs(each) == specs]
        made = await self._datacenter.create("hotaisle", fitting[0] if fitting else "", self._keys)
        return JSONResponse({"name": made.id, "ip_address": made.machine.address})

    async def _state(self, request: Request) -> Response:
        found = await self._datacenter.get(request.path_params["name"])
        return JSONResponse({"state": "running" if found.status == "active" else "starting"})

    async def _delete(self, request: Request) -> Response:
        await self._datacenter.delete(request.path_params["name"])
        return Response(status_code=204)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return Response(error.message, status_code=error.status)


def _offer(size: Size) -> dict[str, Any]:
    return {"OnDemandPrice": round(size.price_per_hour * 100), "Specs": _specs(size)}


def _specs(size: Size) -> dict[str, Any]:
    return {
        "cpu_cores": size.cpus,
        "ram_capacity": size.memory_gib * GIB,
        "disk_capacity": size.disk_gib * GIB,
        "gpus": [{"count": size.gpu_count, "manufacturer": "AMD", "model": size.gpu}],
    }
