"""AMD Developer Cloud's HTTP interface (DigitalOcean's), as far as dstack's amddevcloud backend calls it.

The shapes come from dstack's `core/backends/digitalocean_base/api_client.py`, and the sizes from gpuhunt's digitalocean
provider.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.dstack_lab.datacenter import Instance, RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tests.dstack_lab.datacenter import Datacenter, Size

CLOUD_KEY = "lab-key"
"""The API key that is accepted; dstack tests a key by reading the account."""
PUBLIC_KEY = re.compile(r"ssh-[a-z0-9-]+ [A-Za-z0-9+/=]+")


class AmdDevCloudApi:
    """Serves accounts, keys, sizes and droplets."""

    def __init__(self, datacenter: Datacenter) -> None:
        self._datacenter = datacenter
        self._keys: list[dict[str, Any]] = []

    def app(self) -> Starlette:
        routes = [
            Route("/v2/account", self._account),
            Route("/v2/projects", self._projects),
            Route("/v2/account/keys", self._list_keys),
            Route("/v2/account/keys", self._create_key, methods=["POST"]),
            Route("/v2/sizes", self._sizes),
            Route("/v2/droplets", self._create, methods=["POST"]),
            Route("/v2/droplets/{id}", self._get),
            Route("/v2/droplets/{id}", self._delete, methods=["DELETE"]),
        ]
        return Starlette(routes=routes, exception_handlers={RefusedError: _refused})

    async def _account(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {CLOUD_KEY}":
            return JSONResponse({"id": "unauthorized", "message": "Unable to authenticate you"}, status_code=401)
        return JSONResponse({"account": {"status": "active"}})

    async def _projects(self, _: Request) -> Response:
        return JSONResponse({"projects": []})

    async def _list_keys(self, _: Request) -> Response:
        return JSONResponse({"ssh_keys": self._keys})

    async def _create_key(self, request: Request) -> Response:
        key = {"id": len(self._keys) + 1, **await request.json()}
        self._keys.append(key)
        return JSONResponse({"ssh_key": key}, status_code=201)

    async def _sizes(self, _: Request) -> Response:
        return JSONResponse({"sizes": [_size(each) for each in self._datacenter.sizes["amddevcloud"]]})

    async def _create(self, request: Request) -> Response:
        wanted = await request.json()
        keys = [each["public_key"] for each in self._keys if each["id"] in wanted["ssh_keys"]]
        keys += PUBLIC_KEY.findall(wanted["user_data"])
        made = await self._datacenter.create("amddevcloud", wanted["size"], keys, name=wanted["name"])
        return JSONResponse({"droplet": _droplet(made)}, status_code=202)

    async def _get(self, request: Request) -> Response:
        return JSONResponse({"droplet": _droplet(await self._datacenter.get(request.path_params["id"]))})

    async def _delete(self, request: Request) -> Response:
        await self._datacenter.delete(request.path_params["id"])
        return Response(status_code=204)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return JSONResponse({"id": "refused", "message": error.message}, status_code=error.status)


def _size(size: Size) -> dict[str, Any]:
    return {
        "slug": size.slug,
        "memory": size.memory_gib * 1024,
        "vcpus": size.cpus,
        "price_hourly": size.price_per_hour,
        "regions": ["atl1"],
        "disk_info": [{"type": "local", "size": {"amount": size.disk_gib, "unit": "gib"}}],
        "gpu_info": {
            "count": size.gpu_count,
            "model": f"amd_{size.gpu.lower()}",
            "vram": {"amount": size.gpu_memory_gib * size.gpu_count, "unit": "gib"},
        },
    }


def _droplet(instance: Instance) -> dict[str, Any]:
    address = {"type": "public", "ip_address": instance.machine.address}
    return {
        "id": int(instance.id),
        "name": instance.name,
        "status": instance.status,
        "networks": {"v4": [address] if instance.status == "active" else []},
    }
