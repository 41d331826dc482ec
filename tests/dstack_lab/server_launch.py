"""Runs the real dstack server with its two AMD backends pointed at the lab. Needs the Python that has dstack's server.

It changes this and nothing else: the addresses of the backends' APIs; the SSH port of VMs (always 22 in the clouds);
the polling intervals, and how long the server waits for a silent VM and for a job that must end; it does not read
gpuhunt's catalogue on the internet. `DSTACK_LAB` holds the settings as JSON.
"""

# ruff: noqa: PLC0415 - dstack wants its process set up before anything of it is imported

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Lock time of items that a killed server was working on; dstack's own: 20 to 40 s.
LOCK_TIMEOUT = timedelta(seconds=15)
SHORTENED = ("Fleet", "JobSubmitted", "JobRunning", "JobTerminating", "Instance", "Run")


def main() -> None:
    from dstack._internal.server import bootstrap

    bootstrap.set_up_process()
    settings = json.loads(os.environ["DSTACK_LAB"])
    point_backends_at(settings["cloud_url"])
    use_ssh_port(settings["ssh_port"])
    stay_offline(settings["offers_seconds"])
    if settings["interval_seconds"] is not None:
        shorten(settings["interval_seconds"], settings["unreachable_seconds"], settings["termination_seconds"])
    import uvicorn

    uvicorn.run(
        "dstack._internal.server.main:app", host="127.0.0.1", port=settings["port"], log_level="error", workers=1
    )


def point_backends_at(url: str) -> None:
    import gpuhunt.providers.hotaisle
    from dstack._internal.core.backends.amddevcloud.configurator import AMDDevCloudConfigurator
    from dstack._internal.core.backends.hotaisle import api_client

    AMDDevCloudConfigurator.API_URL = f"{url}/amddevcloud"
    api_client.API_URL = f"{url}/hotaisle/api"
    gpuhunt.providers.hotaisle.API_URL = f"{url}/hotaisle/api"


def use_ssh_port(port: int) -> None:
    from dstack._internal.core.backends.amddevcloud.compute import AMDDevCloudCompute
    from dstack._internal.core.backends.hotaisle import compute as hotaisle

    for backend in (AMDDevCloudCompute, hotaisle.HotAisleCompute):
        _set_port_after_update(backend, port)
    start_runner = hotaisle._start_runner
    hotaisle._start_runner = lambda **arguments: start_runner(**{**arguments, "port": port})


def _set_port_after_update(backend: Any, port: int) -> None:
    update = backend.update_provisioning_data

    def update_and_set_port(self: Any, provisioning_data: Any, *args: Any, **kwargs: Any) -> None:
        update(self, provisioning_data, *args, **kwargs)
        if provisioning_data.hostname:
            provisioning_data.ssh_port = port

    backend.update_provisioning_data = update_and_set_port


def stay_offline(offers_seconds: float) -> None:
    from cachetools import TTLCache
    from dstack._internal.core.backends.base import compute
    from dstack._internal.server.background import scheduled_tasks

    async def preload_nothing() -> None:
        """Skips the catalogue, which is on the internet; these two backends ask their clouds instead."""

    scheduled_tasks.preload_offers_catalog = preload_nothing
    compute.TTLCache = lambda maxsize, ttl: TTLCache(maxsize=maxsize, ttl=min(ttl, offers_seconds))


def shorten(interval_seconds: float, unreachable_seconds: float, termination_seconds: float) -> None:
    from dstack._internal.server.background.pipeline_tasks import base, jobs_running, jobs_terminating

    _replace_arguments(base.Heartbeater, lambda _: {"lock_timeout": LOCK_TIMEOUT})
    _replace_arguments(base.Fetcher, lambda name: _pace(name, interval_seconds))
    jobs_terminating.JOB_TERMINATION_DEADLINE = timedelta(seconds=termination_seconds)
    jobs_running.JOB_DISCONNECTED_RETRY_TIMEOUT = timedelta(seconds=unreachable_seconds)


def _pace(name: str, interval_seconds: float) -> dict[str, Any]:
    if name.removesuffix("Fetcher") not in SHORTENED:
        return {}
    return {
        "min_processing_interval": timedelta(seconds=interval_seconds),
        "lock_timeout": LOCK_TIMEOUT,
        "queue_check_delay": interval_seconds / 2,
        "fetch_delays": [interval_seconds / 2, interval_seconds],
    }


def _replace_arguments(kind: Any, arguments: Callable[[str], dict[str, Any]]) -> None:
    """Makes every instance of this class get these arguments, which may depend on the name of its class."""
    make = kind.__init__

    def make_with(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **{**kwargs, **arguments(type(self).__name__)})

    kind.__init__ = make_with


if __name__ == "__main__":
    main()
