"""The Python client of queues: lists them, changes their tree, and says why a submission waits.

>>> from wavepool_client.queue_client import QueueClient
>>> with QueueClient("http://127.0.0.1:8080", token) as queues:
...     print(queues.why("job_01J...")["reason"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from wavepool_client.http.connection import resolve
from wavepool_client.http.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

QUEUES = "/api/v1/queues"


class QueueClient:
    """A synchronous client of one gateway's queues. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. Everybody sees the queues; operators
    change them.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        self._transport = Transport(resolve(endpoint, token))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._transport.close()

    def queues(self) -> dict[str, Any]:
        """The `queues`, parents before children, and the `generation` of their tree."""
        return self._transport.call("GET", QUEUES)

    def apply(
        self,
        documents: Sequence[dict[str, Any]],
        *,
        prune: bool = False,
        dry_run: bool = False,
        expected_generation: int = 0,
    ) -> dict[str, Any]:
        """Makes the tree as the documents describe, whole or not at all; gives the `changes`.

        With `prune`, queues that no document describes go. With `dry_run`, nothing is changed. If the tree has another
        generation than `expected_generation`, which is not 0, the call is refused.
        """
        body = {
            "documents": list(documents),
            "prune": prune,
            "dry_run": dry_run,
            "expected_generation": expected_generation,
        }
        return self._transport.call("POST", f"{QUEUES}/apply", body=body)

    def close(self, name: str) -> dict[str, Any]:
        """Lets a queue take no new submissions."""
        return self._transport.call("POST", f"{QUEUES}/{quote(name, safe='')}/close")

    def open(self, name: str) -> dict[str, Any]:
        """Lets a queue take submissions again."""
        return self._transport.call("POST", f"{QUEUES}/{quote(name, safe='')}/open")

    def remove(self, name: str) -> dict[str, Any]:
        """Removes a queue that has no submissions in flight."""
        return self._transport.call("DELETE", f"{QUEUES}/{quote(name, safe='')}")

    def why(self, submission_id: str) -> dict[str, Any]:
        """Where a submission stands, the rule that keeps it waiting, and what would free it."""
        return self._transport.call("GET", f"/api/v1/submissions/{quote(submission_id, safe='')}/why")
