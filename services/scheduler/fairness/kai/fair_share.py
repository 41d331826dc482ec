"""Divides resources among queues, level by level.

Each queue first gets the smaller of its quota and its request, even if that is more than there is: quotas are promises.
The rest goes to the queues that want more: a level of priority first gets all it wants, and within a level every queue
gets its part by weight. GPUs are given whole; what rounding leaves goes GPU by GPU to the largest remainder. A queue's
share is then divided among its children.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.scheduler.fairness.kai.usage import PPM
from services.scheduler.fairness.queue_tree import NOTHING, UNLIMITED, WHOLE_GPU_MILLI, Amounts, Queue, QueueTree

GRANULES = Amounts(gpu_milli=WHOLE_GPU_MILLI, cpu_milli=1, memory_bytes=1)
"""What queues that want more than their part get is a multiple of this."""
REMAINDER_SCALE = 2**40
"""Remainders of different rounds are compared as integers of this scale."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one queue may have and wants of one resource."""

    name: str
    quota: int
    weight: int
    limit: int
    request: int
    priority: int = 0
    create_order: int = 0
    usage_ppm: int = 0

    @property
    def requestable(self) -> int:
        """The part of the request that the limit allows."""
        return min(self.limit, self.request)


class Division(NamedTuple):
    """Shares by queue, and what nobody wanted."""

    shares: dict[str, int]
    remaining: int


def fair_shares(
    tree: QueueTree,
    total: Amounts,
    requests: Mapping[str, Amounts],
    usage_ppm: Mapping[str, Amounts] | None = None,
    k_ppm: int = 0,
) -> dict[str, Amounts]:
    """The fair share of every queue of the tree.

    `requests` has what each queue and those below it use and wait for. `k_ppm` is how much past usage counts.
    """
    shares: dict[str, Amounts] = {}
    usage = usage_ppm or {}

    def divide_among(name: str | None, amounts: Amounts) -> None:
        queues = tree.children(name)
        if not queues:
            return
        by_resource = [divide_resource(resource, amounts[resource], queues) for resource in range(len(GRANULES))]
        for queue in queues:
            shares[queue.name] = Amounts(*(division.get(queue.name, 0) for division in by_resource))
            divide_among(queue.name, shares[queue.name])

    def divide_resource(resource: int, total: int, queues: Sequence[Queue]) -> Mapping[str, int]:
        wanted = [requests.get(queue.name, NOTHING)[resource] for queue in queues]
        if not any(wanted):
            return {}
        claims = [
            Claim(
                queue.name,
                queue.quota[resource],
                queue.weight[resource],
                queue.limit[resource],
                request,
                queue.priority,
                queue.create_order,
                usage.get(queue.name, NOTHING)[resource],
            )
            for queue, request in zip(queues, wanted, strict=True)
        ]
        return divide(total, claims, GRANULES[resource], k_ppm).shares

    divide_among(None, total)
    return shares


def divide(total: int, claims: Sequence[Claim], granule: int = 1, k_ppm: int = 0) -> Division:
    """Divides one resource among queues with the same parent."""
    shares = {
        claim.name: min(total if claim.quota >= UNLIMITED else claim.quota, claim.requestable) for claim in claims
    }
    remaining = max(0, total - sum(shares.values()))
    levels: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in claims:
        levels[claim.priority].append(claim)
    in_order = [levels[priority] for priority in sorted(levels, reverse=True)]
    remainders: list[dict[str, int]] = []
    for level in in_order:
        remaining, rounded_off = _divide_by_weight(remaining, level, shares, granule, k_ppm)
        remainders.append(rounded_off)
    for level, rounded_off in zip(in_order, remainders, strict=True):
        by_remainder = sorted(
            (claim for claim in level if claim.name in rounded_off),
            key=lambda claim: (-rounded_off[claim.name], claim.create_order, claim.name),
        )
        for claim in by_remainder:
            given = min(granule, remaining, claim.requestable - shares[claim.name])
            shares[claim.name] += given
            remaining -= given
    return Division(shares, remaining)


def _divide_by_weight(
    amount: int, level: Iterable[Claim], shares: dict[str, int], granule: int, k_ppm: int
) -> tuple[int, dict[str, int]]:
    """Adds to the shares of queues of one priority; returns what is left, and what was rounded off for each queue."""
    rounded_off: dict[str, int] = {}
    again = True
    while amount and again:
        again = False
        hungry = [claim for claim in level if claim.weight and claim.requestable > shares[claim.name]]
        weights = _weights(hungry, k_ppm)
        weight_sum = sum(weights)
        if not weight_sum:
            break
        in_round = amount
        for claim, weight in zip(hungry, weights, strict=True):
            part, wanted = in_round * weight, claim.requestable - shares[claim.name]
            if wanted * weight_sum <= part:
                given = wanted
                again = again or wanted * weight_sum < part
                rounded_off.pop(claim.name, None)
            else:
                given = part // weight_sum // granule * granule
                rounded_off[claim.name] = (part - given * weight_sum) * REMAINDER_SCALE // weight_sum
            shares[claim.name] += given
            amount -= given
    return amount, {name: remainder for name, remainder in rounded_off.items() if remainder}


def _weights(claims: Sequence[Claim], k_ppm: int) -> list[int]:
    """max(0, w + k(w - u)) of each, times a constant. w is the queue's part of all weights, and u its past usage."""
    weight_sum = sum(claim.weight for claim in claims)
    return [max(0, (PPM + k_ppm) * PPM * claim.weight - k_ppm * weight_sum * claim.usage_ppm) for claim in claims]
