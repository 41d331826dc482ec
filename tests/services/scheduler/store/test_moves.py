from __future__ import annotations

from datetime import timedelta
from typing import Any

from servicekit.db.database import Database
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_states import RESERVATION_MOVES, ReservationState
from services.scheduler.jobs.states import LEGAL_MOVES, OVER_STATES, JobState
from services.scheduler.store.rows import job_to_row
from services.scheduler.store.tables import jobs
from tests.servicekit.db.allowed_moves import allowed_moves
from tests.services.scheduler.jobs import START, a_job


def of_job(state: str) -> dict[str, Any]:
    is_running = state == JobState.RUNNING
    return {
        "state": state,
        "lease_id": "lease-1" if is_running else None,
        "start_time": START if is_running else None,
        "end_time": START if JobState(state) in OVER_STATES else None,
    }


async def test_the_database_lets_jobs_make_the_legal_moves_and_no_others(database: Database) -> None:
    row = job_to_row(a_job(hold_id="hold-1"))
    assert await allowed_moves(database, jobs, list(JobState), of_job, row) == LEGAL_MOVES


async def test_the_database_lets_reservations_make_the_legal_moves_and_no_others(database: Database) -> None:
    row = job_to_row(a_job(hold_id="hold-1", reservation=Reservation("train", (), timedelta(hours=1))))
    found = await allowed_moves(database, jobs, list(ReservationState), lambda one: {"reservation_state": one}, row)
    assert found == RESERVATION_MOVES
