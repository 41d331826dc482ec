"""Shell completion: ids and names from a running gateway; nothing if none answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from wavepool_client.errors import WavepoolError
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.profiles import load_profiles
from wavepool_client.reservation_client import ALIVE
from wavepool_client.text.identity import owner_text, works
from wavepool_client.text.machines import gpu_text
from wavepool_client.text.reservations import gpus_text
from wavepool_client.text.submission_rows import submission_text

# typer reads this annotation at run time.
Words = list[tuple[str, str]]
SCOPES = ("read", "submit", "manage", "operate", "admin")


def _listed(
    path: str,
    described: Callable[[dict[str, Any]], str | None],
    *fields: str,
    **query: Any,  # noqa: ANN401 - as the gateway takes it
) -> Callable[[str], Words]:
    """Completes the `fields` of what `GET path` lists, each `described`; without a description it is left out."""

    def complete(incomplete: str) -> Words:
        try:
            with GatewayClient() as gateway:
                listed: list[dict[str, Any]] = gateway.ask("GET", path, **query)[path]
        except WavepoolError:
            return []
        words = [(str(one.get(field) or ""), described(one)) for one in listed for field in fields]
        return [(word, text) for word, text in words if word and text is not None and word.startswith(incomplete)]

    return complete


def _token_text(token: dict[str, Any]) -> str | None:
    return str(token.get("name")) if works(token, datetime.now(UTC)) else None


complete_machine = _listed("machines", lambda one: f"{one.get('state')} {gpu_text(one)}", "id")
complete_problem = _listed("problems", lambda one: str(one.get("title")), "slug")
complete_submission = _listed("submissions", submission_text, "id", page_size=20)
complete_reservation = _listed(
    "reservations", lambda one: f"{one.get('state')}, {gpus_text(one)}", "id", "name", page_size=200, state=ALIVE
)
complete_disk = _listed("disks", lambda one: str(one.get("state")), "name")
complete_queue = _listed("queues", lambda one: f"{one.get('running')} running, {one.get('waiting')} waiting", "name")
complete_account = _listed("accounts", owner_text, "name")
complete_user = _listed("users", lambda one: str(one.get("role")), "name")
complete_team = _listed("teams", lambda one: str(one.get("id")), "name")
complete_token = _listed("tokens", _token_text, "id")


def complete_cancellable(incomplete: str) -> Words:
    """The submissions and reservations that `wavepool cancel` ends."""
    return [*complete_submission(incomplete), *complete_reservation(incomplete)]


def complete_gpu_type(incomplete: str) -> list[str]:
    """GPU types that can be asked for, in any case."""
    try:
        with GatewayClient() as gateway:
            known = [str(listed["gpu_type"]) for listed in gateway.ask("GET", "gpu-types")["gpu_types"]]
    except WavepoolError:
        return []
    return sorted(name for name in known if name.casefold().startswith(incomplete.casefold()))


def complete_scope(incomplete: str) -> list[str]:
    """The names of scopes."""
    return [scope for scope in SCOPES if scope.startswith(incomplete)]


def complete_switch(incomplete: str) -> list[str]:
    """The words that turn something on and off."""
    return [word for word in ("enable", "disable") if word.startswith(incomplete)]


def complete_profile(incomplete: str) -> Words:
    """The names of profiles, with their gateways."""
    try:
        found = load_profiles().by_name
    except WavepoolError:
        return []
    return [(name, profile.url) for name, profile in sorted(found.items()) if name.startswith(incomplete)]
