"""`wavepool submit`, `watch`, `show` and `jobs`."""

from __future__ import annotations

import json
import re
import sys
import time
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from wavepool_client.commands.completion import (
    complete_gpu_type,
    complete_problem,
    complete_queue,
    complete_submission,
)
from wavepool_client.commands.options import (
    Client,
    EndpointOption,
    IdArgument,
    JsonOption,
    Shown,
    SinceOption,
    TokenOption,
    UntilOption,
    answered,
    connect,
    instant_option,
    words_of,
)
from wavepool_client.errors import InputError, RateLimitedError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.outcome import result_of, result_of_submission
from wavepool_client.submission import (
    PROFILED_MODES,
    TIMED_MODES,
    GpuRange,
    Isolation,
    MachineUse,
    Mode,
    Resources,
    Reuse,
    Submission,
    TimingMode,
)
from wavepool_client.terminal.output import notes, print_json, results, say
from wavepool_client.terminal.progress import shown_on
from wavepool_client.terminal.result_printing import print_result, table_of
from wavepool_client.text.machines import cost_text
from wavepool_client.text.narration import format_time
from wavepool_client.text.start_times import time_text
from wavepool_client.text.submission_rows import quote_rows, submission_rows
from wavepool_client.text.timing import is_measured, timing_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavepool_client.http.event_stream import Event
    from wavepool_client.outcome import Result

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LEAST_PAUSE_SECONDS = 0.1
FEW_SUBMISSIONS = 3
"""The command says how many submissions remain if they are no more than this."""
MOST_NAME = 100
"""Characters that a submission's name may have."""


class Order(StrEnum):
    """The order of a list."""

    NEWEST = "newest"
    FASTEST = "fastest"


STATES = ("queued", "provisioning", "running", "settling", "finished", "cancelled", "failed")
LaunchPlanOption = Annotated[
    Path | None, typer.Option("--launch-plan", help="JSON file with a launch plan, for a source that has only kernels.")
]
_TASK = "task.yml"
_LISTED = re.compile(
    r"""["']?name["']?\s*:\s*["']?(?P<name>[\w.-]+\.py)["']?\s*,\s*["']?source["']?\s*:\s*["']?(?P<source>[\w./-]+)"""
)
"""A file that task.yml lists."""
_NOT_OF_THE_PROBLEM = frozenset({"submission.py", "eval.py"})
ProblemDefOption = Annotated[
    Path | None,
    typer.Option(
        "--problem-def",
        help="Python file with a problem class, or a folder with KernelBot's task.yml, instead of a problem of the "
        "catalogue.",
    ),
]
TimingOption = Annotated[
    TimingMode | None,
    typer.Option(
        "--timing",
        help="How `full` and `benchmark` time calls: with cold caches, with hot ones, or each in a fresh process. "
        "Default: the device's, which is cold on GPUs and hot on a CPU.",
    ),
]
FallbackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fallback-gpu",
        metavar="TYPE",
        autocompletion=complete_gpu_type,
        help="GPU type to use if --gpu is not free. Repeatable, in order of preference. You pay for the type you get.",
    ),
]
ProfileOption = Annotated[
    bool,
    typer.Option(
        "--profile",
        help="Also profile the kernels, if the device can, and show the time of each. Profiling is charged.",
    ),
]
RequireValidOption = Annotated[
    bool,
    typer.Option(
        "--require-valid",
        help="Exit with 5 if it is accepted but its time is not VALID and does not rank.",
    ),
]
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end, or only print the id.")]
FileArgument = Annotated[Path, typer.Argument(help="The kernel's source; `-` reads standard input.")]


