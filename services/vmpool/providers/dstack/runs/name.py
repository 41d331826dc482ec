"""Names and marks of our machines in dstack, which distinguish them from everybody else's.

A machine is one run. Its name is made from the pool's name and the machine's id, so that it can be asked for by the id
alone. Its tags hold the pool's name, the id, and a digest of the machine's token, which only the maker of the machine
knows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from services.vmpool.providers.provider import Order

POOL_TAG = "wavepool-pool"
MACHINE_TAG = "wavepool-machine"
TOKEN_TAG = "wavepool-token"  # noqa: S105 - the name of a tag
GPU_TYPE_TAG = "wavepool-gpu-type"
GPU_COUNT_TAG = "wavepool-gpu-count"

LONGEST_RUN_NAME = 41
"""dstack's rule for names: `[a-z][a-z0-9-]{1,40}`."""

_DIGEST_CHARACTERS = 20
_ID_PREFIX = "mach_"
_READABLE = re.compile(r"[a-z0-9]+")


def run_name(pool_name: str, machine_id: str) -> str:
    """The name of the machine's run: readable if that fits and cannot clash, else with a digest of the id."""
    readable = machine_id.removeprefix(_ID_PREFIX).lower()
    name = f"{pool_name}-{readable}"
    if _READABLE.fullmatch(readable) and len(name) <= LONGEST_RUN_NAME:
        return name
    return f"{pool_name}-{_digest(machine_id)[:_DIGEST_CHARACTERS]}"


def tags_of(pool_name: str, order: Order) -> dict[str, str]:
    """The tags that mark the machine's run, and its machine in clouds that have tags."""
    return {
        POOL_TAG: pool_name,
        MACHINE_TAG: order.machine_id,
        TOKEN_TAG: token_digest(order.token),
        GPU_TYPE_TAG: order.gpu_type,
        GPU_COUNT_TAG: str(order.gpu_count),
    }


def ordered_as(machine_id: str, tags: Mapping[str, str], token: str) -> Order | None:
    """The order of the machine, from its tags; None if they are incomplete."""
    count = tags.get(GPU_COUNT_TAG, "")
    if GPU_TYPE_TAG not in tags or not count.isdecimal():
        return None
    return Order(machine_id, tags[GPU_TYPE_TAG], int(count), token)


def token_digest(token: str) -> str:
    """The value of the token tag. It shows who knows the token, and reveals it to nobody."""
    return _digest(token)[:32]


def marked_machine_id(tags: Mapping[str, str], token: str) -> str:
    """Id of the machine that a run with those tags and that token was made for; empty if it has no such mark."""
    is_marked = bool(token) and tags.get(TOKEN_TAG) == token_digest(token)
    return tags.get(MACHINE_TAG, "") if is_marked else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
