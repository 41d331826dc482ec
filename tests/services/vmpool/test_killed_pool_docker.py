"""vmpool SIGKILLed while its machine is a container on a real Docker engine, and restarted."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.providers.docker.containers import POOL_LABEL, ContainerPlan
from tests.services.vmpool.pool_process import DEADLINE_SECONDS, PoolProcess, leased, machines, seen_in
from tests.services.vmpool.providers.docker_machines import CONFIG, container_plan

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def docker_settings(plan: ContainerPlan) -> dict[str, str]:
    """Settings that make a process's containers like those of the plan."""
    return {
        "VMPOOL_PROVIDERS": "docker",
        "VMPOOL_POOL_NAME": plan.pool_name,
        "VMPOOL_LOST_AFTER": "60",
        "VMPOOL_DOCKER_HOST": CONFIG.host,
        "VMPOOL_DOCKER_IMAGE": plan.image,
        "VMPOOL_DOCKER_COMMAND": json.dumps([*plan.command]),
        "VMPOOL_DOCKER_ENVIRONMENT": json.dumps({**(plan.environment or {})}),
        "VMPOOL_DOCKER_VOLUMES": ",".join(plan.volumes),
        "VMPOOL_DOCKER_INIT": str(plan.init),
        "VMPOOL_DOCKER_STOP_GRACE": "5",
    }


def containers(plan: ContainerPlan) -> list[str]:
    """The ids of the existing containers, running or not."""
    command = ["docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={POOL_LABEL}={plan.pool_name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture
def plan() -> Iterator[ContainerPlan]:
    plan = container_plan()
    yield plan
    left = containers(plan)
    for container in left:
        subprocess.run(["docker", "rm", "--force", "--volumes", container], check=True, capture_output=True)
    assert left == []


@pytest.fixture
def pool(tmp_path: Path, plan: ContainerPlan) -> Iterator[PoolProcess]:
    pool = PoolProcess(tmp_path, docker_settings(plan))
    pool.start()
    yield pool
    pool.end(signal.SIGTERM)


async def test_a_reserved_container_outlives_a_pool_that_is_stopped_and_keeps_its_lease(
    pool: PoolProcess, plan: ContainerPlan
) -> None:
    async with pool.stub() as stub:
        lease = await leased(stub, "res_1", holder=pb.LEASE_HOLDER_RESERVATION)
    (container,) = containers(plan)
    assert pool.end(signal.SIGTERM) == 0
    assert containers(plan) == [container]
    pool.start()
    async with pool.stub() as stub:
        (machine,) = await machines(stub)
        assert (machine.machine_id, list(machine.reservation_ids)) == (lease.machine_id, ["res_1"])
        await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
    assert pool.end(signal.SIGTERM) == 0
    assert containers(plan) == []


async def test_a_pool_killed_while_its_container_is_idle_or_at_work_takes_it_on(
    pool: PoolProcess, plan: ContainerPlan
) -> None:
    async with pool.stub() as stub:
        await stub.RequestMachine(pb.RequestMachineRequest(gpu_type="MI300X"), timeout=DEADLINE_SECONDS)
        await seen_in(stub, pb.MACHINE_STATE_WARM)
    (container,) = containers(plan)
    pool.kill()
    pool.start()
    async with pool.stub() as stub:
        lease = await leased(stub)
    pool.kill()
    assert containers(plan) == [container]
    pool.start()
    async with pool.stub() as stub:
        assert await leased(stub) == lease
        (machine,) = await machines(stub)
        assert (machine.machine_id, machine.state) == (lease.machine_id, pb.MACHINE_STATE_BUSY)
        await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
        assert (await leased(stub, "next")).machine_id == lease.machine_id
    assert containers(plan) == [container]
    assert pool.end(signal.SIGTERM) == 0
    assert containers(plan) == []
