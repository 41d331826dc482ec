"""`python -m services.billing`: runs the billing service."""

from __future__ import annotations

import gc

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

from servicekit.db.backup import Keeping
from servicekit.rpc.server import run
from services.billing.config import BillingSettings
from services.billing.server import checked_settings, faults_of, give_back, main

if __name__ == "__main__":
    run(main, checked_settings, Keeping("billing", BillingSettings, restored=give_back, faults=faults_of).do)
