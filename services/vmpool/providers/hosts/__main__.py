"""`python -m services.vmpool.providers.hosts`."""

from __future__ import annotations

import os

# Keepers are started by fork and exec. grpc's fork handlers are useless there, and would complain each time.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from servicekit.rpc.server import run
from services.vmpool.providers.hosts.host import check_settings, main

if __name__ == "__main__":
    run(main, check_settings)