def submit(  # noqa: PLR0913 - an argument for each option
    file: FileArgument,
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="For you, in lists. Default: the file's name.")
    ] = None,
    problem: Annotated[
        str, typer.Option("--problem", "-p", autocompletion=complete_problem, help="The problem's slug.")
    ] = "",
    mode: Annotated[Mode, typer.Option("--mode", "-m", help="The stages to run.")] = Mode.FULL,
    gpu: Annotated[
        str,
        typer.Option(
            "--gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="GPU type. Default: the operator's.",
        ),
    ] = "",
    fallback_gpu: FallbackOption = None,
    queue: Annotated[
        str, typer.Option("--queue", autocompletion=complete_queue, help="The queue to wait in. Default: `default`.")
    ] = "",
    time_limit: Annotated[
        int | None,
        typer.Option(
            "--time-limit", metavar="SECONDS", min=1, help="End the run after this time. Default: the queue's limit."
        ),
    ] = None,
    gpus: Annotated[
        str,
        typer.Option(
            "--gpus",
            metavar="1|2|4|8",
            help="Whole GPUs on one machine (default 1). A range such as 1-4 takes as many as are free.",
        ),
    ] = "",
    fraction: Annotated[
        float | None,
        typer.Option("--fraction", metavar="PART", help="Part of one GPU, 0.1 to 1, rounded up to 1/8, 1/4, 1/2 or 1."),
    ] = None,
    gpu_memory: Annotated[
        int | None, typer.Option("--gpu-memory", metavar="MIB", help="Smallest part of a GPU with this much memory.")
    ] = None,
    devices: Annotated[
        int | None, typer.Option("--devices", metavar="NUMBER", help="Exact number of devices. Default: any.")
    ] = None,
    isolation: Annotated[
        Isolation | None,
        typer.Option(
            "--isolation",
            help="For a part of a GPU: `partition` (default); `time-slice`, shared; or `cu-mask`, shared "
            "with compute units of its own.",
        ),
    ] = None,
    job_class: Annotated[
        str, typer.Option("--class", metavar="CLASS", help="Class of the queue. Default: the queue's default class.")
    ] = "",
    placement: Annotated[
        str,
        typer.Option(
            "--placement", metavar="NAME", help="`pack` or `spread` over machines, or a plug-in. Default: the queue's."
        ),
    ] = "",
    movable: Annotated[
        bool,
        typer.Option(
            "--movable",
            help="Let the run be stopped, free of charge, and restarted elsewhere to make room for a larger one.",
        ),
    ] = False,
    priority: Annotated[
        int,
        typer.Option(
            "--priority",
            metavar="POINTS",
            min=-100,
            max=100,
            help="Higher runs earlier. Above the queue's limit (`wavepool queues`), only for administrators.",
        ),
    ] = 0,
    deadline: Annotated[
        str,
        typer.Option(
            "--deadline",
            metavar="TIME",
            help="Cancel it while it waits if it can no longer end by then: `2h` from now (s, m, h, d), or a time "
            "with a zone, such as 2026-11-01T12:00:00Z.",
        ),
    ] = "",
    reuse: Annotated[
        Reuse | None,
        typer.Option(
            "--reuse",
            help="`reuse`: an existing machine. `create`: a new machine. Default: an existing one, or a new one "
            "if none has room.",
        ),
    ] = None,
    idle: Annotated[
        int | None,
        typer.Option(
            "--idle",
            metavar="SECONDS",
            min=0,
            help="Keep its machine idle afterwards at most this long. Default: the pool's limit.",
        ),
    ] = None,
    wait_for_operator: Annotated[
        bool,
        typer.Option(
            "--wait-for-operator",
            help="Wait even if no machine can give it these GPUs until an operator changes something.",
        ),
    ] = False,
    wait_for_quota: Annotated[
        bool,
        typer.Option("--wait-for-quota", help="At a limit of your account, wait as long as it takes, and submit then."),
    ] = False,
    dtype: Annotated[
        str, typer.Option("--dtype", help="Element type, if the problem has several. Default: its first.")
    ] = "",
    launch_plan: LaunchPlanOption = None,
    problem_def: ProblemDefOption = None,
    timing: TimingOption = None,
    profile: ProfileOption = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    wait: WaitOption = True,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only check it, and say what it may cost and how long it would wait."),
    ] = False,
    require_valid: RequireValidOption = False,
) -> None:
    """Submit a kernel and show every step until the verdict."""
    if not problem and problem_def is None and mode is not Mode.SANDBOX:
        raise InputError("--problem is missing; `wavepool problems` lists them")
    if require_valid and (not wait or mode not in TIMED_MODES):
        raise InputError("--require-valid: needs --wait, and the mode `full` or `benchmark`")
    if profile and mode not in PROFILED_MODES:
        raise InputError("--profile: needs the mode `full`, `benchmark` or `check`")
    plan = plan_of(launch_plan) if launch_plan else None
    definition = definition_of(problem_def) if problem_def else ""
    fallbacks = tuple(fallback_gpu or ())
    resources = Resources(_gpus_of(gpus), fraction, gpu_memory, devices, isolation)
    submission = Submission(
        source_of(file),
        problem,
        mode,
        gpu,
        dtype,
        plan,
        definition,
        timing,
        fallbacks,
        queue,
        time_limit,
        resources,
        job_class,
        placement,
        movable,
        priority,
        deadline_of(deadline, datetime.now(UTC)) if deadline else "",
        MachineUse(reuse, idle, wait_for_operator or None),
        profile,
        _name_of(file) if name is None else name,
    )
    with connect(endpoint, token) as client:
        if dry_run:
            quote = client.dry_run(submission)
            print_json(quote) if as_json else results.print(table_of(("field", "value"), quote_rows(quote)))
            return
        sent = _sent(lambda: client.send(submission), waits=wait_for_quota)
        _see_to_end(client, sent, waits=wait, as_json=as_json, require_valid=require_valid)


