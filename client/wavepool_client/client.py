"""The Python client: submits kernels, follows them, and reads results from the gateway.

>>> from wavepool_client import Client
>>> with Client("http://127.0.0.1:8080", token) as client:
...     result = client.submit_hip_kernel(code, "leaky-relu", on_event=print)
...     print(result.status, result.avg_runtime_ms)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavepool_client.errors import InputError
from wavepool_client.http.gateway_client import MOST_ON_A_PAGE, SUBMISSIONS, GatewayClient
from wavepool_client.outcome import Result, result_of
from wavepool_client.submission import MachineUse, Mode, Resources, Submission, TimingMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wavepool_client.http.event_stream import Event
    from wavepool_client.http.retries import Retries

ENDED_STATES = frozenset({"FINISHED", "CANCELLED", "FAILED"})


class Client(GatewayClient):
    """A synchronous client of one gateway. Methods raise WavepoolError; `wavepool_client.errors` shows the tree.

    If `endpoint` and `token` are not given, they come from WAVEPOOL_ENDPOINT and WAVEPOOL_TOKEN, then from the profile
    that WAVEPOOL_PROFILE names or that is the current one, then from the files of `wavepool up` in `.wavepool/`.
    """

    def submit_hip_kernel(  # noqa: PLR0913 - an argument for each option
        self,
        code: str,
        problem: str = "",
        *,
        mode: str = "full",
        gpu_type: str = "",
        dtype: str = "",
        launch_plan: dict[str, Any] | None = None,
        problem_def: str = "",
        timing: str | None = None,
        fallback_gpu_types: Sequence[str] = (),
        queue: str = "",
        time_limit_seconds: int | None = None,
        resources: Resources | None = None,
        job_class: str = "",
        placement: str = "",
        movable: bool = False,
        priority: int = 0,
        deadline: str = "",
        machine: MachineUse | None = None,
        profile: bool = False,
        name: str = "",
        on_event: Callable[[Event], None] | None = None,
    ) -> Result:
        """Submits `code` for `problem`, waits for the end and returns the result; `on_event` receives every step.

        With a `launch_plan`, `code` is kernels only; `problem_def` is the Python source of a problem class that
        replaces the catalogue's problem (docs/contracts.md has both). `timing` is "cold", "hot" or "first-call";
        without it the device uses its default (docs/timing.md). An empty `gpu_type` is the operator's default, an empty
        `dtype` the problem's first element type, an empty `queue` the queue `default`. A run that takes longer than
        `time_limit_seconds` is ended, and credit is held for that time; without it the queue's limit applies.
        `job_class` is a class of the queue and `placement` how the machine is chosen, "pack" or "spread"; without them
        the queue decides. A higher `priority`, from -100 to 100, goes earlier; above what the queue allows it takes an
        administrator's token. With a `deadline`, a time with its zone such as "2026-11-01T12:00:00Z", it is cancelled
        if it still waits when it can no longer end by then. `machine` says which machines it may run on; without it any
        will do. A `movable` run may be stopped, and start again elsewhere, for a larger one; nothing is charged for
        what was stopped. Without `resources` it takes one whole GPU. If no machine of `gpu_type` is free, one of the
        `fallback_gpu_types` is taken, in their order, and its price applies. With `profile` its kernels are profiled
        once verdict and timing are known; `result.data["profile"]` has them (docs/profiling.md), and that time is
        charged, too. A broken connection is resumed at the same event. Leaving early (an exception, Ctrl-C) cancels
        nothing. Lists show the `name`.
        """
        submission = Submission(
            code,
            problem,
            _mode(mode),
            gpu_type,
            dtype,
            launch_plan,
            problem_def,
            _timing_mode(timing) if timing else None,
            tuple(fallback_gpu_types),
            queue,
            time_limit_seconds,
            resources or Resources(),
            job_class,
            placement,
            movable,
            priority,
            deadline,
            machine or MachineUse(),
            profile,
            name,
        )
        submission_id = self.submit(submission)
        return self.wait_for(submission_id, on_event)

    def get_orchestrator_metrics(self) -> dict[str, Any]:
        """Costs, credits, task counts and machines, from `GET /api/amd/metrics`."""
        return self._transport.call("GET", "/api/amd/metrics")

    def submit(self, submission: Submission) -> str:
        """Submits a kernel and returns the id of the submission at once; see `send`."""
        return str(self.send(submission)["id"])

    def send(self, submission: Submission) -> dict[str, Any]:
        """Submits a kernel and returns the submission at once, with the `remaining_submissions` of the account.

        If the answer is lost, or a service is just restarting, this retries for a while; the idempotency key makes sure
        that there is only one submission.
        """
        return self.once(SUBMISSIONS, body=submission.as_json())

    def dry_run(self, submission: Submission) -> dict[str, Any]:
        """What a submission would put on hold and how long it would wait; it is checked and not made."""
        return self.ask("POST", SUBMISSIONS, "quote", body=submission.as_json())

    def resubmit(self, submission_id: str, **changes: object) -> dict[str, Any]:
        """Submits what a submission had once more, as `send` does; `changes` are fields of the body to replace.

        In another queue, that one's class, placement and time limit apply unless they are among the changes.
        """
        submission = self.submission(submission_id)
        if submission.get("own") is False:
            how = f"`wavepool show {submission_id} --json | jq -r .code` has its code, which you can submit"
            raise InputError(f"{submission_id} is another user's; {how}")
        request = submission.get("request")
        if not isinstance(request, dict):
            raise InputError("this gateway has an earlier version of Wavepool, which cannot submit one again")
        body: dict[str, Any] = {**request}
        if changes.get("queue", body.get("queue")) != body.get("queue"):
            for of_the_queue in ("class", "placement", "time_limit_seconds"):
                body.pop(of_the_queue, None)
        if isinstance(use := changes.get("machine"), dict):
            changes["machine"] = {**(body.get("machine") or {}), **use}
        body |= changes
        body["fallback_gpu_types"] = [one for one in body.get("fallback_gpu_types", ()) if one != body.get("gpu_type")]
        return self.once(SUBMISSIONS, body=body)

    def wait_for(self, submission_id: str, on_event: Callable[[Event], None] | None = None) -> Result:
        """Follows a submission to its end and returns the result."""
        events: list[Event] = []
        for event in self.events(submission_id):
            events.append(event)
            if on_event is not None:
                on_event(event)
        return result_of(submission_id, events)

    def events(self, submission_id: str, after: int = 0, retries: Retries | None = None) -> Iterator[Event]:
        """Yields the events after number `after`, as they come, until the submission is over."""
        return self.followed(
            SUBMISSIONS,
            submission_id,
            "events",
            is_over=lambda: self.submission(submission_id).get("state") in ENDED_STATES,
            after=after,
            retries=retries,
        )

    def submission(self, submission_id: str) -> dict[str, Any]:
        """One submission as it is now."""
        return self.ask("GET", SUBMISSIONS, submission_id)

    def submissions(
        self,
        limit: int = 20,
        problem: str | None = None,
        **wanted: Any,  # noqa: ANN401 - words and lists of words
    ) -> list[dict[str, Any]]:
        """The newest submissions of the account; `wanted` as `GET /api/v1/submissions` takes it, such as a `state`."""
        return list(self.submission_page(limit, problem, **wanted)["submissions"])

    def submission_page(
        self,
        limit: int = 20,
        problem: str | None = None,
        **wanted: Any,  # noqa: ANN401 - words and lists of words
    ) -> dict[str, Any]:
        """The same as `submissions`, and as `total` how many there are; None if the gateway does not say."""
        return self.ask("GET", SUBMISSIONS, page_size=limit, problem=problem, **wanted)

    def all_submissions(self, **wanted: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as above
        """All submissions of the account, newest first; `wanted` as in `submissions`."""
        return self.listed(SUBMISSIONS, SUBMISSIONS, page_size=MOST_ON_A_PAGE, **wanted)

    def cancel(self, submission_id: str) -> dict[str, Any]:
        """Ends a submission in any state; cancelling one that is over changes nothing."""
        return self.ask("POST", SUBMISSIONS, submission_id, "cancel")

    def change_submission(self, submission_id: str, **changes: str) -> dict[str, Any]:
        """Changes a submission's `name`, or its `visibility`: `private`, `link` or `public`."""
        return self.ask("PATCH", SUBMISSIONS, submission_id, body=changes)

    def gpu_types(self) -> list[dict[str, Any]]:
        """The GPU types that can be asked for, the default one first, each with its price per hour."""
        return list(self.ask("GET", "gpu-types")["gpu_types"])

    def problems(self, gpu_type: str = "", dtype: str = "") -> list[dict[str, Any]]:
        """The problems of the catalogue, with what you have reached; times of a GPU type and an element type."""
        return list(self.ask("GET", "problems", gpu_type=gpu_type, dtype=dtype)["problems"])

    def problem(self, slug: str, dtype: str = "") -> dict[str, Any]:
        """One problem with its statement; signature and starter are in `dtype`, or its first element type if empty."""
        return self.ask("GET", "problems", slug, dtype=dtype)

    def signed_report(self, submission_id: str) -> dict[str, Any]:
        """The DSSE envelope with the report of a submission that is over."""
        return self.ask("GET", SUBMISSIONS, submission_id, "report")

    def isa(self, submission_id: str) -> dict[str, Any]:
        """The MI300X compiler's report on a submission that was compiled; `listing` has the instructions."""
        return self.ask("GET", SUBMISSIONS, submission_id, "isa")

    def samples(self, submission_id: str, test_id: int | None = None) -> dict[str, Any]:
        """The samples of a submission that was measured, by session, of all its test cases or of one."""
        return self.ask("GET", SUBMISSIONS, submission_id, "samples", test_id=test_id)

    def machines(self, *, include_ended: bool = False) -> list[dict[str, Any]]:
        """The machines of the pool."""
        return list(self.ask("GET", "machines", include_ended=include_ended)["machines"])

    def limits(self) -> dict[str, Any]:
        """How many submissions the account may make now, with the limits and their use."""
        return self.ask("GET", "limits")

    def costs(self) -> dict[str, Any]:
        """The account's balance and its postings."""
        return self.ask("GET", "costs")

    def prices(self) -> dict[str, Any]:
        """The prices of now, with their currency."""
        return self.ask("GET", "prices")

    def set_price(self, price: Mapping[str, Any]) -> dict[str, Any]:
        """Sets a price, as in `POST /api/v1/prices`, and returns its period. This takes an administrator's token."""
        return self.ask("POST", "prices", body=price)

    def price_history(self, gpu_type: str = "") -> list[dict[str, Any]]:
        """The prices of the past, of now, and of the time to come."""
        return list(self.ask("GET", "prices", "history", gpu_type=gpu_type)["periods"])

    def quote(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """What GPU time costs at the prices of now; `query` has the parameters of `GET /api/v1/quote`."""
        return self.ask("GET", "quote", **query)

    def projections(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """What GPU time will cost; `query` has the parameters of `GET /api/v1/billing/projections`."""
        return self.ask("GET", "billing", "projections", **query)

    def rankings(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """The best proven time of each user; `query` has the parameters of `GET /api/v1/rankings`."""
        return self.ask("GET", "rankings", **query)

    def job_metrics(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """What became of jobs that are over; `query` has the parameters of `GET /api/v1/metrics/jobs`."""
        return self.ask("GET", "metrics", "jobs", **query)

    def queue_metrics(self) -> dict[str, Any]:
        """What waits and runs now, by queue and GPU type."""
        return self.ask("GET", "metrics", "queues")

    def comparison(self, base: str, other: str) -> dict[str, Any]:
        """If the other submission's kernel is faster than the base's, with intervals."""
        return self.ask("GET", "comparisons", base=base, other=other)


def _mode(word: str) -> Mode:
    if word not in set(Mode):
        raise InputError(f"mode: {word!r} is not valid; choose {', '.join(Mode)}")
    return Mode(word)


def _timing_mode(word: str) -> TimingMode:
    if word not in set(TimingMode):
        raise InputError(
            f"timing: {word!r} is not valid; choose {', '.join(TimingMode)}, or omit it for the device's default"
        )
    return TimingMode(word)
