"""The project's runs, ours among them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, cast

from dstack._internal.server.schemas.events import ListEventsRequest
from dstack._internal.server.schemas.logs import PollLogsRequest
from dstack._internal.server.schemas.runs import DeleteRunsRequest, GetRunRequest, ListRunsRequest, StopRunsRequest

from servicekit.logging import get_logger
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.refusal import RefusedError
from services.vmpool.providers.dstack.runs.name import run_name
from services.vmpool.providers.dstack.runs.run import Run, run_from_json
from services.vmpool.providers.dstack.runs.task import submit_request
from services.vmpool.providers.provider import UNNAMED, Order, Resource

Json = Mapping[str, Any]

log = get_logger(__name__)

PAGE = 100
"""The most runs that the server lists at a time."""
ENDED_PAGES = 5
"""Pages of ended runs that are looked through. Ours are deleted when they are released."""
EVENTS = 100
LOG_LINES = 1000
LAST_LOG_PIECES = 20
"""Pieces to read from the end of an ended job's log; a line may come in several."""


class Runs:
    """Calls about runs."""

    def __init__(self, client: DstackClient, config: DstackConfig) -> None:
        self._client = client
        self._config = config

    async def get(self, name: str) -> Run | None:
        """The run as it is now; None if the server knows none of that name."""
        try:
            answer = await self._client.ask_project("runs/get", GetRunRequest(run_name=name).model_dump_json())
        except RefusedError as error:
            if error.is_not_found:
                return None
            raise
        return run_from_json(cast("Json", answer))

    async def submit(self, order: Order, public_key: str) -> None:
        """Make the machine's run; the server refuses if an active run has its name."""
        await self._client.ask_project("runs/apply", submit_request(self._config, order, public_key))

    async def stop(self, name: str, *, abort: bool) -> None:
        """Ask for the run's end; an unknown run is no error."""
        await self._client.ask_project("runs/stop", StopRunsRequest(runs_names=[name], abort=abort).model_dump_json())

    async def delete(self, name: str) -> None:
        """Have the server forget a run that is over; an unknown run is no error."""
        await self._client.ask_project("runs/delete", DeleteRunsRequest(runs_names=[name]).model_dump_json())

    async def of_machine(self, machine_id: str, resource: Resource = UNNAMED) -> Run | None:
        """The machine's run as it is now; None if the server knows none, or if the run of that name is not ours."""
        run = await self.get(self.name_of(machine_id, resource))
        if run is None or run.is_machine(machine_id, resource.resource_id):
            return run
        log.warning("a run has a machine's name and is not that machine", extra={"run": run.name, "run_id": run.run_id})
        return None

    def name_of(self, machine_id: str, resource: Resource = UNNAMED) -> str:
        """The name of the machine's run."""
        return resource.name or run_name(self._config.pool_name, machine_id)

    async def list_all(self) -> Sequence[Run]:
        """All active runs of the project, and the latest ended ones, including deleted ones."""
        active = await self._pages(only_active=True, most=None)
        latest = await self._pages(only_active=False, most=ENDED_PAGES)
        return list({run.run_id: run for run in (*latest, *active)}.values())

    async def instance_ids(self, run_id: str) -> frozenset[str]:
        """Ids of all instances that the run's job ever had. Only the server's events record them."""
        targets = await self._event_targets(within_runs=[run_id])
        return frozenset(str(target["id"]) for target in targets if target.get("type") == "instance")

    async def run_names_on(self, instance_id: str) -> frozenset[str]:
        """The names of the runs that the instance ever had."""
        targets = await self._event_targets(target_instances=[instance_id])
        # A job's name is its run's, followed by the numbers of replica and job.
        return frozenset(str(target["name"]).rsplit("-", 2)[0] for target in targets if target.get("type") == "job")

    async def log(self, run: Run, after: str | None) -> tuple[bytes, str | None]:
        """The next part of the job's output after a time of the server's clock, and the time to go on from."""
        if run.job is None:
            return b"", after
        body = PollLogsRequest.model_validate(
            {"run_name": run.name, "job_submission_id": run.job.submission_id, "limit": LOG_LINES, "start_time": after}
        )
        answer = cast("Json", await self._client.ask_project("logs/poll", body.model_dump_json()))
        lines = cast("list[Json]", answer.get("logs") or [])
        printed = b"".join(base64.b64decode(line["message"]) for line in lines)
        return printed, str(lines[-1]["timestamp"]) if lines else after

    async def log_end(self, run: Run) -> bytes:
        """The end of the job's output; raises ProviderError if dstack's store of logs cannot give it."""
        if run.job is None:
            return b""
        body = PollLogsRequest.model_validate(
            {
                "run_name": run.name,
                "job_submission_id": run.job.submission_id,
                "limit": LAST_LOG_PIECES,
                "descending": True,
            }
        )
        answer = cast("Json", await self._client.ask_project("logs/poll", body.model_dump_json()))
        lines = cast("list[Json]", answer.get("logs") or [])
        return b"".join(base64.b64decode(line["message"]) for line in reversed(lines))

    async def _pages(self, *, only_active: bool, most: int | None) -> list[Run]:
        found: list[Json] = []
        page: list[Json] = []
        while most is None or len(found) < most * PAGE:
            after = {"prev_submitted_at": page[-1]["submitted_at"], "prev_run_id": page[-1]["id"]} if page else {}
            body = ListRunsRequest.model_validate(
                {
                    "project_name": self._config.server.project,
                    "only_active": only_active,
                    "limit": PAGE,
                    "job_submissions_limit": 1,
                    **after,
                }
            )
            page = cast("list[Json]", await self._client.ask("/api/runs/list", body.model_dump_json()))
            found += page
            if len(page) < PAGE:
                break
        return [run_from_json(answer) for answer in found]

    async def _event_targets(self, **where: object) -> list[Json]:
        """The targets of the latest events that match the filter."""
        body = ListEventsRequest.model_validate({"limit": EVENTS, **where})
        answer = await self._client.ask("/api/events/list", body.model_dump_json())
        events = cast("list[Json]", answer)
        return [target for event in events for target in cast("list[Json]", event.get("targets") or [])]