def resubmit(  # noqa: PLR0913 - an argument for each option
    submission_id: IdArgument,
    *,
    mode: Annotated[Mode | None, typer.Option("--mode", "-m", help="Other stages to run.")] = None,
    gpu: Annotated[
        str, typer.Option("--gpu", metavar="TYPE", autocompletion=complete_gpu_type, help="Another GPU type.")
    ] = "",
    queue: Annotated[
        str, typer.Option("--queue", autocompletion=complete_queue, help="Another queue to wait in.")
    ] = "",
    timing: TimingOption = None,
    time_limit: Annotated[
        int | None, typer.Option("--time-limit", metavar="SECONDS", min=1, help="Another limit of the run.")
    ] = None,
    other_machine: Annotated[
        bool, typer.Option("--other-machine", help="Run on a machine that is started for it, not on the one before.")
    ] = False,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    wait: WaitOption = True,
    require_valid: RequireValidOption = False,
) -> None:
    """Submit again what a submission had, but for its deadline, and show every step until the verdict."""
    changes = {
        "mode": mode,
        "gpu_type": gpu,
        "queue": queue,
        "timing": timing,
        "time_limit_seconds": time_limit,
        "machine": {"reuse": Reuse.CREATE} if other_machine else None,
    }
    with connect(endpoint, token) as client:
        sent = client.resubmit(submission_id, **{name: value for name, value in changes.items() if value})
        _see_to_end(client, sent, waits=wait, as_json=as_json, require_valid=require_valid)


def _see_to_end(client: Client, sent: dict[str, Any], *, waits: bool, as_json: bool, require_valid: bool) -> None:
    """Follows what was sent, or only says its id."""
    submission_id = str(sent["id"])
    _warn_of_limits(sent.get("remaining_submissions"))
    if not waits:
        print_json({"id": submission_id}) if as_json else results.print(submission_id)
        return
    _finish(_followed(client, submission_id), as_json=as_json, require_valid=require_valid)


def _sent(send: Callable[[], dict[str, Any]], *, waits: bool) -> dict[str, Any]:
    """The gateway's answer to a submission, which is sent until no limit refuses it if it `waits`."""
    while True:
        try:
            return send()
        except RateLimitedError as error:
            if not waits or error.retry_after_seconds is None:
                raise
            say(f"{error}: waiting")
            time.sleep(max(_LEAST_PAUSE_SECONDS, error.retry_after_seconds))


