"""The checks of `wavepool doctor` on the pool's providers and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cli.local.checkup import Finding, Health
from wavepool_client.errors import AuthenticationError, NotFoundError, WavepoolError

if TYPE_CHECKING:
    from wavepool_client.http.transport import Transport

NAME = "providers"
SANDBOXES = "sandboxes"


def providers(transport: Transport) -> list[Finding]:
    """The findings of each provider of the running pool; none if the gateway does not support the question."""
    try:
        answer = transport.call("GET", "/api/v1/providers/diagnosis")
    except NotFoundError:
        return []
    except AuthenticationError:
        remedy = "give an administrator's with --token or WAVEPOOL_TOKEN"
        return [Finding(NAME, Health.NOTE, "only an administrator's token can check them", remedy)]
    except WavepoolError as error:
        return [Finding(NAME, Health.FAULT, str(error).splitlines()[0], "read vmpool's log in .wavepool/logs")]
    return [_finding(found) for found in cast("list[dict[str, Any]]", answer.get("findings") or [])]


def _finding(found: dict[str, Any]) -> Finding:
    health = Health.OK if found.get("ok") else Health.FAULT
    detail = f"{found.get('check')}: {found.get('message')}"
    return Finding(str(found.get("provider")), health, detail, str(found.get("remedy") or ""))


def sandboxes(transport: Transport) -> list[Finding]:
    """The sandbox gaps of each rented machine that is running and reports any.

    A gap of a rented machine is a fault. The trial kernel reports the gaps of this host.
    """
    try:
        answer = transport.call("GET", "/api/v1/machines")
    except (NotFoundError, AuthenticationError):
        return []
    except WavepoolError as error:
        return [Finding(SANDBOXES, Health.FAULT, str(error).splitlines()[0], "read vmpool's log in .wavepool/logs")]
    machines = cast("list[dict[str, Any]]", answer.get("machines") or [])
    return [_weakness(machine) for machine in machines if _is_rented(machine) and machine.get("sandbox_gaps")]


def _is_rented(machine: dict[str, Any]) -> bool:
    return machine.get("provider") != "local" and machine.get("end_time") is None


def _weakness(machine: dict[str, Any]) -> Finding:
    gaps = cast("list[str]", machine["sandbox_gaps"])
    detail = f"{machine.get('id')} ({machine.get('provider')}): {machine.get('sandbox')} does not hold back: "
    remedy = (
        "take EXECUTOR_SANDBOX out of VMPOOL_DSTACK_ENVIRONMENT or VMPOOL_DOCKER_ENVIRONMENT, leave "
        "VMPOOL_DSTACK_PRIVILEGED and VMPOOL_DOCKER_PRIVILEGED_BOXES true, and let the machine end"
    )
    return Finding(SANDBOXES, Health.FAULT, f"{detail}{'; '.join(gaps)}", remedy)
