"""The Python client of the pool: lists machines, asks for them, follows them, and ends them.

>>> from wavepool_client.pool_client import PoolClient
>>> with PoolClient("http://127.0.0.1:8080", token) as pool:
...     ordered = pool.request({"gpu_type": "MI300X"})
...     for event in pool.events(ordered["machine"]["id"]):
...         print(event.status)
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wavepool_client.errors import NotListeningError, UnreachableError
from wavepool_client.http.event_stream import Event, follow
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.http.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MACHINES = "/api/v1/machines"
ORDER_GIVE_UP_SECONDS = 10.0


class PoolClient(GatewayClient):
    """A synchronous client of one gateway's machines. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. Asking for machines, ending them and
    reading their logs takes an operator's token.
    """

    def machines(self, *, include_ended: bool = False) -> list[dict[str, Any]]:
        """The machines of the pool, those that are over last."""
        return list(self.machine_list(include_ended=include_ended)["machines"])

    def machine_list(self, *, include_ended: bool = False) -> dict[str, Any]:
        """The `machines`, the `refused_providers` that did not start, and the `stopped_sources` that rent none."""
        query = {"include_ended": "true"} if include_ended else None
        return dict(self._transport.call("GET", MACHINES, query=query))

    def machine(self, machine_id: str) -> dict[str, Any]:
        """One machine, with its cost so far."""
        return self._transport.call("GET", _path(machine_id))

    def request(self, order: Mapping[str, Any], key: str = "") -> dict[str, Any]:
        """Asks for a machine, as in `POST /machines`; returns `machine`, and `started`: true if it is a new one.

        If the answer is lost, this retries for a while; the key makes sure that only one machine is ordered.
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

    def drain(self, machine_id: str, reason: str = "", *, force: bool = False) -> dict[str, Any]:
        """Lets a machine finish its runs, then stops it; with `force` also if reservations stand on it."""
        return self._transport.call("POST", f"{_path(machine_id)}/drain", query=_ending(reason, force=force))

    def stop(self, machine_id: str, reason: str = "", *, force: bool = False) -> dict[str, Any]:
        """Stops a machine at once; its runs start again elsewhere. `force` as for `drain`."""
        return self._transport.call("POST", f"{_path(machine_id)}/stop", query=_ending(reason, force=force))

    def resume(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """Rents machines again from stopped sources; returns these sources."""
        query = {"gpu_type": gpu_type} if gpu_type else None
        return list(self._transport.call("POST", "/api/v1/providers/resume", query=query)["resumed_sources"])

    def events(self, machine_id: str, after: int = 0) -> Iterator[Event]:
        """Yields the events of a machine after number `after`, until its release by its provider."""
        return follow(
            lambda seq: self._transport.stream("GET", f"{_path(machine_id)}/events", after=seq),
            lambda: bool(self.machine(machine_id).get("release_time")),
            after,
            Retries(),
        )

    def log(self, machine_id: str, *, following: bool = False, tail: int = 0) -> Iterator[bytes]:
        """Yields the output of the machine's executor, in pieces; `following` goes on until the machine is over."""
        query = {"follow": "true" if following else "false", "tail": tail}
        return self._transport.pieces(f"{_path(machine_id)}/logs", query)

    def offers(self, gpu_type: str = "") -> dict[str, Any]:
        """Machines that can be had now, as `offers`, and providers that made none, as `failures`."""
        return self._transport.call("GET", "/api/v1/offers", query={"gpu_type": gpu_type} if gpu_type else None)


def _ending(reason: str, *, force: bool) -> dict[str, str]:
    return {"reason": reason, **({"force": "true"} if force else {})}


def _path(machine_id: str) -> str:
    return f"{MACHINES}/{quote(machine_id, safe='')}"
