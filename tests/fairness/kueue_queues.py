"""Short ways to write down queues and workloads of GPUs, for examples."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from services.scheduler.fairness.kueue.queue_spec import FlavorResource, QueueSpec, Quota
from services.scheduler.fairness.kueue.snapshot import Admitted, Workload

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def gpus(flavor: str = "mi300x") -> FlavorResource:
    return FlavorResource(flavor, "gpu")


def a_queue(
    name: str, cohort: str | None = None, *, settings: dict[str, Any] | None = None, **nominal: int
) -> QueueSpec:
    """A queue with a quota of GPUs for each flavor that is named."""
    return QueueSpec(name, cohort, {gpus(flavor): Quota(count) for flavor, count in nominal.items()}, **settings or {})


def a_workload(
    name: str, queue: str, count: int, *, priority: int = 0, age: int = 0, local_queue: str = ""
) -> Workload:
    return Workload(name, queue, priority, {"gpu": count}, NOW - timedelta(seconds=age), local_queue)


def running(workload: Workload, flavor: str = "mi300x", *, is_evicting: bool = False) -> Admitted:
    return Admitted(workload, {gpus(flavor): workload.request["gpu"]}, NOW, is_evicting)
