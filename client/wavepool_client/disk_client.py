"""The Python client of disks: homes that outlive reservations.

>>> from wavepool_client.disk_client import DiskClient
>>> with DiskClient("http://127.0.0.1:8080", token) as disks:
...     disks.create("training", size_gib=50)
...     print([disk["name"] for disk in disks.disks()])
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from wavepool_client.http.gateway_client import GatewayClient

DISKS = "/api/v1/disks"
SNAPSHOT_SECONDS = 1000.0
"""Longer than two snapshots take: one may have to wait for the one before."""


class DiskClient(GatewayClient):
    """A synchronous client of one gateway's disks. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. `user_id` names another user, for
    operators and administrators.
    """

    def disks(self, user_id: str = "", *, deleted: bool = False) -> list[dict[str, Any]]:
        """Your disks by name, or those of a user, or of `all`; with `deleted`, also those not yet removed."""
        query: dict[str, Any] = _of(user_id) | ({"deleted": "true"} if deleted else {})
        return list(self._transport.call("GET", DISKS, query=query)["disks"])

    def create(self, name: str, size_gib: float | None = None) -> dict[str, Any]:
        """Makes an empty disk; without a size it has the operator's."""
        size = {} if size_gib is None else {"size_gib": size_gib}
        return self._transport.call("POST", DISKS, body={"name": name, **size})

    def delete(self, name: str, user_id: str = "") -> dict[str, Any]:
        """Deletes a disk, whose snapshots are kept for a time."""
        return self._transport.call("DELETE", _path(name), query=_of(user_id))

    def rename(self, name: str, new_name: str, user_id: str = "") -> dict[str, Any]:
        """Gives a disk another name."""
        return self._transport.call("PATCH", _path(name), body={"name": new_name}, query=_of(user_id))

    def clone(self, name: str, new_name: str, user_id: str = "") -> dict[str, Any]:
        """Makes a disk that begins with the last snapshot of another one."""
        return self._transport.call("POST", f"{_path(name)}/clone", body={"name": new_name}, query=_of(user_id))

    def content(self, name: str, user_id: str = "") -> dict[str, Any]:
        """The files of a disk's last snapshot."""
        return self._transport.call("GET", f"{_path(name)}/content", query=_of(user_id))

    def snapshot(self, name: str, user_id: str = "") -> dict[str, Any]:
        """Takes a snapshot of a disk that an active reservation has; this may take minutes."""
        path = f"{_path(name)}/snapshot"
        return self._transport.call("POST", path, query=_of(user_id), timeout_seconds=SNAPSHOT_SECONDS)


def _path(name: str) -> str:
    return f"{DISKS}/{quote(name, safe='')}"


def _of(user_id: str) -> dict[str, Any]:
    return {"user_id": user_id} if user_id else {}
