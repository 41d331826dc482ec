"""A run as dstack's server describes it. Its words are kept as strings, so that a new one breaks nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from services.vmpool.providers.dstack.runs.name import POOL_TAG, marked_machine_id, run_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Mapping[str, Any]

TOKEN_VARIABLE = "EXECUTOR_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True)
class Address:
    """The address of an SSH server."""

    host: str
    port: int
    username: str


@dataclass(frozen=True)
class Job:
    """The latest try of the run's only job; `proxy` is set if `address` is behind another server.

    `price_dollars` is the price of the machine per hour.
    """

    submission_id: str
    status: str
    termination_reason: str = ""
    message: str = ""
    exit_status: int | None = None
    pull_percent: int | None = None
    backend: str = ""
    region: str = ""
    price_dollars: float | None = None
    address: Address | None = None
    proxy: Address | None = None


@dataclass(frozen=True)
class Run:
    """One machine's run. `message` is the server's error, if it has one."""

    run_id: str
    name: str
    status: str
    message: str = ""
    termination_reason: str = ""
    job: Job | None = None
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    token: str = field(default="", repr=False)
    deleted: bool = False

    def machine_id(self, pool_name: str) -> str | None:
        """The id of the pool's machine that it is; None if it is not ours."""
        is_of_pool = self.tags.get(POOL_TAG) == pool_name
        machine_id = marked_machine_id(self.tags, self.token)
        return machine_id if is_of_pool and machine_id and run_name(pool_name, machine_id) == self.name else None

    def is_machine(self, machine_id: str, run_id: str = "") -> bool:
        """True if it was made for that machine, whatever the pool's name, and has the `run_id` if one is given."""
        return marked_machine_id(self.tags, self.token) == machine_id and run_id in {"", self.run_id}


def run_from_json(answer: Json) -> Run:
    """The run in an answer of `runs/get` or in an element of `runs/list`."""
    spec = _part(answer, "run_spec")
    configuration = _part(spec, "configuration")
    submission = _part(answer, "latest_job_submission") or _latest_submission(answer)
    return Run(
        run_id=_text(answer, "id"),
        name=_text(spec, "run_name") or _text(configuration, "name"),
        status=_text(answer, "status"),
        message=_text(answer, "error"),
        termination_reason=_text(answer, "termination_reason"),
        job=_job_from_json(submission) if submission else None,
        tags={name: str(value) for name, value in _part(configuration, "tags").items()},
        token=_text(_part(configuration, "env"), TOKEN_VARIABLE),
        deleted=bool(answer.get("deleted")),
    )


def _job_from_json(submission: Json) -> Job:
    provisioned = _part(submission, "job_provisioning_data")
    price, exit_status = provisioned.get("price"), submission.get("exit_status")
    return Job(
        submission_id=_text(submission, "id"),
        status=_text(submission, "status"),
        termination_reason=_text(submission, "termination_reason"),
        message=_text(submission, "termination_reason_message") or _text(submission, "error"),
        exit_status=exit_status if isinstance(exit_status, int) else None,
        pull_percent=_pull_percent(_part(submission, "image_pull_progress")),
        backend=_text(provisioned, "backend"),
        region=_text(provisioned, "region"),
        price_dollars=float(price) if isinstance(price, int | float) else None,
        address=_address(provisioned, "hostname", "ssh_port"),
        proxy=_address(_part(provisioned, "ssh_proxy"), "hostname", "port"),
    )


def _latest_submission(answer: Json) -> Json:
    return _last(_last(answer, "jobs"), "job_submissions")


def _address(where: Json, host: str, port: str) -> Address | None:
    number = where.get(port)
    if not where.get(host) or not isinstance(number, int):
        return None
    return Address(_text(where, host), number, _text(where, "username"))


def _pull_percent(progress: Json) -> int | None:
    total, downloaded = progress.get("total_bytes"), progress.get("downloaded_bytes")
    if not isinstance(total, int) or not isinstance(downloaded, int) or total <= 0:
        return None
    return min(100, 100 * downloaded // total)


def _part(answer: Json, name: str) -> Json:
    part = answer.get(name)
    return cast("Json", part) if isinstance(part, dict) else {}


def _last(answer: Json, name: str) -> Json:
    elements = answer.get(name)
    last = cast("list[object]", elements)[-1] if isinstance(elements, list) and elements else None
    return cast("Json", last) if isinstance(last, dict) else {}


def _text(answer: Json, name: str) -> str:
    value = answer.get(name)
    return "" if value is None else str(value)
