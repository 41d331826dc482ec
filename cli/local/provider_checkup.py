"""What `wavepool doctor` learns of the pool's machines and of where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cli.local.checkup import Finding, Health
from wavepool_client.errors import AuthenticationError, NotFoundError, WavepoolError

if TYPE_CHECKING:
    from wavepool_client.http.transport import Transport

NAME = "providers"
SANDBOXES = "sandboxes"


def providers(transport: Transport) -> list[Finding]:
    """What each provider of the running pool found when it looked; a gateway without this question has no answer."""
    try:
        answer = transport.call("GET", "/api/v1/providers/diagnosis")
    except NotFoundError:
        return []
    except AuthenticationError:
        remedy = "give an administrator's with --token or WAVEPOOL_TOKEN"
        return [Finding(NAME, Health.NOTE, "only an administrator's token may look at them", remedy)]
    except WavepoolError as error:
        return [Finding(NAME, Health.FAULT, str(error).splitlines()[0], "read vmpool's log in .wavepool/logs")]
    return [_finding(found) for found in cast("list[dict[str, Any]]", answer.get("findings") or [])]


def _finding(found: dict[str, Any]) -> Finding:
    health = Health.OK if found.get("ok") else Health.FAULT
    detail = f"{found.get('check')}: {found.get('message')}"
    return Finding(str(found.get("provider")), health, detail, str(found.get("remedy") or ""))


def sandboxes(transport: Transport) -> list[Finding]:
    """What the sandbox of each machine that is there does not hold back; a machine that says nothing of it is not told.

    A rented one is at fault: other people pay for it. That this host has a weaker one is said by the trial kernel.
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
