"""Adds AMD Developer Cloud's backend to the dstack project, if the settings have its key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.refusal import RefusedError

AMD = "amddevcloud"
_FORBIDDEN = 403


async def present_backends(client: DstackClient, config: DstackConfig) -> set[str]:
    """The names of the project's backends."""
    project = cast("Mapping[str, Any]", await client.ask(f"/api/projects/{config.server.project}/get"))
    return {str(backend["name"]) for backend in cast("list[Mapping[str, Any]]", project.get("backends") or [])}


async def ensure_amddevcloud(client: DstackClient, config: DstackConfig) -> bool:
    """Create the backend if it is wanted and missing and we have its key; True if it was created.

    An existing backend stays as it is, whatever its key. Raises ProviderError with the remedy if the server refuses.
    """
    key = config.server.amddevcloud_key
    if not key or AMD not in config.market.backends or AMD in await present_backends(client, config):
        return False
    body = json.dumps({"type": AMD, "creds": {"type": "api_key", "api_key": key}})
    try:
        await client.ask_project("backends/create", body)
    except RefusedError as error:
        # Another vmpool of the project may have made it meanwhile.
        if AMD in await present_backends(client, config):
            return False
        # Without the cause, because the server's words may repeat our request.
        raise ProviderError(_refused(error, config.server.project), Fault.MISCONFIGURED) from None
    return True


def _refused(error: RefusedError, project: str) -> str:
    message = f"dstack's project {project!r} has no backend {AMD}, and it could not be added"
    if error.code == "invalid_credentials":
        return (
            f"{message}: the cloud does not take the key in DSTACK_AMDDEVCLOUD_API_KEY; make one at API -> Generate "
            "New Token (docs/pool/setup-amd-devcloud.md has its scopes)"
        )
    if error.status == _FORBIDDEN:
        return (
            f"{message}: the user of VMPOOL_DSTACK_TOKEN may not; use the token of one of its administrators, or add "
            f"`- type: {AMD}` with `creds: {{type: api_key, api_key: ...}}` below `backends:` of the project in the "
            "server's ~/.dstack/server/config.yml, and restart the server"
        )
    return f"{message}: the server refuses with {error.status} {error.code}".rstrip()
