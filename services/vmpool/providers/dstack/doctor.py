"""Finds faults that keep dstack from making machines for us, with their remedies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from dstack._internal.core.models.resources import ResourcesSpec
from dstack.version import __version__ as client_version

from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.config import DstackConfig, Market
from services.vmpool.providers.dstack.fleet import missing_fleet
from services.vmpool.providers.provider import ProviderFinding
from vocabulary.money import dollars_of, dollars_text

Json = Mapping[str, Any]

HAS_MINIMUM = frozenset({"hotaisle"})
"""Backends known to bill a minimum: https://dstack.ai/docs/concepts/backends/#hot-aisle."""


def version_finding(server_version: str | None) -> ProviderFinding:
    """Check that client and server have the same major and minor version; a server built from source has none."""
    ours, theirs = _release(client_version or ""), _release(server_version or "")
    message = f"server {server_version or 'of no version'}, client {client_version}"
    if not ours or not theirs or ours == theirs:
        return ProviderFinding("server version", ok=True, message=message)
    wanted = ".".join(map(str, ours))
    return ProviderFinding(
        "server version",
        ok=False,
        message=f"{message}: they do not fit",
        remedy=f"run a dstack server {wanted}.x, or the vmpool whose dstack package is as old or new as the server",
    )


def user_finding(user: Json, project: str) -> ProviderFinding:
    """Name the user of the token, which the server has already accepted."""
    return ProviderFinding("token", ok=True, message=f"the token is user {user.get('username')}'s, of {project!r}")


def backends_finding(wanted: Sequence[str], present: Collection[str]) -> ProviderFinding:
    """Check that the project has the backends. The server silently drops one if its credentials are wrong."""
    # The hosts of an SSH fleet are no backend of the server's configuration.
    missing = [backend for backend in wanted if backend not in present and backend != "remote"]
    message = f"the project has {', '.join(sorted(present)) or 'none'}"
    if not missing:
        return ProviderFinding("backends", ok=True, message=message)
    return ProviderFinding(
        "backends",
        ok=False,
        message=f"{message}, and not {', '.join(missing)}",
        remedy=(
            f"add {' and '.join(missing)} to the server's config.yml with valid credentials and restart it (its log "
            f"says why a backend is not used), or remove it from VMPOOL_BACKENDS"
        ),
    )


def fleet_finding(fleet: Json | None, config: DstackConfig) -> ProviderFinding:
    """Check that our fleet exists, or will be made, and takes the machines that we are to order."""
    if fleet is None:
        made = config.fleet.create
        message = f"there is no fleet {config.fleet.name!r}" + (", it is made at the first order" if made else "")
        return ProviderFinding("fleet", ok=made, message=message, remedy="" if made else missing_fleet(config))
    problems = fleet_problems(_configuration(fleet), config)
    present = len(cast("list[Json]", fleet.get("instances") or []))
    if not problems:
        return ProviderFinding("fleet", ok=True, message=f"{config.fleet.name!r} has {present} machines now")
    return ProviderFinding(
        "fleet",
        ok=False,
        message=f"{config.fleet.name!r} {'; '.join(problems)}",
        remedy=(
            f"delete it with `dstack fleet delete {config.fleet.name}` when it has no machines, and it is made again "
            "from the settings; or edit it with `dstack apply`"
        ),
    )


def fleet_problems(configuration: Json, config: DstackConfig) -> list[str]:
    """The ways in which the fleet is narrower than our settings. An SSH fleet is not checked: its hosts are given."""
    if configuration.get("ssh_config"):
        return []
    problems: list[str] = []
    backends = cast("list[str] | None", configuration.get("backends"))
    if backends is not None and (lacking := [b for b in config.market.backends if b not in backends]):
        problems.append(f"does not take backend {', '.join(lacking)}")
    if cast("Json", configuration.get("nodes") or {}).get("max") == 0:
        problems.append("holds no machines")
    problems += _too_large(cast("Json", configuration.get("resources") or {}), config.market)
    limit = configuration.get("max_price")
    allowed = dollars_of(config.market.max_price_micros_per_hour(max(config.market.gpu_counts)))
    if limit is not None and (not allowed or limit < allowed):
        problems.append(f"takes no machine above ${limit:g} an hour")
    policy = configuration.get("spot_policy")
    if policy not in {None, SpotPolicy.AUTO.value, config.market.spot_policy.value}:
        problems.append(f"takes {policy} machines only")
    return problems


