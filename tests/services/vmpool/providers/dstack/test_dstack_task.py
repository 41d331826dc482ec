"""The task sent to dstack, read as its server reads it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from dstack._internal.core.models.resources import GPUSpec
from dstack._internal.core.models.runs import RunSpec
from dstack._internal.server.schemas.fleets import ApplyFleetPlanRequest
from dstack._internal.server.schemas.runs import ApplyRunPlanRequest, GetRunPlanRequest

from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.fleet import create_request
from services.vmpool.providers.dstack.runs.task import plan_request, submit_request
from services.vmpool.providers.provider import Order
from tests.services.vmpool.providers.dstack.dstack_words import CONFIG, ORDER, market


def submitted(order: Order = ORDER, config: DstackConfig = CONFIG) -> RunSpec:
    return ApplyRunPlanRequest.model_validate_json(submit_request(config, order, "ssh-ed25519 AAAA")).plan.run_spec


def test_a_machine_is_a_task_with_name_key_token_and_a_longest_life() -> None:
    spec = submitted()
    task = spec.configuration
    assert (spec.run_name, spec.ssh_key_pub) == ("wavepool-01j9z3", "ssh-ed25519 AAAA")
    assert (task.image, task.user, task.commands) == ("wavepool", "root", ["exec python -m services.executor"])
    assert task.privileged
    assert dict(task.env.items()) == {
        "EXECUTOR_HOST": "127.0.0.1",
        "EXECUTOR_PORT": "50051",
        "EXECUTOR_GPU_COUNT": "1",
        "EXECUTOR_TOKEN": "secret",
        "EXECUTOR_POOL_TIMEOUT": "900",
    }
    assert (task.max_duration, task.retry, task.fleets[0].name) == (12 * 3600, False, "wavepool")
    assert (task.resources.cpu.arch.value, task.resources.cpu.count.min) == ("x86", 4)
    assert (task.resources.memory.min, task.resources.disk.size.min) == (32, 200)


def test_the_order_decides_gpu_backend_region_and_spot() -> None:
    order = replace(ORDER, gpu_type="MI210", gpu_count=4, backend="hotaisle", region="us-michigan-1", spot=True)
    task = submitted(order).configuration
    gpu = task.resources.gpu
    assert isinstance(gpu, GPUSpec)
    assert (gpu.name, gpu.count.min, gpu.count.max) == (["MI210"], 4, 4)
    assert [backend.value for backend in task.backends] == ["hotaisle"]
    assert (task.regions, task.spot_policy.value) == (["us-michigan-1"], "spot")


def test_an_order_without_a_place_leaves_that_to_the_settings() -> None:
    task = submitted(config=replace(CONFIG, market=market(regions=("atl1",)))).configuration
    assert [backend.value for backend in task.backends] == ["amddevcloud", "hotaisle"]
    assert (task.regions, task.spot_policy.value) == (["atl1"], "on-demand")


@pytest.mark.parametrize(
    ("ordered", "set_", "sent"), [(0, 0, None), (2, 0, 2.0), (0, 3, 3.0), (2, 3, 2.0), (4, 3, 3.0)]
)
def test_the_lower_of_two_price_limits_holds(ordered: int, set_: int, sent: float | None) -> None:
    config = replace(CONFIG, market=market(max_price_micros_per_gpu_hour=set_ * 1_000_000))
    order = replace(ORDER, max_price_micros_per_hour=ordered * 1_000_000)
    assert submitted(order, config).configuration.max_price == sent


def test_an_order_may_live_shorter_than_the_settings_say() -> None:
    assert submitted(replace(ORDER, max_duration=timedelta(seconds=90.5))).configuration.max_duration == 91


def test_a_plan_asks_for_every_type_of_the_pool_at_once() -> None:
    request = GetRunPlanRequest.model_validate_json(plan_request(CONFIG, 8))
    gpu = request.run_spec.configuration.resources.gpu
    assert (gpu.name, gpu.count.min, gpu.count.max) == (["MI300X", "MI210"], 8, 8)
    assert request.run_spec.run_name is None


def test_the_fleet_holds_none_to_its_size_and_is_marked_as_ours() -> None:
    config = replace(CONFIG, market=market(gpu_counts=(8, 1), max_price_micros_per_gpu_hour=312_500))
    fleet = ApplyFleetPlanRequest.model_validate_json(create_request(config)).plan.spec.configuration
    assert (fleet.name, fleet.nodes.min, fleet.nodes.target, fleet.nodes.max) == ("wavepool", 0, 0, 8)
    assert [backend.value for backend in fleet.backends] == ["amddevcloud", "hotaisle"]
    assert (fleet.resources.gpu.count.min, fleet.resources.gpu.count.max) == (1, 8)
    assert (fleet.max_price, fleet.idle_duration) == (2.5, 300)
    assert fleet.tags == {"wavepool-pool": "wavepool"}
