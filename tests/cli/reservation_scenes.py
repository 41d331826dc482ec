"""Reservations as a gateway reports them, for tests that script its answers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from tests.cli.conftest import Answer, Stream
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import ScriptedGateway

LOCAL_SSH = """#!/bin/sh
while :; do case $1 in -F | -o | -L) shift 2;; -T | -N) shift;; *) break;; esac; done
shift
export HOME={home} SHELL=/bin/sh
cd "$HOME"
exec setsid -w sh -c "$*"
"""
RESERVATIONS, AVAILABILITY = "/api/v1/reservations", "/api/v1/availability"
ID, OTHER_ID = "res_01KB9X2F00AAAAAAAAAAAAAAAA", "res_01KB9X2F11BBBBBBBBBBBBBBBB"
ONE = f"{RESERVATIONS}/{ID}"
HOST_KEY = "ssh-ed25519 AAAAHost"
ACTIVE: dict[str, Any] = {
    "id": ID,
    "name": "training",
    "owner": "ada",
    "owner_id": "user_ada",
    "state": "active",
    "gpu_count": 1,
    "gpu_type": "MI300X",
    "host_key": HOST_KEY,
    "login_user": "dev",
    "expires_at": "2096-11-26T22:05:00Z",
}
OTHER: dict[str, Any] = {**ACTIVE, "id": OTHER_ID, "name": "tests"}
QUEUED: dict[str, Any] = {**ACTIVE, "state": "queued", "host_key": None, "eta_p50": 90.0}
QUOTE: dict[str, Any] = {
    "gpu_type": "MI300X",
    "gpu_count": 1,
    "hours": 0.5,
    "price_per_gpu_hour": 1.99,
    "hold_usd": 0.995,
}
STORY: list[tuple[int, dict[str, Any]]] = [
    (1, {"status": "QUEUED", "message": "Waiting for a machine."}),
    (2, {"status": "STEP", "name": "sandbox", "seconds": 0.5}),
    (3, {"status": "ACTIVE", "expires_at": "2096-11-26T22:05:00Z"}),
]


def introduce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    """Somebody with one key and no agent, whom the gateway knows."""
    new_key().keep(tmp_path / "home" / ".ssh" / "id_ed25519")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    gateway.on("GET", "/api/v1/me", Answer({"user_id": "user_ada", "user_name": "ada"}))
    gateway.on("POST", f"{RESERVATIONS}/quote", Answer(QUOTE))
    gateway.on("POST", RESERVATIONS, Answer(QUEUED, 202))
    gateway.on("GET", ONE, Answer(ACTIVE))
    gateway.on("GET", f"{ONE}/events", Stream(STORY))


def session_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `ssh` that runs commands here, each as the leader of a process group; returns the home that they have."""
    home, programs = tmp_path / "session", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    (programs / "ssh").write_text(LOCAL_SSH.format(home=shlex.quote(str(home))))
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return home


def listed(gateway: ScriptedGateway, *found: dict[str, Any]) -> None:
    gateway.only("GET", RESERVATIONS, Answer({"reservations": list(found), "next_page_token": ""}))
