"""The Python client of the pool: looks at machines, asks for them, follows them, and ends them.

>>> from wavepool_client.pool_client import PoolClient
>>> with PoolClient("http://127.0.0.1:8080", token) as pool:
...     ordered = pool.request({"gpu_type": "MI300X"})
...     for event in pool.events(ordered["machine"]["id"]):
...         print(event.status)
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from wavepool_client.errors import NotListeningError, UnreachableError
from wavepool_client.http.connection import resolve
from wavepool_client.http.event_stream import Event, Retries, follow
from wavepool_client.http.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MACHINES = "/api/v1/machines"
ORDER_GIVE_UP_SECONDS = 10.0


class PoolClient:
    """A synchronous client of one gateway's machines. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found as `wavepool_client.Client` finds them. Asking for machines, ending them and reading
    their logs takes an administrator's token.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        self._transport = Transport(resolve(endpoint, token))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._transport.close()

    def machines(self, *, include_ended: bool = False) -> list[dict[str, Any]]:
        """The machines of the pool, those that are over last."""
        return list(self.machine_list(include_ended=include_ended)["machines"])

    def machine_list(self, *, include_ended: bool = False) -> dict[str, Any]:
        """The `machines`, the `refused_providers` that did not start, and the `stopped_sources` that rent none."""
        query = {"include_ended": "true"} if include_ended else None
        return dict(self._transport.call("GET", MACHINES, query=query))

    def machine(self, machine_id: str) -> dict[str, Any]:
        """One machine, with what it has cost up to now."""
        return self._transport.call("GET", _path(machine_id))

    def request(self, order: Mapping[str, Any], key: str = "") -> dict[str, Any]:
        """Ask for a machine, as the body of `POST /machines`: gives `machine` and whether it was `started` for this.

        Where the answer got lost it is asked for again for a while; the key keeps that to one machine.
        """
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        retries = Retries(ORDER_GIVE_UP_SECONDS)
        while True:
            try:
                return self._transport.call("POST", MACHINES, body=order, headers=headers)
            except NotListeningError:
                raise
            except UnreachableError as error:
                retries.pause(error)

    def drain(self, machine_id: str, reason: str = "") -> dict[str, Any]:
        """Let a machine finish what runs on it, and stop it then."""
        return self._transport.call("POST", f"{_path(machine_id)}/drain", query={"reason": reason})

    def stop(self, machine_id: str, reason: str = "") -> dict[str, Any]:
        """Stop a machine at once; what runs on it starts again elsewhere."""
        return self._transport.call("POST", f"{_path(machine_id)}/stop", query={"reason": reason})

    def resume(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """Rent machines again where nothing is rented any more; gives what was stopped."""
        query = {"gpu_type": gpu_type} if gpu_type else None
        return list(self._transport.call("POST", "/api/v1/providers/resume", query=query)["resumed_sources"])

    def events(self, machine_id: str, after: int = 0) -> Iterator[Event]:
        """What becomes of a machine after event number `after`, until its provider has taken it back."""
        return follow(
            lambda seq: self._transport.stream("GET", f"{_path(machine_id)}/events", after=seq),
            lambda: bool(self.machine(machine_id).get("release_time")),
            after,
            Retries(),
        )

    def log(self, machine_id: str, *, following: bool = False, tail: int = 0) -> Iterator[bytes]:
        """What the machine's executor printed, in pieces; `following` goes on until the machine is over."""
        query = {"follow": "true" if following else "false", "tail": tail}
        return self._transport.pieces(f"{_path(machine_id)}/logs", query)

    def offers(self, gpu_type: str = "") -> dict[str, Any]:
        """What machines can be had now, as `offers`, and who made none, as `failures`."""
        return self._transport.call("GET", "/api/v1/offers", query={"gpu_type": gpu_type} if gpu_type else None)


def _path(machine_id: str) -> str:
    return f"{MACHINES}/{quote(machine_id, safe='')}"