def watch(
    submission_id: IdArgument,
    *,
    after: Annotated[int, typer.Option(min=0, help="Skip events up to this number.")] = 0,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> None:
    """Show the past and coming steps of a submission until the verdict."""
    with connect(endpoint, token) as client:
        submission_id = str(client.submission(submission_id)["id"])
        if not as_json:
            _finish(_followed(client, submission_id, after), as_json=False)
            return
        events: list[Event] = []
        for event in client.events(submission_id, after):
            events.append(event)
            print_json({"id": event.seq, **event.data})
        raise typer.Exit(result_of(submission_id, events).exit_code if events else ExitCode.ACCEPTED)


@answered
def show(gateway: Client, submission_id: IdArgument) -> Shown:
    """Show one submission, with its result once it is over."""
    job = gateway.submission(submission_id)
    yield job
    yield table_of(("field", "value"), submission_rows(job))
    if result := result_of_submission(job):
        results.print()
        print_result(result)


@answered
def jobs(  # noqa: PLR0913 - an argument for each option
    gateway: Client,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Most entries to show.")] = 20,
    problem: Annotated[
        str | None, typer.Option("--problem", "-p", autocompletion=complete_problem, help="Only this problem.")
    ] = None,
    state: Annotated[
        str, typer.Option("--state", "-s", metavar="S,…", help=f"Only these states: {', '.join(STATES)}.")
    ] = "",
    verdict: Annotated[
        str, typer.Option("--verdict", metavar="V,…", help="Only these verdicts, such as accepted,wrong_answer.")
    ] = "",
    status: Annotated[
        str, typer.Option("--status", metavar="S,…", help="Only these last statuses, such as accepted,compile_error.")
    ] = "",
    mode: Annotated[
        str, typer.Option("--mode", "-m", metavar="M,…", help=f"Only these modes: {', '.join(Mode)}.")
    ] = "",
    queue: Annotated[str, typer.Option("--queue", autocompletion=complete_queue, help="Only this queue.")] = "",
    gpu_type: Annotated[
        str,
        typer.Option(
            "--gpu-type",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="Only those that ran on it, or want it; `cpu` for those that ran on a processor.",
        ),
    ] = "",
    dtype: Annotated[str, typer.Option("--dtype", metavar="TYPE", help="Only this element type.")] = "",
    comparable_to: Annotated[
        str,
        typer.Option(
            "--comparable-to",
            metavar="ID",
            autocompletion=complete_submission,
            help="Only those that `compare` compares with this one.",
        ),
    ] = "",
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Those of all accounts, for operators and administrators.")
    ] = False,
    sort: Annotated[
        Order, typer.Option("--sort", help="`fastest`: proven times first; with --problem or --comparable-to.")
    ] = Order.NEWEST,
    since: SinceOption = "",
    until: UntilOption = "",
) -> Shown:
    """List submissions, the newest first."""
    page = gateway.submission_page(
        limit,
        problem,
        state=words_of(state.upper()),
        verdict=words_of(verdict.upper().replace("-", "_")),
        status=words_of(status.upper().replace("-", "_")),
        mode=words_of(mode.lower()),
        queue=queue,
        gpu_type=gpu_type,
        dtype=dtype,
        comparable_to=comparable_to,
        sort="" if sort is Order.NEWEST else sort,
        since=instant_option("--since", since),
        until=instant_option("--until", until),
        everybody="true" if everybody else "",
    )
    found = page["submissions"]
    yield found
    columns = ("id", "name", "problem", "mode", "on", "state", "verdict", "time", "timing", "cost", "created")
    if everybody:
        yield table_of((*columns, "account"), ((*_row(job), job.get("account_id")) for job in found))
    else:
        yield table_of(columns, map(_row, found))
    total = page.get("total")
    if isinstance(total, int) and total > len(found):
        say(f"{len(found)} of {total}; `--limit` shows more")


def deadline_of(text: str, now: datetime) -> str:
    """The time that `2h` from now or a time with its zone stands for, in UTC; raises InputError."""
    if found := _DURATION.fullmatch(text.strip()):
        try:
            instant = now + timedelta(seconds=float(found[1]) * _UNIT_SECONDS[found[2]])
        except OverflowError:
            raise InputError(f"--deadline: {text} from now is too far away; give a nearer time") from None
    else:
        instant = _zoned(text.strip())
        if instant is None:
            fix = "give a time from now, such as 90m or 2h, or a time with its zone, such as 2026-11-01T12:00:00Z"
            raise InputError(f"--deadline: is {text!r}; {fix}")
    return instant.isoformat().replace("+00:00", "Z")


