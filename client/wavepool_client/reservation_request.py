"""What people ask for when they reserve, as the fields of `POST /api/v1/reservations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wavepool_client.errors import InputError
from wavepool_client.ssh.keys import lines_of
from wavepool_client.text.availability import SIZES
from wavepool_client.text.reservations import dearest_price, usd_text
from wavepool_client.text.start_times import start_of

NO_DISK = "none"
GITHUB = "github:"
_NOT_QUOTED = {"name", "preserve_entrypoint", "keys", "own_keys", "add_users"}


def wanted_fields(
    hours: float, gpus: int | None = None, *, start: datetime | str | None = None, disk: str = "", **others: object
) -> dict[str, Any]:
    """The fields of a reservation, but for its keys; those that are empty are left out.

    `start` is a datetime, or as people write it; without a zone it is local time. `others` have the names of their
    fields. Raises InputError.
    """
    if gpus is not None and gpus < 1:
        raise InputError(f"gpu_count: is {gpus}; it must be one of {', '.join(map(str, SIZES))}")
    if isinstance(start, str):
        start = start_of(start, datetime.now(UTC)) if start else None
    others |= {
        "start_time": start.astimezone(UTC).isoformat() if start else "",
        "disk": "" if disk.casefold() == NO_DISK else disk,
    }
    return {
        "hours": hours,
        "gpu_count": 1 if gpus is None else gpus,
        **{field: value for field, value in others.items() if value},
    }


def quoted_fields(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields that a quote has, too. It knows of no image that is yet to be built, and so of no command in it."""
    return {field: value for field, value in wanted.items() if field not in _NOT_QUOTED}


def check_price(quote: Mapping[str, Any], max_price: float | None, field: str) -> None:
    """Raises InputError about `field` if a GPU may cost more than `max_price` dollars per hour."""
    price = dearest_price(dict(quote))
    if max_price is not None and price > max_price:
        raise InputError(
            f"{field}: is {usd_text(max_price)}, and a GPU may cost {usd_text(price)}/h; nothing is reserved. "
            "Give a higher price or another GPU type: `wavepool avail` shows the prices"
        )


def people_of(text: str, field: str) -> list[dict[str, str]]:
    """The keys in `NAME=FILE`, or somebody whose keys are to be looked up, as the gateway takes them.

    Raises InputError about `field`.
    """
    name, separator, file = text.partition("=")
    if not name or name == GITHUB or (separator and not file):
        raise InputError(f"{field}: is {text!r}; give a name such as bob or github:bob, or a file too: bob=bob.pub")
    if not separator:
        return [{"user": name}]
    if name.startswith(GITHUB):
        raise InputError(f"{field}: is {text!r}; leave the file out, or give a name without {GITHUB}")
    return [{"user": name, "public_key": line} for line in lines_of(Path(file))]


def access_fields(
    lines: Sequence[str], add_users: Sequence[str], field: str, *, only_these_keys: bool
) -> dict[str, Any]:
    """The fields that say who may log in: the keys in `lines`, and others as `people_of` reads them.

    Unless it is `only_these_keys`, those may, too, that Wavepool knows of the caller. Raises InputError about `field`.
    """
    others = [person for text in add_users for person in people_of(text, field)]
    own = {} if only_these_keys else {"own_keys": True}
    return {
        "keys": [{"public_key": line} for line in lines],
        **own,
        **({"add_users": others} if others else {}),
    }
