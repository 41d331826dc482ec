"""`python -m services.scheduler`: run the scheduler."""

from __future__ import annotations

import gc

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

from servicekit.clock import SystemClock
from servicekit.db.backup import Keeping
from servicekit.rpc.server import run
from services.scheduler.config import SchedulerSettings
from services.scheduler.runs.restored import end_jobs_in_flight
from services.scheduler.server import checked_settings, main

if __name__ == "__main__":
    keeping = Keeping("scheduler", SchedulerSettings, restored=lambda db, _: end_jobs_in_flight(db, SystemClock()))
    run(main, checked_settings, keeping.do)
