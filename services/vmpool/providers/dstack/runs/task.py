"""The run that is a machine: a task whose container is our executor."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dstack._internal.core.compatibility.runs import get_apply_plan_excludes, get_get_plan_excludes
from dstack._internal.core.models.configurations import TaskConfiguration
from dstack._internal.core.models.profiles import Profile
from dstack._internal.core.models.runs import ApplyRunPlanInput, RunSpec
from dstack._internal.server.schemas.runs import ApplyRunPlanRequest, GetRunPlanRequest

from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.config import DstackConfig, Market
from services.vmpool.providers.dstack.runs.name import run_name, tags_of
from services.vmpool.providers.dstack.runs.run import TOKEN_VARIABLE
from services.vmpool.providers.provider import Order
from vocabulary.money import dollars_of

MOST_OFFERS = 1000


def plan_request(config: DstackConfig, gpu_count: int, *, in_fleet: bool = True) -> str:
    """The body of `runs/get_plan` that lists the market's machines with that many GPUs.

    A run gets only machines that its fleet may have. If the fleet does not exist yet, set `in_fleet` to False for a
    plan over the backends.
    """
    market = config.market
    task = _task(
        config,
        gpu=gpu_spec(market.gpu_types, gpu_count),
        backends=list(market.backends),
        regions=list(market.regions) or None,
        spot_policy=market.spot_policy.value,
        max_price=_price(market.max_price_micros_per_hour(gpu_count)),
    )
    if not in_fleet:
        task.fleets = None
    body = GetRunPlanRequest(run_spec=_spec(task, None), max_offers=MOST_OFFERS, for_offers_only=not in_fleet)
    return body.model_dump_json(exclude=get_get_plan_excludes(body))


def submit_request(config: DstackConfig, order: Order, public_key: str) -> str:
    """The body of `runs/apply` that makes the machine; the server refuses if an active run has the name."""
    plan = ApplyRunPlanInput(run_spec=_spec(machine_task(config, order), public_key), current_resource=None)
    body = ApplyRunPlanRequest(plan=plan, force=False)
    return body.model_dump_json(exclude=get_apply_plan_excludes(plan))


def machine_task(config: DstackConfig, order: Order) -> TaskConfiguration:
    """The task that makes the machine. It has a longest life, and no retry by dstack, because the pool retries."""
    market = config.market
    return _task(
        config,
        name=order.name or run_name(config.pool_name, order.machine_id),
        tags=tags_of(config.pool_name, order),
        env=_environment(config, order),
        gpu=gpu_spec((order.gpu_type,), order.gpu_count),
        backends=[order.backend] if order.backend else list(market.backends),
        regions=[order.region] if order.region else list(market.regions) or None,
        spot_policy=(SpotPolicy.SPOT if order.spot else SpotPolicy.ON_DEMAND).value,
        max_price=_price(
            _lower_limit(order.max_price_micros_per_hour, market.max_price_micros_per_hour(order.gpu_count))
        ),
        max_duration=math.ceil((order.max_duration or config.max_duration).total_seconds()),
    )


def _task(config: DstackConfig, *, gpu: dict[str, object], **more: object) -> TaskConfiguration:
    agent = config.agent
    return TaskConfiguration.model_validate(
        {
            "image": agent.image,
            "user": agent.user,
            "commands": list(agent.commands),
            "privileged": agent.privileged,
            "resources": resources(config.market, gpu),
            "fleets": [config.fleet.name],
            "retry": False,
            "idle_duration": int(config.fleet.idle_duration.total_seconds()),
            "stop_duration": math.ceil(config.timeouts.stop_grace.total_seconds()),
            **{name: value for name, value in more.items() if value is not None},
        }
    )


def _environment(config: DstackConfig, order: Order) -> dict[str, str]:
    return {
        **config.agent.environment,
        # The container shares the host's network, so any other address could be reached from the internet.
        "EXECUTOR_HOST": "127.0.0.1",
        "EXECUTOR_PORT": str(config.agent.executor_port),
        "EXECUTOR_GPU_COUNT": str(order.gpu_count),
        TOKEN_VARIABLE: order.token,
        "EXECUTOR_POOL_TIMEOUT": f"{config.agent.orphan_timeout.total_seconds():g}",
    }


def _spec(task: TaskConfiguration, public_key: str | None) -> RunSpec:
    return RunSpec(
        run_name=task.name, configuration=task, profile=Profile(name="wavepool"), ssh_key_pub=public_key or "(offers)"
    )


def resources(market: Market, gpu: dict[str, object]) -> dict[str, object]:
    """The least that machines must have, for the fleet and the run alike."""
    return {"cpu": market.cpu, "memory": market.memory, "disk": market.disk, "gpu": gpu}


def gpu_spec(names: Sequence[str], count: int | str) -> dict[str, object]:
    """GPUs of these types; `count` is a number, or a range such as `1..8`."""
    return {"name": list(names), "count": count}


def _price(micros: int) -> float | None:
    return dollars_of(micros) if micros else None


def _lower_limit(one: int, other: int) -> int:
    """The lower of two limits; 0 means none."""
    return min(one, other) if one and other else one or other
