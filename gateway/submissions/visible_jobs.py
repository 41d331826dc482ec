"""Hides the ids of other accounts' jobs and reservations: the pool's texts about machines contain the ids of all."""

from __future__ import annotations

import re

import grpc
from wavepool.scheduler.v1.reservations_pb2 import GetReservationRequest
from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.auth import Caller
from gateway.http.errors import ProblemError
from gateway.submissions import account_jobs
from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams
from vocabulary.names import JOB_ID

HIDDEN = "(of another account)"


class VisibleJobs:
    """The jobs and reservations whose ids a caller may see: those of their accounts, or an administrator's: all."""

    def __init__(self, upstreams: Upstreams, account: Caller) -> None:
        self._upstreams = upstreams
        self._account = account
        self._visible: dict[str, bool] = {}

    async def shown(self, text: str) -> str:
        """The text, with the ids of all others hidden."""
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
        if job_id not in self._visible:
            try:
                await self._found(job_id)
            except (ProblemError, grpc.aio.AioRpcError):
                # Also if the scheduler is away: an id that may belong to another account stays hidden.
                self._visible[job_id] = False
            else:
                self._visible[job_id] = True
        return self._visible[job_id]

    async def _found(self, job_id: str) -> None:
        """Raises ProblemError or AioRpcError if it is not an account of the caller's."""
        if job_id.startswith("job_"):
            await account_jobs.job_of(self._upstreams, self._account, job_id)
            return
        request = GetReservationRequest(account_ids=sorted(self._account.visible_account_ids), reservation_id=job_id)
        await self._upstreams.reservations.GetReservation(request, timeout=CALL_TIMEOUT_SECONDS)
