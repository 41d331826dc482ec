"""Turns submissions into jobs in the queue.

A submission is a row before its credit is put on hold, so an unused hold is always found: the caller's next try
continues with the row, or the rescuer gives the hold back and deletes the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from wavepool.scheduler.v1.reservations_pb2 import CreateReservationRequest, QuoteReservationRequest
from wavepool.scheduler.v1.scheduler_pb2 import SubmitJobRequest

from problems.kit.definition import Problem
from problems.library.aliases import resolved_slug
from servicekit.cancellation import uncut
from servicekit.clock import Clock, new_id
from servicekit.request_id import current_request_id
from services.scheduler import metrics
from services.scheduler.jobs.allowance import Allowance, SubmissionLimits
from services.scheduler.jobs.errors import (
    BillingUnreachableError,
    ClassNotAllowedError,
    CreditRefusedError,
    IdempotencyKeyReusedError,
    InvalidFieldError,
    PriorityNotAllowedError,
    SchedulerError,
    StaleJobError,
    TooManyJobsError,
    TooManySubmissionsError,
)
from services.scheduler.jobs.gpu_choice import in_our_names
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import UNSEEN_STATES, JobState
from services.scheduler.jobs.submission_checks import (
    admit,
    deadline_of,
    fingerprint,
    time_limit_seconds,
    wrong_deadline,
)
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.forecast import Forecast, Standing
from services.scheduler.queue.plugins import Placements
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.money import price_of
from vocabulary.names import none_of

_WAIT_FOR_OPERATOR = "To wait until an operator changes that, set machine.wait_for_operator (`--wait-for-operator`)."
Request = SubmitJobRequest | CreateReservationRequest | QuoteReservationRequest


@dataclass(frozen=True)
class AdmissionPolicy:
    """The submissions that are accepted, and the limits that apply to them."""

    problems: Mapping[str, Problem]
    """Problems of the catalogue by slug."""
    limits: SubmissionLimits
    """The limits of each account, for every submitter: a loop by mistake is as likely in an operator's script."""
    longest_run: timedelta
    """The time that a job's hold pays for."""
    gpu_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our GPU types for names that other clients send."""


@dataclass(frozen=True)
class SubmissionQuote:
    """A job that was checked and priced, and not stored; how long it would wait, and what its account may submit."""

    job: Job
    standing: Standing
    allowance: Allowance


class Admission:
    """Turns submissions into jobs."""

    def __init__(
        self,
        store: JobStore,
        billing: Billing,
        waiting: WaitingJobs,
        dated: DatedBook,
        book: QueueBook,
        forecast: Forecast,
        clock: Clock,
        policy: AdmissionPolicy,
        placements: Placements,
        explainer: Explainer,
    ) -> None:
        self._store = store
        self._billing = billing
        self._waiting = waiting
        self._dated = dated
        self._book = book
        self._forecast = forecast
        self._clock = clock
        self._policy = policy
        self._placements = placements
        self._explainer = explainer

    async def submit(self, request: SubmitJobRequest) -> tuple[Job, Allowance]:
        """The job in the queue, or the earlier job with the same key, and what its account may still submit.

        Finishes even if the caller hangs up. Raises the errors of `admit`, UnknownQueueError, QueueClosedError,
        PriorityNotAllowedError, ClassNotAllowedError, IdempotencyKeyReusedError, TooManyJobsError,
        TooManySubmissionsError, CreditRefusedError, BillingUnreachableError.
        """
        return await self.enter(await self._checked(request))

    async def quote(self, request: SubmitJobRequest) -> SubmissionQuote:
        """Checks and prices a submission; raises as `submit`, but for keys and limits of numbers."""
        keyed = SubmitJobRequest(idempotency_key=new_id("quote"))
        keyed.MergeFrom(request)
        draft = await self._checked(keyed)
        held = await self._billing.quote(draft)
        job = draft.priced(held.amount_micros, held.prices_micros_per_hour)
        standing = self._forecast.standing(job, is_promise=False)
        return SubmissionQuote(job, standing, await self.allowance(request.account_id))

    async def _checked(self, request: SubmitJobRequest) -> Job:
        """The draft of a submission that some machine can take, now or later."""
        draft = await self._draft(request)
        if not draft.spec.waits_for_operator:
            await self._explainer.ask_pool([draft])
            why, unpaid = self._explainer.never(draft), self._explainer.never_paid(draft)
            # A repeat gets the first job, whatever can be had by then.
            if (why or unpaid) and not await self.is_repeated(request.account_id, request.idempotency_key):
                # Both say what an operator would have to change.
                if why:
                    raise _impossible(_size_field(request), f"{why} {_WAIT_FOR_OPERATOR}")
                raise CreditRefusedError(f"{unpaid} {_WAIT_FOR_OPERATOR}")
            # Without torch, the catalogue's problem is used in place of a definition of it.
            if resolved_slug(draft.spec.submission.problem, self._policy.problems) is None:
                await self._check_definition(request, draft)
        return draft

    async def _check_definition(self, request: SubmitJobRequest, draft: Job) -> None:
        """Raises InvalidFieldError if nothing here can evaluate the definition: a user would only see it fail."""
        why = self._explainer.without_torch(draft)
        if why and not await self.is_repeated(request.account_id, request.idempotency_key):
            raise _impossible("spec.submission.problem_definition", why)

    async def enter(self, draft: Job) -> tuple[Job, Allowance]:
        """A draft's job in the queue, or the earlier job with the same key; see `submit`."""
        return await uncut(self._submit(draft))

    def check_possible(self, job: Job, field: str) -> None:
        """Raises InvalidFieldError if nothing that there is, or that the pool may start, can give a job its GPUs.

        Raises CreditRefusedError if the pool has no money to start it.
        """
        if why := self._explainer.never(job):
            raise _impossible(field, why)
        if unpaid := self._explainer.never_paid(job):
            raise CreditRefusedError(unpaid)

    async def is_repeated(self, account_id: str, key: str) -> bool:
        """True if the account has used the key before."""
        return bool(key) and await self._store.has_key(account_id, key)

    async def allowance(self, account_id: str) -> Allowance:
        """What the account may submit now."""
        return await self._store.allowance(account_id, self._policy.limits, self._clock.now())

    async def _draft(self, request: SubmitJobRequest) -> Job:
        prices = await self._billing.prices_micros_per_hour()
        if self._policy.gpu_names:
            request = in_our_names(request, self._policy.gpu_names)
        spec = admit(request, self._policy.problems, list(prices))
        queue = self._book.taking_jobs(request.spec.queue)
        limit = self._book.longest_run(queue, self._policy.longest_run)
        class_name, job_class = self._book.job_class(queue, request.spec.job_class)
        spec = replace(
            spec,
            queue=queue,
            time_limit_seconds=time_limit_seconds(request, queue, limit),
            job_class=class_name,
            placement=self._placement(request),
            deadline=deadline_of(request),
        )
        if job_class.administrators_only and not await self._is_administrator(request):
            raise ClassNotAllowedError(request.spec.job_class)
        await self.check_priority(spec.priority, queue, request)
        now = self._clock.now()
        fault = wrong_deadline(spec, now, self._policy.longest_run)
        # A repeat gets the first job, however late it comes.
        if fault and not await self._store.has_key(request.account_id, request.idempotency_key):
            raise InvalidFieldError("spec.deadline", fault)
        price, *fallback_prices = [prices[gpu_type] for gpu_type in spec.gpu_types]
        return Job(
            job_id=new_id("job"),
            account_id=request.account_id,
            user_id=request.user_id,
            idempotency_key=request.idempotency_key,
            fingerprint=fingerprint(spec, request.spec),
            spec=spec,
            state=JobState.RESERVING,
            create_time=now,
            price_micros_per_hour=price,
            fallback_prices_micros_per_hour=tuple(fallback_prices),
            hold_micros=price_of(
                spec.longest_run(self._policy.longest_run),
                max((price, *fallback_prices)),
                eighths=spec.resources.eighths,
            ),
            has_definition=bool(spec.submission.problem_definition),
            request_id=current_request_id(),
        )

    async def check_priority(self, priority: int, queue: str, request: Request) -> None:
        """Raises PriorityNotAllowedError if the priority is above what the caller may have in the queue."""
        most, said_by = self._book.queues.max_priority(queue, request.account_id)
        if priority > most and not await self._is_administrator(request):
            raise PriorityNotAllowedError(priority, most, queue, said_by)

    async def _is_administrator(self, request: Request) -> bool:
        # Billing knows the users. A right that callers could claim themselves would be everybody's.
        return await self._billing.is_administrator(request.user_id)

    def _placement(self, request: SubmitJobRequest) -> str:
        asked = request.spec.placement.strip()
        if asked and asked not in self._placements.choices.names:
            raise InvalidFieldError("spec.placement", none_of(asked, self._placements.choices.names))
        return asked

    async def _submit(self, draft: Job) -> tuple[Job, Allowance]:
        try:
            return await self._entered(draft)
        except BillingUnreachableError:
            # The row stays for the caller's next try, and with it what is kept for it.
            raise
        except SchedulerError:
            self._dated.remove(draft.job_id)
            raise

    async def _entered(self, draft: Job) -> tuple[Job, Allowance]:
        job, allowance = await self._store.insert(draft, self._policy.limits, self._book.most_of_user(draft.spec.queue))
        if job is None:
            raise self._refusal(draft, allowance)
        if job.job_id != draft.job_id:
            self._dated.remove(draft.job_id)
        if job.fingerprint != draft.fingerprint:
            raise IdempotencyKeyReusedError(job.idempotency_key or "")
        if job.state is not JobState.RESERVING:
            return job, allowance
        return await self._enqueue(job, allowance.remaining), allowance

    def _refusal(self, draft: Job, allowance: Allowance) -> SchedulerError:
        limits = allowance.limits
        if allowance.is_hour_used_up and allowance.renew_after is not None:
            return TooManySubmissionsError(
                limits.submissions_per_hour, allowance.submissions, allowance.renew_after, draft.create_time
            )
        return TooManyJobsError(limits.jobs_in_flight, allowance.jobs_in_flight, self._forecast.next_end())

    async def _enqueue(self, job: Job, remaining: int) -> Job:
        try:
            hold = await self._billing.reserve(job)
        except (CreditRefusedError, InvalidFieldError):
            await self._store.delete(job)
            raise
        job_with_hold = job.priced(hold.amount_micros, hold.prices_micros_per_hour).enqueue(hold.hold_id)
        try:
            job = await self._store.move(job, job_with_hold, [self._first_event(job, remaining)], self._clock.now())
        except StaleJobError:
            return await self._enqueued_by_another(job, hold.hold_id)
        if job.is_pending:
            self._dated.put(job)
        else:
            if self._explainer.is_doubtful(job):
                self._waiting.doubtful.add(job.job_id)
            self._waiting.put(job)
        if job.reservation:
            self._forecast.reservation_is_made(job)
        metrics.jobs_submitted.inc()
        return job

    def _first_event(self, job: Job, remaining: int) -> bytes:
        if job.is_dated:
            return payloads.pending(job.reserved)
        standing = self._forecast.standing(job)
        unknown = f". How long it waits is not known: {standing.unknown}" if standing.unknown else ""
        message = f"In the queue at position {standing.position}{unknown}"
        return payloads.queued(standing.position, standing.wait, message, remaining)

    async def _enqueued_by_another(self, job: Job, hold_id: str) -> Job:
        row = await self._store.get(job.job_id)
        if row is None or row.state in UNSEEN_STATES:
            # The rescuer gave this try up, or billing refused another one of the same key. Nobody else may know of the
            # hold. The next try finds the key free.
            await self._billing.settle(job, hold_id)
            raise BillingUnreachableError
        return row


def _impossible(field: str, why: str) -> InvalidFieldError:
    return InvalidFieldError(field, f"cannot be had here. {why}")


def _size_field(request: SubmitJobRequest) -> str:
    """The field in which a request says how much of a machine it wants, or if it does not, which."""
    asked = request.spec.resources
    named = (f"spec.resources.{name}" for name in ("gpus", "fraction", "memory_mib", "devices") if getattr(asked, name))
    return next(named, "spec.gpu_type")
