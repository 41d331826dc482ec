"""QueueService: decode, ask, encode."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc

from servicekit.rpc.proto_time import instant_to_proto
from services.scheduler.fairness.queue_tree import InvalidQueueTreeError
from services.scheduler.fairness.settings import MOST_QUEUES, Queues, described
from services.scheduler.jobs.errors import InvalidFieldError, InvalidRequestError, QueuesChangedError
from services.scheduler.jobs.job import Job
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.plugins import AGE, PACK, Choices, Orderings, Placements
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.service.visible_job import visible_in_queue
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire.messages import instant_from_proto
from services.scheduler.wire.queues import (
    change_to_proto,
    classes_to_proto,
    queue_from_proto,
    queue_to_proto,
    share_to_proto,
)
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.names import known_name, none_of

MOST_REASON = 300
"""Characters; it stands in a column of a table."""


class QueueServicer(queues_pb2_grpc.QueueServiceServicer):
    """The servicer; `queues.proto` documents its methods."""

    def __init__(
        self,
        store: JobStore,
        book: QueueBook,
        billing: Billing,
        waiting: WaitingJobs,
        running: RunningJobs,
        situations: Situations,
        explainer: Explainer,
        orderings: Orderings,
        placements: Placements,
    ) -> None:
        self._store = store
        self._book = book
        self._billing = billing
        self._waiting = waiting
        self._running = running
        self._situations = situations
        self._explainer = explainer
        self._orderings = orderings
        self._placements = placements

    async def ListQueues(self, request: queues_pb2.ListQueuesRequest, context: object) -> queues_pb2.ListQueuesResponse:
        """Lists the queues with what each may have and has."""
        del request, context
        queues = self._book.queues
        waiting = queues.with_below((lane.queue, jobs) for lane, jobs in self._waiting.lanes().items())
        running = queues.with_below((job.spec.queue, 1) for job in self._running.jobs())
        pending = (job for job in self._situations.dated.jobs() if job.is_pending)
        later = queues.with_below((job.spec.queue, 1) for job in pending)
        shares = self._shares()
        return queues_pb2.ListQueuesResponse(
            queues=[
                queues_pb2.QueueStatus(
                    queue=queue_to_proto(queues.by_name[name]),
                    waiting_jobs=waiting[name],
                    running_jobs=running[name],
                    later_reservations=later[name],
                    shares=shares.get(name),
                    ordering=queues.ordering(name) or AGE,
                    placement=queues.placement(name) or PACK,
                    classes=classes_to_proto(queues.classes(name)[0]),
                    default_class=queues.classes(name)[1],
                    max_priority=queues.max_priority(name)[0],
                )
                for name in queues.order
            ],
            generation=self._book.generation,
            plugins=self._plugins(),
        )

    async def ApplyQueues(
        self, request: queues_pb2.ApplyQueuesRequest, context: object
    ) -> queues_pb2.ApplyQueuesResponse:
        """Makes the tree as it is described, or says what would change."""
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
        return self._explained(await visible_in_queue(self._store, request.account_ids, request.job_id))

    async def SetMaintenance(
        self, request: queues_pb2.SetMaintenanceRequest, context: object
    ) -> queues_pb2.SetMaintenanceResponse:
        """Begins or ends the maintenance of a GPU type."""
        gpu_types = list(await self._billing.prices_micros_per_hour())
        gpu_type, reason = known_name(request.gpu_type, gpu_types), request.reason.strip()
        if not gpu_type:
            raise InvalidFieldError("gpu_type", none_of(request.gpu_type, gpu_types))
        if request.ended:
            await self._explainer.maintenance.end(gpu_type, request.user_id)
            return queues_pb2.SetMaintenanceResponse()
        if not 0 < len(reason) <= MOST_REASON or not reason.isprintable():
            raise InvalidFieldError("reason", f"must have 1 to {MOST_REASON} printable characters; its users read it")
        until = instant_from_proto(request.until, "until") if request.HasField("until") else None
        await self._explainer.maintenance.begin(gpu_type, reason, until, request.user_id)
        return queues_pb2.SetMaintenanceResponse()

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
        for queue in changed:
            # A name that was taken before stays: without its plug-in, a queue can still be closed.
            old = before.by_name.get(queue.name)
            if old is None or old.ordering != queue.ordering:
                _check_named(f"queues[{queue.name}].ordering", queue.ordering, self._orderings.choices)
            if old is None or old.placement != queue.placement:
                _check_named(f"queues[{queue.name}].placement", queue.placement, self._placements.choices)
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
                queues_pb2.MachineRefusal(
                    machine_id=one.machine_id,
                    gpu_type=one.gpu_type,
                    reason=one.reason,
                    scores=[queues_pb2.PlacementScore(name=name, value=value) for name, value in one.scores],
                )
                for one in found.machines
            ],
            shares=[share for share in self._shares().get(job.spec.queue, ()) if share.gpu_type in job.spec.gpu_types],
            ordering=self._orderings.in_force(job.spec.queue),
            job_class=job.spec.job_class,
            class_value=self._orderings.facts(job).class_value,
            placement=self._placements.in_force(job.spec.queue, job.spec.placement),
            deadline=instant_to_proto(job.spec.deadline),
            latest_start_time=instant_to_proto(found.latest_start_time),
            estimate_basis=found.estimate_basis,
        )
        if found.wait is not None:
            answer.eta_p50.FromTimedelta(found.wait.p50)
            answer.eta_p90.FromTimedelta(found.wait.p90)
        return answer

    def _plugins(self) -> Iterator[queues_pb2.SchedulerPlugin]:
        for chosen in (self._orderings, self._placements):
            users: defaultdict[str, list[str]] = defaultdict(list)
            for queue in sorted(self._book.queues.leaves):
                users[chosen.in_force(queue)].append(queue)
            for choice in chosen.choices:
                yield queues_pb2.SchedulerPlugin(
                    kind=queues_pb2.SchedulerPluginKind.Value(f"SCHEDULER_PLUGIN_KIND_{choice.kind.upper()}"),
                    name=choice.name,
                    distribution=choice.distribution,
                    failures=choice.failures,
                    last_failure=choice.last_failure,
                    queues=users[choice.name],
                )

    def _shares(self) -> dict[str, list[queues_pb2.QueueShare]]:
        """By queue: what it may have and has of each GPU type."""
        shares: defaultdict[str, list[queues_pb2.QueueShare]] = defaultdict(list)
        for gpu_type, states in sorted(self._situations.states.items()):
            # The states are of the last pass that had jobs of the type; runs have ended since.
            used = self._situations.used(gpu_type)
            for name, state in states.items():
                shares[name].append(share_to_proto(gpu_type, state._replace(used=used.get(name, 0))))
        return shares


def _check_named(field: str, name: str, choices: Choices) -> None:
    if name and name not in choices.names:
        fix = f"{choices.setting} names the plug-ins that the scheduler has"
        raise InvalidFieldError(field, f"{none_of(name, choices.names)}; {fix}")
