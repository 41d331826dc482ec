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
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wavepool_client.errors import NotListeningError, UnreachableError
from wavepool_client.http.event_stream import Event, follow
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.http.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RESERVATIONS = "/api/v1/reservations"
BUILD_CONTEXTS = "/api/v1/build-contexts"
UPLOAD_SECONDS = 300.0
RESERVE_GIVE_UP_SECONDS = 10.0
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
        return self._transport.call("POST", f"{RESERVATIONS}/quote", body=wanted)

    def upload(self, content: bytes) -> str:
        """Stores what an image is built from, as `build_context.packed` makes it; returns the field `build_digest`."""
        body = {"content": base64.b64encode(content).decode()}
        answer = self._transport.call("POST", BUILD_CONTEXTS, body=body, timeout_seconds=UPLOAD_SECONDS)
        return str(answer["build_digest"])

    def reserve(self, wanted: Mapping[str, Any], idempotency_key: str = "") -> dict[str, Any]:
        """Makes a reservation with the fields of `POST /api/v1/reservations`, and returns it at once.

        If the answer is lost, or a service is just restarting, this retries for a while; the idempotency key makes sure
        that there is only one reservation.
        """
        key = {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        retries = Retries(RESERVE_GIVE_UP_SECONDS)
        while True:
            try:
                return self._transport.call("POST", RESERVATIONS, body=wanted, headers=key)
            except NotListeningError:
                raise
            except UnreachableError as error:
                retries.pause(error)

    def reservation(self, reservation_id: str) -> dict[str, Any]:
        """One reservation as it is now."""
        return self._transport.call("GET", _path(reservation_id))

    def reservations(self, states: Sequence[str] = (), user_id: str = "") -> list[dict[str, Any]]:
        """The newest reservations, at most 200: in these states or all; of this user or all that you see."""
        query: dict[str, Any] = {"page_size": MOST_LISTED}
        query |= {"state": list(states)} if states else {}
        query |= {"user_id": user_id} if user_id else {}
        return list(self._transport.call("GET", RESERVATIONS, query=query)["reservations"])

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
        path = f"{_path(reservation_id)}/events"
        end = math.inf if within_seconds is None else time.monotonic() + within_seconds

        def check_time() -> None:
            if time.monotonic() > end:
                raise TimeoutError

        return follow(
            lambda seq: self._transport.stream("GET", path, after=seq, on_heartbeat=check_time),
            lambda: self.reservation(reservation_id).get("state") in OVER,
            after,
            retries or Retries(),
        )

    def events_so_far(self, reservation_id: str) -> list[Event]:
        """The events until now, without waiting for more."""
        found: list[Event] = []
        path = f"{_path(reservation_id)}/events"
        try:
            found.extend(self._transport.stream("GET", path, silence_seconds=NO_MORE_SECONDS))
        except UnreachableError:
            # Silence is the end of those that are there, as it is not of those that will come.
            if not found:
                raise
        return found

    def cancel(self, reservation_id: str) -> dict[str, Any]:
        """Ends a reservation in any state; cancelling one that is over changes nothing."""
        return self._transport.call("POST", f"{_path(reservation_id)}/cancel")

    def extend(self, reservation_id: str, hours: float, idempotency_key: str = "") -> dict[str, Any]:
        """Adds time to a reservation that is prepared or active."""
        key = {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        return self._transport.call("POST", f"{_path(reservation_id)}/extend", body={"hours": hours}, headers=key)

    def rename(self, reservation_id: str, name: str) -> dict[str, Any]:
        """Changes a reservation's name."""
        return self._transport.call("PATCH", _path(reservation_id), body={"name": name})

    def change_users(
        self, reservation_id: str, add: Sequence[Mapping[str, str]] = (), remove: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Says who may log in: `add` has a `user`, a `public_key`, or both each, `remove` the names of users.

        Without a key, those of the user are looked up. The answer has the `added_keys` and `notes`.
        """
        body = {"add": list(add), "remove": list(remove)}
        return self._transport.call("POST", f"{_path(reservation_id)}/users", body=body)

    def notify(self, reservation_id: str, text: str) -> int:
        """Writes a text to every terminal of a reservation's session; gives their number."""
        return int(self._transport.call("POST", f"{_path(reservation_id)}/notify", body={"text": text})["terminals"])

    def usage(self, days: int = 30) -> list[dict[str, Any]]:
        """The GPU hours of the reservations that you see, by day of UTC, user and GPU type."""
        return list(self._transport.call("GET", f"{RESERVATIONS}/usage", query={"days": days})["usage"])

    def calendar(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """Which GPUs reservations have, and are to have, the earliest start first; without names of other accounts."""
        query = {"gpu_type": gpu_type} if gpu_type else None
        return list(self._transport.call("GET", f"{RESERVATIONS}/calendar", query=query)["entries"])

    def availability(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """What could be reserved now, by GPU type."""
        query = {"gpu_type": gpu_type} if gpu_type else None
        return list(self._transport.call("GET", "/api/v1/availability", query=query)["gpu_types"])

    def me(self) -> dict[str, Any]:
        """The user of the token."""
        return self._transport.call("GET", "/api/v1/me")


def _path(reservation_id: str) -> str:
    return f"{RESERVATIONS}/{quote(reservation_id, safe='')}"