def _too_large(resources: Json, market: Market) -> list[str]:
    """The resources of which the fleet demands more than the settings."""
    ours = ResourcesSpec.model_validate({"cpu": market.cpu, "memory": market.memory, "disk": market.disk})
    wanted = {"cpu": ours.cpu.count.min, "memory": ours.memory.min, "disk": ours.disk.size.min if ours.disk else None}
    ranges = {
        "cpu": cast("Json", resources.get("cpu") or {}).get("count"),
        "memory": resources.get("memory"),
        "disk": cast("Json", resources.get("disk") or {}).get("size"),
    }
    least = {name: cast("Json", message or {}).get("min") or 0 for name, message in ranges.items()}
    return [
        f"takes no machine with {name} below {least[name]:g}{'' if name == 'cpu' else ' GB'}"
        for name in wanted
        if least[name] > (wanted[name] or 0)
    ]


def offers_finding(offers: Sequence[Offer], config: DstackConfig) -> ProviderFinding:
    """Check that a machine can be had, and list the prices."""
    market = config.market
    available = [offer for offer in offers if offer.available]
    if available:
        message = ", ".join(_line(offer) for offer in available[:5])
        return ProviderFinding("offers", ok=True, message=message)
    most = market.max_price_micros_per_gpu_hour
    limit = f" below {dollars_text(most)} per GPU hour" if most else ""
    listed = f"; listed, but none available now: {', '.join(_line(offer) for offer in offers[:5])}" if offers else ""
    wanted = f"{', '.join(market.gpu_types)} with {'/'.join(map(str, market.gpu_counts))} GPUs"
    return ProviderFinding(
        "offers",
        ok=False,
        message=f"no {market.spot_policy.value} machine of {wanted}{limit} can be had{listed}",
        remedy=(
            "wait for capacity, or widen VMPOOL_BACKENDS, VMPOOL_DSTACK_REGIONS, VMPOOL_SPOT_POLICY, "
            "VMPOOL_MAX_PRICE, VMPOOL_GPUS_PER_MACHINE, VMPOOL_DSTACK_DISK, _MEMORY or _CPU"
        ),
    )


def billing_finding(config: DstackConfig) -> ProviderFinding:
    """Check that the settings have the least billed time of a backend that has one; else reported costs are too low."""
    unknown = sorted(b for b in config.market.backends if b in HAS_MINIMUM and b not in config.market.minimum_billed)
    if not unknown:
        return ProviderFinding("billing", ok=True, message="minimum billed times are as in the settings")
    return ProviderFinding(
        "billing",
        ok=False,
        message=f"{', '.join(unknown)} bills a minimum time, and the settings name none: costs are shown too low",
        remedy=f"set VMPOOL_DSTACK_MINIMUM_BILLED={unknown[0]}=SECONDS; docs/setup-{unknown[0]}.md says how to see it",
    )


def unreachable_finding(error: OSError) -> ProviderFinding:
    """Report that the server does not answer."""
    return ProviderFinding(
        "server",
        ok=False,
        message=str(error),
        remedy="start it (`dstack server`), or set VMPOOL_DSTACK_SERVER_URL to where it answers from here",
    )


def _configuration(fleet: Json) -> Json:
    return cast("Json", cast("Json", fleet.get("spec") or {}).get("configuration") or {})


def _line(offer: Offer) -> str:
    spot = " spot" if offer.spot else ""
    price = dollars_text(offer.price_micros_per_hour)
    return f"{offer.gpu_count} x {offer.gpu_type}{spot} at {offer.backend} {offer.region} for {price} an hour"


def _release(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int(part) for part in parts) if len(parts) == 2 and all(part.isdigit() for part in parts) else ()  # noqa: PLR2004 - major and minor
