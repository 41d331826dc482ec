"""`certify`: carries out its command line in one folder."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from servicekit.whole_file import write_whole
from services.executor.core.certify.conductor import Conductor
from services.executor.core.certify.journal import Journal, JournalError
from services.executor.core.certify.page import page_of
from services.executor.core.certify.performing import Performance, perform
from services.executor.core.certify.report import report_of, without_home
from services.executor.core.certify.results import ExitStatus, Outcome, exit_status
from services.executor.core.certify.sources import ROOT, sources_for
from services.executor.core.certify.steps import Choice, Section, Step
from services.executor.core.model.plain import plain
from services.executor.core.run.installation import Options
from services.executor.sandboxes.kernel_calls import die_with

RUNS = 8
QUICK_SAMPLE, QUICK_RUNS = 2, 3
_STOPPING = (signal.SIGINT, signal.SIGHUP)
_ALL_FAILED = "failed"
# Results depend on these; results of two versions of them are not put into one report.
_TREE = (
    "hipcpu",
    "problems",
    "protos",
    "servicekit",
    "services/executor",
    "tests/attacks",
    "tests/honest",
    "vocabulary",
)
_SUFFIXES = frozenset({".py", ".hip", ".cpp", ".hpp", ".h", ".toml", ".inc"})


@dataclass(frozen=True)
class Request:
    """The request of a command line. `words` is all of it; each step gets it too, so that no option is lost.

    `again` names steps to try again, or `failed`; `seconds` replaces every step's time limit.
    """

    words: Sequence[str]
    device: str
    out: Path
    choice: Choice
    runs: int
    again: Sequence[str] = ()
    seconds: float | None = None


def certify(request: Request) -> int:
    """Certifies a machine, or goes on with it; returns the exit status.

    Ctrl-C, SIGHUP and a full disk leave a folder that a later call can go on with.
    """
    subject = {"device": request.device, "tree": _tree_digest()}
    try:
        journal = Journal(request.out, subject)
        _forget(request.again, journal)
    except (JournalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return ExitStatus.BAD_USAGE
    conductor = Conductor(_child(request), request.out / "logs", journal, request.device)
    with closing(journal):
        try:
            return _conducted(request, subject, conductor)
        except OSError as error:
            sys.stderr.write(
                f"\ncertify stopped at {request.out}: {error.strerror or error}; mend that, and run the same command "
                "again\n"
            )
            return ExitStatus.NO_DEVICE


def _conducted(request: Request, subject: dict[str, str], conductor: Conductor) -> int:
    """Runs the steps and writes the report; returns the exit status. Raises OSError if the folder cannot be written."""
    wanted: list[Step] = []
    results = conductor.journal.results
    _stop_on_signals()
    try:
        wanted = conductor.run(request.choice, request.seconds)
        status = exit_status(results.values(), [step for step in wanted if step.id not in results])
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    _ignore_signals()
    _write(request, subject, conductor, wanted)
    return status


def _stop_on_signals() -> None:
    """Makes a lost terminal end certify as Ctrl-C does, but only once: nothing interrupts the writing of the report."""

    def stop(number: int, _frame: FrameType | None) -> None:
        _ignore_signals()
        if number == signal.SIGHUP:
            # Nobody reads stderr any more, and writing to it fails.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        raise KeyboardInterrupt

    for one in _STOPPING:
        # With nohup, SIGHUP is already ignored.
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, stop)


def _ignore_signals() -> None:
    for one in _STOPPING:
        signal.signal(one, signal.SIG_IGN)


async def certify_step(step: str, options: Options, runs: int, parent: int) -> int:
    """Performs one step in this process; the result is the only line of stdout."""
    die_with(parent)
    stdout = os.dup(1)
    os.dup2(2, 1)
    result = await perform(step, Performance(options, runs))
    os.write(stdout, f"{json.dumps(plain(result))}\n".encode())
    return 0


def _forget(again: Iterable[str], journal: Journal) -> None:
    """Drops the results of these steps; raises JournalError if a step has none."""
    for name in again:
        if name == _ALL_FAILED:
            failed = [step for step, result in journal.results.items() if result.outcome is Outcome.FAILED]
            journal.forget(failed)
        elif name in journal.results:
            journal.forget([name])
        else:
            raise JournalError(f"--again: {name} has no result here; name a step of result.json, or `failed`")


def _write(request: Request, subject: dict[str, str], conductor: Conductor, wanted: Sequence[Step]) -> None:
    journal = conductor.journal
    steps = conductor.steps()
    picked = wanted or request.choice.picked(steps)
    missing = sources_for(subject["device"], simulated=False).missing
    results = {step: without_home(result, str(Path.home())) for step, result in journal.results.items()}
    report = report_of(subject, results, steps, picked, missing, time.time())
    write_whole(request.out / "result.json", json.dumps(report.to_json(), indent=1).encode())
    write_whole(request.out / "report.html", page_of(report).encode())
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    sys.stderr.write(f"{counts}, {len(report.not_run)} not run; see {request.out / 'report.html'}\n")


def _child(request: Request) -> list[str]:
    # The child is told its parent. If it asked, the answer could be init, because we may be gone by then.
    added = ["--runs", str(request.runs), "--parent", str(os.getpid()), "--step"]
    return [sys.executable, "-m", "services.executor.core", *request.words, *added]


def _tree_digest() -> str:
    digest = hashlib.sha256()
    for folder in _TREE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def choice_of(only: Sequence[str], sample: int | None) -> Choice:
    """Returns the choice that `--only` and `--sample` ask for."""
    return Choice(frozenset(map(Section, only)), sample)
