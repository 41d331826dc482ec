"""Hides the ids of other accounts' jobs and reservations: the pool's texts about machines contain all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.http.errors import ProblemError
from gateway.submissions import account_jobs

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2 import Machine

    from gateway.auth import Caller
    from gateway.upstreams import Upstreams

JOB_ID = re.compile(r"(?:job|res)_[0-9A-Z]+")
_RESERVATION = "res_"
HIDDEN = "(of another account)"


class VisibleJobs:
    """The jobs whose ids a caller may see: those of the caller's accounts, or all of them for an administrator."""

    def __init__(self, upstreams: Upstreams, account: Caller) -> None:
        self._upstreams = upstreams
        self._account = account
        self._visible: dict[str, bool] = {}

    async def shown(self, text: str) -> str:
        """The text, with the id of every other job hidden, and of every reservation."""
        if self._account.admin:
            return text
        for job_id in set(JOB_ID.findall(text)):
            if not await self._is_visible(job_id):
                text = re.sub(rf"{job_id}\b", HIDDEN, text)
        return text

    async def hide_others(self, machine: Machine) -> Machine:
        """Hides other accounts' jobs, and reservations; changes the machine and gives it back."""
        machine.reason = await self.shown(machine.reason)
        machine.reservation_ids[:] = [await self.shown(one) for one in machine.reservation_ids]
        return machine

    async def _is_visible(self, job_id: str) -> bool:
        if job_id.startswith(_RESERVATION):
            return False
        if job_id not in self._visible:
            try:
                await account_jobs.job_of(self._upstreams, self._account, job_id)
            except ProblemError:
                # Also if the scheduler is away: an id that may belong to another account stays hidden.
                self._visible[job_id] = False
            else:
                self._visible[job_id] = True
        return self._visible[job_id]
