"""Containers on a real Docker engine that run the tiny executor with this machine's own Python."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from services.vmpool.providers.docker.containers import ContainerPlan
from services.vmpool.providers.docker.provider import DockerConfig, DockerProvider
from tests.services.vmpool.local_machines import TINY_EXECUTOR

REPOSITORY = Path(__file__).parents[4]
SYSTEM = [Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")]
IMAGE = "wavepool-sandbox:1"
"""The image has no programs: the machine's own are mounted into it, as into a sandbox."""

CONFIG = DockerConfig(
    host=os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"),
    reach_address="127.0.0.1",
    gpu_types=("MI300X",),
    gpu_count=1,
    max_containers=2,
    price_micros_per_hour=0,
    start_timeout=timedelta(seconds=120),
    stop_grace=timedelta(seconds=5),
    request_timeout=timedelta(seconds=30),
    ends_with_pool=True,
)


def container_plan(**changes: object) -> ContainerPlan:
    """A separate pool, so that tests that run at the same time do not collide."""
    mounted = [path for path in SYSTEM if path.is_dir() and not path.is_symlink()]
    mounted += [REPOSITORY, *{Path(sys.base_prefix)} - set(SYSTEM)]
    plan = ContainerPlan(
        pool_name=f"test-{uuid4().hex[:12]}",
        image=IMAGE,
        command=TINY_EXECUTOR,
        executor_port=50063,
        publish_address="127.0.0.1",
        environment={"PYTHONPATH": ":".join(sys.path), "TINY_HOST": "0.0.0.0"},  # noqa: S104 - in the container
        # The engine puts its init into the image's /sbin, but here this machine's own /sbin is mounted over it.
        init=False,
        volumes=[f"{path}:{path}:ro" for path in mounted],
    )
    return replace(plan, **changes)  # type: ignore[arg-type]  # tests name the fields


@asynccontextmanager
async def docker_machines(plan: ContainerPlan, config: DockerConfig = CONFIG) -> AsyncGenerator[DockerProvider]:
    """A provider that has started; every machine that it still has at the end is released."""
    provider = DockerProvider(config, plan)
    await provider.start()
    try:
        yield provider
    finally:
        for machine_id in await provider.list_all():
            await provider.release(machine_id)
        await provider.close()
