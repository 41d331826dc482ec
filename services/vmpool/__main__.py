"""`python -m services.vmpool`."""

from __future__ import annotations

import gc
import os

# Keepers are started by fork and exec. grpc's fork handlers are useless there, and would complain each time.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

from servicekit.db.backup import Keeping
from servicekit.rpc.server import run
from services.vmpool.config import VmPoolSettings
from services.vmpool.server import check_settings, end_leases, main

if __name__ == "__main__":
    run(main, check_settings, Keeping("vmpool", VmPoolSettings, restored=end_leases).do)
