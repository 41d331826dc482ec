"""QueueService: decode, ask, encode."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc

from services.scheduler.fairness.queue_tree import InvalidQueueTreeError
from services.scheduler.fairness.settings import MOST_QUEUES, Queues, described
from services.scheduler.jobs.errors import InvalidFieldError, InvalidRequestError, JobNotFoundError, QueuesChangedError
from services.scheduler.jobs.job import UNSEEN_STATES, Job
from services.scheduler.wire.queues import change_to_proto, queue_from_proto, queue_to_proto, share_to_proto
from vocabulary.limits import DEFAULT_QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.scheduler.peers.billing import Billing
    from services.scheduler.queue.explanation import Explainer
    from services.scheduler.queue.queue_book import QueueBook
    from services.scheduler.queue.running import RunningJobs
    from services.scheduler.queue.waiting import WaitingJobs
    from services.scheduler.runs.dispatcher import Dispatcher
    from services.scheduler.store.job_store import JobStore


class QueueServicer(queues_pb2_grpc.QueueServiceServicer):
    """The servicer; `queues.proto` documents its methods."""

    def __init__(
        self,
        store: JobStore,
        book: QueueBook,
        billing: Billing,
        waiting: WaitingJobs,
        running: RunningJobs,
        dispatcher: Dispatcher,
        explainer: Explainer,
    ) -> None:
        self._store = store
        self._book = book
        self._billing = billing
        self._waiting = waiting
        self._running = running
        self._dispatcher = dispatcher
        self._explainer = explainer

    async def ListQueues(self, request: queues_pb2.ListQueuesRequest, context: object) -> queues_pb2.ListQueuesResponse:
        """Lists the queues with what each may have and has."""
        del request, context
        queues = self._book.queues
        waiting = self._counted(self._waiting_by_queue())
        running = self._counted(Counter(job.spec.queue for job in self._running.jobs()))
        return queues_pb2.ListQueuesResponse(
            queues=[
                queues_pb2.QueueStatus(
                    queue=queue_to_proto(queues.by_name[name]),
                    waiting_jobs=waiting[name],
                    running_jobs=running[name],
                    shares=self._shares(name),
                )
                for name in queues.order
            ],
            generation=self._book.generation,
        )

    async def ApplyQueues(
        self, request: queues_pb2.ApplyQueuesRequest, context: object
    ) -> queues_pb2.ApplyQueuesResponse:
        """Makes the tree as it is described, or says what would change."""
        del context
        before, generation = self._book.queues, self._book.generation
        if request.expected_generation not in {0, generation}:
            raise QueuesChangedError
        after = await self._described(request, before)
        changes = before.changed_to(after)
        if changes and not request.dry_run:
            await self._book.replace(after, generation)
            self._waiting.changed.set()
        return queues_pb2.ApplyQueuesResponse(
            changes=[change_to_proto(change) for change in changes], generation=self._book.generation
        )

    async def ExplainJob(self, request: queues_pb2.ExplainJobRequest, context: object) -> queues_pb2.ExplainJobResponse:
        """Says where a job stands and why."""
        del context
        job = await self._store.get(request.job_id) if "\0" not in request.job_id else None
        is_visible = job and (not request.account_ids or job.account_id in request.account_ids)
        if job is None or not is_visible or job.state in UNSEEN_STATES:
            raise JobNotFoundError(request.job_id)
        return self._explained(job)

    async def _described(self, request: queues_pb2.ApplyQueuesRequest, before: Queues) -> Queues:
        if len(request.queues) > MOST_QUEUES:
            raise InvalidFieldError("queues", f"are {len(request.queues)}; give at most {MOST_QUEUES}")
        names = [queue.name for queue in request.queues]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidFieldError(f"queues[{twice[0]}].name", "is given twice; describe each queue once")
        if DEFAULT_QUEUE in request.removed:
            raise InvalidFieldError("removed", f"{DEFAULT_QUEUE!r} takes the jobs that name no queue, and stays")
        gpu_types = list(await self._billing.prices_micros_per_hour())
        changed = [queue_from_proto(queue, gpu_types) for queue in request.queues]
        try:
            return Queues(described(before, changed, request.removed, prune=request.prune), gpu_types)
        except InvalidQueueTreeError as error:
            raise InvalidRequestError(
                [(fault.field, f"{fault.value!r} {fault.rule}. {fault.fix}.") for fault in error.violations]
            ) from error

    def _explained(self, job: Job) -> queues_pb2.ExplainJobResponse:
        found = self._explainer.explain(job)
        answer = queues_pb2.ExplainJobResponse(
            position=found.position,
            queue=job.spec.queue,
            ahead_in_queue=found.ahead_in_queue,
            ahead_in_others=found.ahead_in_others,
            reason=found.reason,
            remedy=found.remedy,
            machines=[
                queues_pb2.MachineRefusal(machine_id=machine_id, gpu_type=gpu_type, reason=reason)
                for machine_id, gpu_type, reason in found.machines
            ],
            shares=[share for share in self._shares(job.spec.queue) if share.gpu_type in job.spec.gpu_types],
        )
        if found.wait is not None:
            answer.eta_p50.FromTimedelta(found.wait.p50)
            answer.eta_p90.FromTimedelta(found.wait.p90)
        return answer

    def _waiting_by_queue(self) -> Counter[str]:
        numbers: Counter[str] = Counter()
        for lane, jobs in self._waiting.lanes().items():
            numbers[lane.queue] += jobs
        return numbers

    def _counted(self, numbers: Counter[str]) -> Counter[str]:
        """The numbers of each queue, with those of all below it."""
        queues, counted = self._book.queues, Counter[str]()
        for name, jobs in numbers.items():
            for queue in queues.upwards(name if name in queues.leaves else DEFAULT_QUEUE):
                counted[queue.name] += jobs
        return counted

    def _shares(self, name: str) -> Iterable[queues_pb2.QueueShare]:
        for gpu_type, states in sorted(self._dispatcher.queue_states.items()):
            if name in states:
                yield share_to_proto(gpu_type, states[name])
