"""`python -m services.vmpool`."""

from __future__ import annotations

from servicekit.server import run
from services.vmpool.server import main

if __name__ == "__main__":
    run(main)
