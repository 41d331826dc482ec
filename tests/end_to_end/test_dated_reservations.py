"""A reservation that starts later on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.test_reservations import RESERVATIONS, Person, ended
from tests.end_to_end.wavepool_processes import Wavepool, start, until
from vocabulary.money import MICROS_PER_DOLLAR, price_of

pytestmark = [pytest.mark.ssh, pytest.mark.sshd, pytest.mark.bubblewrap]

PRICE = 1_990_000
AHEAD_SECONDS, LASTS_SECONDS = 30, 60
HOURS = str(LASTS_SECONDS / 3600)


def shown(wavepool: Wavepool, reservation_id: str) -> dict[str, Any]:
    answer = wavepool.http.get(f"{RESERVATIONS}/{reservation_id}")
    return answer.json() if answer.is_success else {}


def made_by(person: Person, *words: str) -> str:
    """The id of what a command makes; empty while nobody leads."""
    done = person.run(*words)
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def check_overlap_is_refused(person: Person, made: dict[str, Any], start_time: datetime) -> None:
    """Asks for the same GPU a second later."""
    overlap = f"{start_time + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"
    refused = person.run("reserve", "-h", HOURS, "--start", overlap)
    said = refused.stderr.decode()
    assert refused.returncode
    assert "start_time" in said
    assert f"{made['id']} (lecture)" in said
    nearest = start_time + timedelta(seconds=LASTS_SECONDS)
    assert f"The nearest start that works is {nearest:%Y-%m-%d %H:%M:%S} UTC" in said


@pytest.mark.timeout(300)
def test_one_that_starts_later_has_its_gpu_on_time_whoever_else_wants_it_and_whoever_dies(tmp_path: Path) -> None:
    # No machine is there at first, and the pool may start one, with one GPU.
    wavepool = start(tmp_path / "data", SCHEDULER_LEAST_RESERVATION="1", SCHEDULER_DATED_LEAD="10")
    try:
        person = Person(wavepool, tmp_path / "home")
        made = person.json("reserve", "-h", HOURS, "-n", "lecture", "--start", f"+{AHEAD_SECONDS}s")
        start_time = datetime.fromisoformat(made["start_time"])
        assert (made["state"], made["hold_usd"] > 0) == ("pending", True)
        check_overlap_is_refused(person, made, start_time)

        wavepool.kill("scheduler")
        # It would end too late, and waits until the other one is over.
        long = until(lambda: made_by(person, "reserve", "-h", "0.1", "--no-wait"), "a reservation", 60)
        entries = person.json("reservations", "calendar")
        # Its GPU is asked for from 10 s before its start on, which a slow machine may have reached.
        ((name, state),) = [(one["name"], one["state"]) for one in entries]
        assert (name, state in {"pending", "queued"}) == ("lecture", True)

        def active() -> dict[str, Any] | None:
            found = shown(wavepool, made["id"])
            assert shown(wavepool, long).get("state") in {None, "queued"}
            return found if found.get("state") == "active" else None

        found = until(active, "its session", 90)
        assert datetime.fromisoformat(found["expires_at"]) == start_time + timedelta(seconds=LASTS_SECONDS)
        assert datetime.fromisoformat(found["active_at"]) >= start_time
        assert person.run("connect", made["id"], "--", "echo ok").stdout == b"ok\n"

        assert person.run("cancel", made["id"], "--yes").returncode == 0
        over = ended(wavepool, made["id"])
        came = datetime.fromisoformat(over["last_login_at"])
        lasted = datetime.fromisoformat(over["end_time"]) - min(came, start_time)
        assert 0 < round(over["cost_usd"] * MICROS_PER_DOLLAR) <= price_of(lasted, PRICE)
        until(lambda: shown(wavepool, long).get("state") == "active", "the one that waited", 60)
    finally:
        wavepool.stop()
