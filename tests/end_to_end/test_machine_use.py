"""Deadlines, and which machine a submission gets, through every process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, reference, start, until

CODE = reference("leaky-relu")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool without a machine, which may have two."""
    running = start(tmp_path_factory.mktemp("empty"), VMPOOL_MAX_MACHINES="2")
    yield running
    running.stop()


def machines(wavepool: Wavepool) -> dict[str, dict[str, Any]]:
    found = wavepool.http.get("/api/v1/machines", params={"include_ended": True}).json()["machines"]
    return {machine["id"]: machine for machine in found}


def in_seconds(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def test_each_submission_gets_the_machine_that_it_asks_for_and_none_is_started_in_vain(empty: Wavepool) -> None:
    waits = empty.submit(CODE, "check", machine={"reuse": "reuse"}, deadline=in_seconds(3600))
    why = empty.http.get(f"/api/v1/submissions/{waits}/why").json()
    assert ("it asks for none (`reuse`)" in why["reason"], why["deadline"] is None) == (True, False)
    assert empty.http.post(f"/api/v1/submissions/{waits}/cancel").is_success
    assert empty.ended(waits)["state"] == "CANCELLED"

    # A busy machine may need seconds to take it.
    late = empty.submit(CODE, "check", machine={"reuse": "reuse"}, deadline=in_seconds(10), time_limit_seconds=3)
    end = empty.story(late)[-1]
    assert (end.data["reason"], end.data["cost_usd"]) == ("deadline", 0)
    assert (empty.job(late)["state"], empty.balance()["held_usd"]) == ("CANCELLED", 0)
    assert machines(empty) == {}

    old = empty.ended(empty.submit(CODE, "check"))["machine_id"]
    new = empty.submit(CODE, "check", machine={"reuse": "create", "idle_seconds": 0})
    its = empty.ended(new)["machine_id"]
    assert (empty.job(new)["verdict"], its != old) == ("ACCEPTED", True)
    until(lambda: machines(empty)[its]["state"] == "STOPPED", "the end of a machine that is not kept idle")
    assert (machines(empty)[its]["jobs_run"], machines(empty)[old]["state"]) == (1, "WARM")
    again = empty.ended(empty.submit(CODE, "check", machine={"reuse": "reuse"}))
    assert (again["verdict"], again["machine_id"]) == ("ACCEPTED", old)
    assert len(machines(empty)) == 2