def _zoned(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo else None
    except (ValueError, OverflowError):
        return None


def source_of(file: Path) -> str:
    """The text of a kernel file; raises InputError if it cannot be a kernel."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    try:
        text = data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text (byte {error.start}); is it a source file?") from error
    if not text.strip():
        raise InputError(f"{file} is empty")
    return text


def definition_of(path: Path) -> str:
    """The definition in a file, or in the files that KernelBot's task.yml lists; raises InputError.

    `definition_in` of the core (services/executor/core/commands/definition_file.py) does the same.
    """
    path = path / _TASK if path.is_dir() else path
    if path.name != _TASK:
        return source_of(path)
    task = source_of(path)
    listed = {found["name"]: found["source"] for found in _LISTED.finditer(task)}
    files = {_TASK: task, "reference.py": source_of(path.with_name(listed.pop("reference.py", "reference.py")))}
    files |= {name: source_of(path.parent / where) for name, where in listed.items() if name not in _NOT_OF_THE_PROBLEM}
    return "".join(f"# file: {name}\n{text}\n" for name, text in files.items())


def plan_of(file: Path) -> dict[str, Any]:
    """The launch plan in a file; raises InputError if it cannot be a plan."""
    try:
        plan = cast("object", json.loads(source_of(file)))
    except ValueError as error:
        raise InputError(f"{file} is not JSON: {error}") from error
    if not isinstance(plan, dict):
        raise InputError(f"{file} is not a JSON object with `launches`; docs/contracts.md has an example")
    return cast("dict[str, Any]", plan)


def _warn_of_limits(remaining: object) -> None:
    if isinstance(remaining, int) and remaining <= FEW_SUBMISSIONS:
        more = f"{remaining} more submission{'' if remaining == 1 else 's'}" if remaining else "no more submissions"
        say(f"{more} possible now; `wavepool limits` shows the limits")


def _followed(client: Client, submission_id: str, after: int = 0) -> Result:
    events: list[Event] = []
    try:
        with shown_on(notes, "Waiting for the next step") as show_event:
            for event in client.events(submission_id, after):
                events.append(event)
                show_event(event)
    except KeyboardInterrupt:
        _interrupted(client, submission_id)
    if not events:
        raise InputError(f"{submission_id} has no events after {after}; `wavepool show {submission_id}` has its result")
    return result_of(submission_id, events)


def _interrupted(client: Client, submission_id: str) -> None:
    """Cancels the submission if the person confirms it, else leaves it running; does not return."""
    if notes.is_terminal and sys.stdin.isatty() and typer.confirm("\nCancel the submission?", err=True):
        client.cancel(submission_id)
        say(f"cancelled {submission_id}")
    else:
        say(f"the submission continues; watch it again with: wavepool watch {submission_id}")
    raise typer.Exit(ExitCode.INTERRUPTED)


def _finish(result: Result, *, as_json: bool, require_valid: bool = False) -> None:
    print_json(result.as_json()) if as_json else print_result(result)
    if require_valid and result.accepted and not result.is_valid:
        raise typer.Exit(ExitCode.NOT_VALID)
    raise typer.Exit(result.exit_code)


def _row(job: dict[str, Any]) -> tuple[object, ...]:
    timing = {"timing": job.get("timing_status"), "shown_interval": job.get("shown_interval")}
    return (
        job.get("id"),
        job.get("name"),
        job.get("problem"),
        job.get("mode"),
        job.get("hardware") or job.get("gpu_type"),
        job.get("state"),
        job.get("verdict"),
        format_time(job.get("runtime_ms"), job.get("runtime_interval")) if is_measured(timing) else "-",
        timing_text(timing),
        cost_text(job.get("cost_usd"), job.get("billable_seconds")),
        time_text(job.get("create_time")),
    )


def _name_of(file: Path) -> str:
    """The file's name, as far as the gateway takes it as a name; standard input has none."""
    return "".join(filter(str.isprintable, file.name))[:MOST_NAME] if str(file) != "-" else ""


def _gpus_of(text: str) -> int | GpuRange | None:
    """The number or the range; raises InputError."""
    least, dash, most = text.strip().partition("-")
    if not text.strip():
        return None
    if not least.isdecimal() or (dash and not most.isdecimal()):
        raise InputError(f"--gpus: is {text!r}; give 1, 2, 4 or 8, or a range such as 1-4")
    return GpuRange(int(least), int(most)) if dash else int(least)
