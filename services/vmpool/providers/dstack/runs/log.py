"""Logs of executors on dstack's machines: from the server while it knows the run, then from a file of ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.runs.run import Run
from services.vmpool.providers.dstack.runs.runs import Runs
from services.vmpool.providers.dstack.runs.state import FINAL_RUN_STATUSES
from services.vmpool.providers.last_words import last_words
from services.vmpool.providers.provider import Resource

log = get_logger(__name__)

LONGEST_KEPT_BYTES = 4 * 1024 * 1024
"""Bytes of a log's end that are kept after the release."""


class Logs:
    """Reads and keeps logs."""

    def __init__(self, runs: Runs, config: DstackConfig) -> None:
        self._runs = runs
        self._config = config
        self._folder = config.data_dir.resolve() / "logs"

    async def read(self, machine_id: str, resource: Resource, *, follow: bool) -> AsyncIterator[bytes]:
        """The log in pieces, oldest first; raises ProviderError if there is none."""
        if (run := await self._runs.of_machine(machine_id, resource)) is None:
            yield self._kept(machine_id)
            return
        after: str | None = None
        while run is not None:
            # In this order: the output before the final state is there once that state is seen.
            is_over = run.status in FINAL_RUN_STATUSES
            while (printed := await self._runs.log(run, after))[0]:
                piece, after = printed
                yield piece
            if is_over or not follow:
                return
            await asyncio.sleep(self._config.timeouts.poll_interval.total_seconds())
            run = await self._runs.of_machine(machine_id, resource)

    async def last_words(self, run: Run) -> str:
        """The last lines of a run's output, joined into one; empty if they cannot be had."""
        try:
            return last_words(await self._runs.log_end(run))
        except (ProviderError, OSError) as error:
            log.warning("a machine's last words cannot be had", extra={"run": run.name, "error": str(error)})
            return ""

    async def keep(self, machine_id: str, run: Run) -> None:
        """Write the log down before the server forgets the run. A log that cannot be had holds up no release."""
        try:
            printed = await self._whole(run)
        except (ProviderError, OSError) as error:
            log.warning("a machine's log is lost", extra={"machine_id": machine_id, "error": str(error)})
            return
        if printed:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file(machine_id).write_bytes(printed[-LONGEST_KEPT_BYTES:])

    async def _whole(self, run: Run) -> bytes:
        pieces: list[bytes] = []
        after: str | None = None
        while (printed := await self._runs.log(run, after))[0]:
            piece, after = printed
            pieces.append(piece)
        return b"".join(pieces)

    def _kept(self, machine_id: str) -> bytes:
        try:
            return self._file(machine_id).read_bytes()
        except FileNotFoundError:
            raise ProviderError(f"dstack knows no machine {machine_id}, and no log of it was kept here") from None

    def _file(self, machine_id: str) -> Path:
        return self._folder / f"executor-{machine_id}.log"
