"""The Python client of alerts: lists them, their history and their rules, and tries channels.

>>> from wavepool_client.alert_client import AlertClient
>>> with AlertClient("http://127.0.0.1:8080", token) as alerts:
...     for alert in alerts.active():
...         print(alert["severity"], alert["summary"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavepool_client.http.gateway_client import GatewayClient

if TYPE_CHECKING:
    from collections.abc import Iterator

ALERTS = "/api/v1/alerts"
PAGE_SIZE = 100


class AlertClient(GatewayClient):
    """A synchronous client of one gateway's alerts. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. An account sees its own alerts; an
    operator sees everybody's, or those of the `account_id` that it names.
    """

    def active(self, account_id: str = "") -> list[dict[str, Any]]:
        """The alerts that are firing or pending, newest first."""
        query = {"account_id": account_id} if account_id else None
        return list(self._transport.call("GET", ALERTS, query=query)["alerts"])

    def history(self, account_id: str = "") -> Iterator[dict[str, Any]]:
        """Yields what happened to alerts, newest first."""
        query: dict[str, Any] = {"page_size": PAGE_SIZE} | ({"account_id": account_id} if account_id else {})
        while True:
            page = self._transport.call("GET", f"{ALERTS}/history", query=query)
            yield from page["transitions"]
            if not page["next_page_token"]:
                return
            query["page_token"] = page["next_page_token"]

    def rules(self) -> dict[str, Any]:
        """The `rules` in force, and for an operator the `channels`."""
        return self._transport.call("GET", f"{ALERTS}/rules")

    def test(self, channel: str = "") -> list[dict[str, Any]]:
        """Sends a test message by a channel, or by each, and gives what became of it; for administrators."""
        return list(self._transport.call("POST", f"{ALERTS}/test", body={"channel": channel})["deliveries"])
