"""The Python client of reservations: GPUs by the hour, over SSH.

>>> from wavepool_client.reservation_client import ReservationClient
>>> with ReservationClient("http://127.0.0.1:8080", token) as client:
...     made = client.reserve({"hours": 0.5, "keys": [{"public_key": "ssh-ed25519 AAAA… ada"}]})
...     for event in client.events(made["id"]):
...         print(event.status)
"""

from __future__ import annotations

import base64
import math
import time
from typing import TYPE_CHECKING, Any

from wavepool_client.errors import UnreachableError
from wavepool_client.http.gateway_client import GatewayClient, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wavepool_client.http.event_stream import Event
    from wavepool_client.http.retries import Retries

RESERVATIONS = "reservations"
UPLOAD_SECONDS = 300.0
ALIVE = ("pending", "queued", "preparing", "active", "expiring")
"""States of reservations that are not over."""
OVER = ("expired", "cancelled", "failed")
MOST_LISTED = 200
NO_MORE_SECONDS = 1.0
"""Events that are there come at once."""


class ReservationClient(GatewayClient):
    """A synchronous client of one gateway's reservations. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. Ids are whole ids.
    """

    def quote(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """What a reservation would cost at most, and how long it would wait; `wanted` as in `reserve`, without keys."""
        return self.ask("POST", RESERVATIONS, "quote", body=wanted)

    def upload(self, content: bytes) -> str:
        """Stores what an image is built from, as `build_context.packed` makes it; returns the field `build_digest`."""
        body = {"content": base64.b64encode(content).decode()}
        return str(self.ask("POST", "build-contexts", body=body, timeout_seconds=UPLOAD_SECONDS)["build_digest"])

    def reserve(self, wanted: Mapping[str, Any], idempotency_key: str = "") -> dict[str, Any]:
        """Makes a reservation with the fields of `POST /api/v1/reservations`, and returns it at once; see `once`."""
        return self.once(RESERVATIONS, body=wanted, key=idempotency_key)

    def reservation(self, reservation_id: str) -> dict[str, Any]:
        """One reservation as it is now."""
        return self.ask("GET", RESERVATIONS, reservation_id)

    def reservations(self, states: Sequence[str] = (), user_id: str = "") -> list[dict[str, Any]]:
        """The newest reservations, at most 200: in these states or all; of this user or all that you see."""
        query: dict[str, Any] = {"page_size": MOST_LISTED, "state": list(states), "user_id": user_id}
        return list(self.ask("GET", RESERVATIONS, **query)["reservations"])

    def events(
        self,
        reservation_id: str,
        after: int = 0,
        retries: Retries | None = None,
        within_seconds: float | None = None,
    ) -> Iterator[Event]:
        """Yields the events after number `after`, as they come, until the reservation is over.

        Raises TimeoutError if that takes longer than `within_seconds`, and ten seconds more.
        """
        end = math.inf if within_seconds is None else time.monotonic() + within_seconds

        def check_time() -> None:
            if time.monotonic() > end:
                raise TimeoutError

        return self.followed(
            RESERVATIONS,
            reservation_id,
            "events",
            is_over=lambda: self.reservation(reservation_id).get("state") in OVER,
            after=after,
            retries=retries,
            on_heartbeat=check_time,
        )

    def events_so_far(self, reservation_id: str) -> list[Event]:
        """The events until now, without waiting for more."""
        found: list[Event] = []
        path = path_of(RESERVATIONS, reservation_id, "events")
        try:
            found.extend(self._transport.stream("GET", path, silence_seconds=NO_MORE_SECONDS))
        except UnreachableError:
            # Silence is the end of those that are there, as it is not of those that will come.
            if not found:
                raise
        return found

    def cancel(self, reservation_id: str) -> dict[str, Any]:
        """Ends a reservation in any state; cancelling one that is over changes nothing."""
        return self.ask("POST", RESERVATIONS, reservation_id, "cancel")

    def extend(self, reservation_id: str, hours: float, idempotency_key: str = "") -> dict[str, Any]:
        """Adds time to a reservation that is prepared or active; see `once`."""
        return self.once(RESERVATIONS, reservation_id, "extend", body={"hours": hours}, key=idempotency_key)

    def rename(self, reservation_id: str, name: str) -> dict[str, Any]:
        """Changes a reservation's name."""
        return self.ask("PATCH", RESERVATIONS, reservation_id, body={"name": name})

    def change_users(
        self,
        reservation_id: str,
        add: Sequence[Mapping[str, str]] = (),
        remove: Sequence[str] = (),
        editors: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Changes who may log in: `add` has a `user`, a `public_key`, or both each, `remove` the names of users.

        `editors` are users who may change the reservation, too. Without a key, those of the user are looked up. The
        answer has the `added_keys` and `notes`.
        """
        body = {"add": list(add), "remove": list(remove), **({"add_editors": list(editors)} if editors else {})}
        return self.ask("POST", RESERVATIONS, reservation_id, "users", body=body)

    def availability(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """What could be reserved now, by GPU type."""
        return list(self.ask("GET", "availability", gpu_type=gpu_type)["gpu_types"])

    def me(self) -> dict[str, Any]:
        """The user of the token."""
        return self.ask("GET", "me")
