"""Shell completion: ids and names from a running gateway."""

from __future__ import annotations

from wavepool_client.client import Client
from wavepool_client.errors import WavepoolError
from wavepool_client.pool_client import PoolClient
from wavepool_client.text.machines import gpu_text


def complete_machine(incomplete: str) -> list[tuple[str, str]]:
    """The ids of machines, each with a description; empty if no gateway answers."""
    try:
        with PoolClient() as pool:
            found = pool.machines()
    except WavepoolError:
        return []
    return [
        (str(m["id"]), f"{m.get('state')} {gpu_text(m)}") for m in found if str(m.get("id", "")).startswith(incomplete)
    ]


def complete_problem(incomplete: str) -> list[tuple[str, str]]:
    """Slugs of the catalogue, with titles; empty if no gateway answers."""
    try:
        with Client() as client:
            found = client.problems()
    except WavepoolError:
        return []
    return [(str(p["slug"]), str(p.get("title"))) for p in found if str(p.get("slug", "")).startswith(incomplete)]


def complete_submission(incomplete: str) -> list[tuple[str, str]]:
    """The ids of the newest submissions, each with a description; empty if no gateway answers."""
    try:
        with Client() as client:
            found = client.submissions()
    except WavepoolError:
        return []
    return [
        (str(job["id"]), f"{job.get('problem')} {job.get('mode')}, {job.get('status') or job.get('state')}")
        for job in found
        if str(job.get("id", "")).startswith(incomplete)
    ]


def complete_gpu_type(incomplete: str) -> list[str]:
    """GPU types that can be asked for; empty if no gateway answers."""
    try:
        with Client() as client:
            known = [str(listed["gpu_type"]) for listed in client.gpu_types()]
    except WavepoolError:
        return []
    return sorted(name for name in known if name.casefold().startswith(incomplete.casefold()))
