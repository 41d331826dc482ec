"""Billing as a process: without it the pool starts no machine that costs money."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.service_token import TOKEN_SETTING
from vocabulary.ports import free_port

DEADLINE_SECONDS = 30


@contextmanager
def billing_process(folder: Path) -> Generator[str]:
    """Yields billing's target; it may still be starting."""
    port = free_port()
    settings = {
        "BILLING_DATA_DIR": str(folder),
        "BILLING_PORT": str(port),
        "BILLING_METRICS_PORT": "0",
        "BILLING_MACHINE_BUDGET": "1000000",
        **TOKEN_SETTING,
    }
    with (folder / "billing.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.billing"], env={**os.environ, **settings}, stdout=log, stderr=log
        )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)
