"""Answers of dstack's server, in its own JSON, and settings for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack import config
from services.vmpool.providers.dstack.runs.name import run_name, tags_of
from services.vmpool.providers.provider import Order

ORDER = Order("mach_01J9Z3", "MI300X", 1, "secret")

MARKET = config.Market(
    backends=("amddevcloud", "hotaisle"),
    regions=(),
    gpu_types=("MI300X", "MI210"),
    gpu_counts=(1,),
    spot_policy=SpotPolicy.ON_DEMAND,
    max_price_micros_per_gpu_hour=0,
    minimum_billed={"hotaisle": timedelta(hours=2)},
    billing_increment={"hotaisle": timedelta(minutes=1)},
)

CONFIG = config.DstackConfig(
    pool_name="wavepool",
    data_dir=Path("/nowhere"),
    server=config.Server("http://127.0.0.1:1", "main", "token", timedelta(seconds=15)),
    agent=config.Agent(
        "wavepool", ("exec python -m services.executor",), "root", {}, True, 50051, timedelta(minutes=15)
    ),
    market=MARKET,
    fleet=config.Fleet("wavepool", 8, True, timedelta(seconds=300)),
    timeouts=config.Timeouts(
        poll_interval=timedelta(seconds=2),
        start_timeout=timedelta(minutes=20),
        stop_grace=timedelta(seconds=15),
        release_timeout=timedelta(minutes=3),
    ),
    max_duration=timedelta(hours=12),
    ends_with_pool=True,
)


def market(**changes: Any) -> config.Market:
    return replace(MARKET, **changes)


def a_job(status: str, **changes: Any) -> dict[str, Any]:
    provisioned = {
        "backend": "hotaisle",
        "region": "us-michigan-1",
        "price": 2.1,
        "hostname": "10.0.0.7",
        "ssh_port": 22,
        "username": "hotaisle",
    }
    return {"id": "job-1", "status": status, "job_provisioning_data": provisioned} | changes


def a_run(status: str, job: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    configuration = {"tags": tags_of("wavepool", ORDER), "env": {"EXECUTOR_TOKEN": ORDER.token}}
    return {
        "id": "run-1",
        "status": status,
        "run_spec": {"run_name": run_name("wavepool", ORDER.machine_id), "configuration": configuration},
        "latest_job_submission": job,
    } | changes


def an_offer(**changes: Any) -> dict[str, Any]:
    gpu, gpus, spot = (
        changes.pop(name, default) for name, default in (("gpu", "MI300X"), ("gpus", 1), ("spot", False))
    )
    resources = {"gpus": [{"name": gpu, "memory_mib": 196608}] * gpus, "spot": spot}
    return {
        "backend": "amddevcloud",
        "region": "atl1",
        "price": 1.99,
        "availability": "available",
        "instance": {"name": "gpu-mi300x1-192gb", "resources": resources},
    } | changes


def a_plan(*offers: dict[str, Any]) -> dict[str, Any]:
    return {"job_plans": [{"offers": list(offers)}]}
