"""Shell completion: ids and names from a running gateway."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wavepool_client.client import Client
from wavepool_client.disk_client import DiskClient
from wavepool_client.errors import WavepoolError
from wavepool_client.identity_client import IdentityClient
from wavepool_client.pool_client import PoolClient
from wavepool_client.profiles import load_profiles
from wavepool_client.queue_client import QueueClient
from wavepool_client.reservation_client import ALIVE, ReservationClient
from wavepool_client.text.identity import owner_text, works
from wavepool_client.text.machines import gpu_text
from wavepool_client.text.reservations import gpus_text

if TYPE_CHECKING:
    from collections.abc import Callable

SCOPES = ("read", "submit", "manage", "operate", "admin")


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


def complete_reservation(incomplete: str) -> list[tuple[str, str]]:
    """Ids and names of reservations that are not over, each with a description; empty if no gateway answers."""
    try:
        with ReservationClient() as client:
            found = client.reservations(ALIVE)
    except WavepoolError:
        return []
    words = [
        (str(one.get(field)), f"{one.get('state')}, {gpus_text(one)}") for one in found for field in ("id", "name")
    ]
    return [(word, description) for word, description in words if word.startswith(incomplete)]


def complete_cancellable(incomplete: str) -> list[tuple[str, str]]:
    """What `wavepool cancel` ends; empty if no gateway answers."""
    return [*complete_submission(incomplete), *complete_reservation(incomplete)]


def complete_disk(incomplete: str) -> list[tuple[str, str]]:
    """Names of your disks, with their states; empty if no gateway answers."""
    try:
        with DiskClient() as disks:
            found = disks.disks()
    except WavepoolError:
        return []
    return [(str(one["name"]), str(one.get("state"))) for one in found if str(one["name"]).startswith(incomplete)]


def complete_gpu_type(incomplete: str) -> list[str]:
    """GPU types that can be asked for; empty if no gateway answers."""
    try:
        with Client() as client:
            known = [str(listed["gpu_type"]) for listed in client.gpu_types()]
    except WavepoolError:
        return []
    return sorted(name for name in known if name.casefold().startswith(incomplete.casefold()))


def complete_queue(incomplete: str) -> list[str]:
    """Names of queues; empty if no gateway answers."""
    try:
        with QueueClient() as client:
            known = [str(queue["name"]) for queue in client.queues()["queues"]]
    except WavepoolError:
        return []
    return sorted(name for name in known if name.startswith(incomplete))


def complete_account(incomplete: str) -> list[tuple[str, str]]:
    """Names of accounts, with their owners; empty if no gateway answers."""
    return _names(lambda identity: identity.accounts(), owner_text, incomplete)


def complete_user(incomplete: str) -> list[tuple[str, str]]:
    """Names of users, with their roles; empty if no gateway answers."""
    return _names(lambda identity: identity.users(), lambda user: str(user.get("role")), incomplete)


def complete_team(incomplete: str) -> list[tuple[str, str]]:
    """Names of teams; empty if no gateway answers."""
    return _names(lambda identity: identity.teams(), lambda team: str(team.get("id")), incomplete)


def complete_token(incomplete: str) -> list[tuple[str, str]]:
    """The ids of your tokens that work, with their names; empty if no gateway answers."""
    now = datetime.now(UTC)
    try:
        with IdentityClient() as identity:
            found = [token for token in identity.tokens() if works(token, now)]
    except WavepoolError:
        return []
    return [(str(one["id"]), str(one.get("name"))) for one in found if str(one["id"]).startswith(incomplete)]


def complete_scope(incomplete: str) -> list[str]:
    """The names of scopes."""
    return [scope for scope in SCOPES if scope.startswith(incomplete)]


def complete_switch(incomplete: str) -> list[str]:
    """What turns something on and off."""
    return [word for word in ("enable", "disable") if word.startswith(incomplete)]


def complete_profile(incomplete: str) -> list[tuple[str, str]]:
    """The names of profiles, with their gateways."""
    try:
        found = load_profiles().by_name
    except WavepoolError:
        return []
    return [(name, profile.url) for name, profile in sorted(found.items()) if name.startswith(incomplete)]


def _names(
    listed: Callable[[IdentityClient], list[dict[str, Any]]],
    description: Callable[[dict[str, Any]], str],
    incomplete: str,
) -> list[tuple[str, str]]:
    try:
        with IdentityClient() as identity:
            found = listed(identity)
    except WavepoolError:
        return []
    return [(str(one["name"]), description(one)) for one in found if str(one.get("name", "")).startswith(incomplete)]
