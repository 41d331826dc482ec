"""The services that an attempt at a job needs."""

from __future__ import annotations

from typing import NamedTuple

from services.scheduler.peers.billing import Billing
from services.scheduler.peers.executors import Executors
from services.scheduler.peers.pool import Pool


class Peers(NamedTuple):
    """vmpool, the executors of its machines, and billing."""

    pool: Pool
    executors: Executors
    billing: Billing
