"""`python -m services.vmpool`."""

from __future__ import annotations

import gc
import os

# Keepers are started by fork and exec. grpc's fork handlers are useless there, and would complain each time.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

from servicekit.db.database import migrate_only
from servicekit.rpc.server import run
from services.vmpool.config import VmPoolSettings
from services.vmpool.server import check_settings, main

if __name__ == "__main__":
    run(main, check_settings, lambda: migrate_only(VmPoolSettings(), "vmpool"))
