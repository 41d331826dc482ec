"""`python -m services.billing`: runs the billing service."""

from __future__ import annotations

from servicekit.rpc.server import run
from services.billing.config import BillingSettings
from services.billing.server import main

if __name__ == "__main__":
    run(main, BillingSettings)
