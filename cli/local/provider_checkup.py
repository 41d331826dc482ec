"""What `wavepool doctor` learns of where the pool's machines come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cli.errors import AuthenticationError, NotFoundError, WavepoolError
from cli.local.checkup import Finding, Health

if TYPE_CHECKING:
    from cli.transport import Transport

NAME = "providers"


def providers(transport: Transport) -> list[Finding]:
    """What each provider of the running pool found when it looked; a gateway without this question has no answer."""
    try:
        told = transport.call("GET", "/api/v1/providers/diagnosis")
    except NotFoundError:
        return []
    except AuthenticationError:
        remedy = "give an administrator's with --token or WAVEPOOL_TOKEN"
        return [Finding(NAME, Health.NOTE, "only an administrator's token may look at them", remedy)]
    except WavepoolError as error:
        return [Finding(NAME, Health.FAULT, str(error).splitlines()[0], "read vmpool's log in .wavepool/logs")]
    return [_finding(found) for found in cast("list[dict[str, Any]]", told.get("findings") or [])]


def _finding(found: dict[str, Any]) -> Finding:
    health = Health.OK if found.get("ok") else Health.FAULT
    detail = f"{found.get('check')}: {found.get('message')}"
    return Finding(str(found.get("provider")), health, detail, str(found.get("remedy") or ""))
