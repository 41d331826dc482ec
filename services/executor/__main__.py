"""Starts the executor: `python -m services.executor`."""

from __future__ import annotations

import gc
import os

# Read when grpc is imported: its fork handlers are for children that go on to use grpc, and ours all exec.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")

gc.disable()  # until `run`: it would look through all that is imported again and again, a tenth of the time

from servicekit.rpc.server import run
from services.executor.server import check_settings, main

if __name__ == "__main__":
    run(main, check_settings)
