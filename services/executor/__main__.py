"""`python -m services.executor`."""

from __future__ import annotations

from servicekit.server import run
from services.executor.server import main

if __name__ == "__main__":
    run(main)
