"""`make demo`: starts a Wavepool on free ports, submits a right and a wrong kernel over HTTP, and shows both results.

With `--at URL`, and an API token in WAVEPOOL_TOKEN, it submits them to a Wavepool there (`make demo-compose`).

The last line is one JSON object: `{"accepted": {...}, "wrong": {...}, "metrics": {...}}`, with the most important
fields, or all of them with `--json`. The exit status is 0 only if the right kernel is accepted and the wrong one is
found wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cli.local.program import StartError
from cli.local.stack import Ports, Stack
from cli.local.supervisor import running
from wavepool_client.errors import WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import TOKEN_FILE, Connection
from wavepool_client.http.event_stream import follow
from wavepool_client.http.retries import Retries
from wavepool_client.http.transport import Transport
from wavepool_client.outcome import result_of
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.progress import shown_on
from wavepool_client.terminal.result_printing import origin_notes, table_of
from wavepool_client.text.machines import cost_text, dollars_text
from wavepool_client.text.narration import mean_text
from wavepool_client.text.timing import timing_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavepool_client.http.event_stream import Event
    from wavepool_client.outcome import Result

PROBLEM = "leaky-relu"
READY_SECONDS = 90.0
GRACE_SECONDS = 10.0
GIVE_UP_SECONDS = 20.0
RIGHT = Path(__file__).parents[1] / "problems" / "catalogue" / PROBLEM / "solution.hip"
WRONG = Path(__file__).with_name("demo_wrong.hip")

SHORT = {
    "accepted": ("status", "passed_tests", "avg_runtime_ms", "cost_usd"),
    "wrong": ("status", "passed_tests"),
    "metrics": ("tasks_completed", "cold_starts", "total_cost_usd", "charged_usd"),
}
"""The fields of the last line without `--json`."""


@dataclass(frozen=True)
class Attempt:
    """One kernel, and the status that it should end with."""

    name: str
    kernel: Path
    expected: str


ATTEMPTS = (Attempt("accepted", RIGHT, "ACCEPTED"), Attempt("wrong", WRONG, "WRONG_ANSWER"))


class Demo:
    """Submits by the seed-compatible route, which answers with the event stream."""

    def __init__(self, connection: Connection) -> None:
        self._transport = Transport(connection)

    def close(self) -> None:
        """Ends `run` at any point."""
        self._transport.close()

    def run(self) -> dict[str, Any]:
        """Submits all kernels, shows the results, and returns the object for the last line."""
        outcomes: dict[str, Result] = {}
        seconds: dict[str, float] = {}
        for attempt in ATTEMPTS:
            results.print(f"\n[bold]{attempt.kernel.name}[/bold] for {PROBLEM}, expected {attempt.expected}")
            start = time.monotonic()
            outcomes[attempt.name] = self._submit(attempt.kernel)
            seconds[attempt.name] = time.monotonic() - start
        metrics = self._transport.call("GET", "/api/amd/metrics")
        _print_table(outcomes, seconds)
        results.print(_cost_of(metrics), markup=False)
        return {**{name: _summary(result) for name, result in outcomes.items()}, "metrics": metrics}

    def _submit(self, kernel: Path) -> Result:
        body = {
            "solution_code": kernel.read_text(encoding="utf-8"),
            "problem": PROBLEM,
            "problem_def": "",
            "language": "hip",
            "endpoint": "full",
            "submission_id": uuid.uuid4().hex,
        }
        events: list[Event] = []

        def open_stream(after: int) -> Iterator[Event]:
            """Submits again until an event brings the id, which is safe with the idempotency key; then resumes."""
            if not events:
                return self._transport.stream("POST", "/api/amd/submit", body=body)
            return self._transport.stream("GET", f"/api/v1/submissions/{events[0].data['id']}/events", after=after)

        def is_over() -> bool:
            if not events:
                return False
            job = self._transport.call("GET", f"/api/v1/submissions/{events[0].data['id']}")
            return job.get("status") is not None

        with shown_on(results, "Submitting") as show:
            for event in follow(open_stream, is_over, 0, Retries(GIVE_UP_SECONDS)):
                events.append(event)
                show(event)
        return result_of("", events)


def _print_table(outcomes: dict[str, Result], seconds: dict[str, float]) -> None:
    rows = [
        (
            attempt.kernel.name,
            outcomes[attempt.name].status,
            f"{outcomes[attempt.name].passed_tests}/{outcomes[attempt.name].total_tests}",
            timing_text(outcomes[attempt.name].data),
            mean_text(outcomes[attempt.name].data),
            f"{seconds[attempt.name]:.1f} s",
            cost_text(outcomes[attempt.name].cost_usd or 0, outcomes[attempt.name].billable_seconds),
        )
        for attempt in ATTEMPTS
    ]
    results.print()
    results.print(
        table_of(("kernel", "status", "tests", "timing", "mean time of a call", "submit to verdict", "cost"), rows)
    )
    for note in dict.fromkeys(note for result in outcomes.values() for note in origin_notes(result)):
        results.print(note)


def _cost_of(metrics: dict[str, Any]) -> str:
    """What machines cost beside what users were charged, and why the two differ if one is nothing."""
    cost, charged = (dollars_text(metrics.get(name)) for name in ("total_cost_usd", "charged_usd"))
    note = metrics.get("cost_note")
    return f"machines cost {cost}, users were charged {charged}{f': {note}' if note else ''}"


def short(report: dict[str, Any]) -> dict[str, Any]:
    """The most important fields of the report."""
    return {part: {name: report[part].get(name) for name in names} for part, names in SHORT.items()}


def _summary(result: Result) -> dict[str, Any]:
    """The result without the single samples, which would fill screens."""
    fields = result.as_json()
    return {key: _without_samples(value) for key, value in fields.items() if value not in ("", None)}


def _without_samples(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    if isinstance(value, list):
        return [_without_samples(entry) for entry in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: _without_samples(entry) for key, entry in value.items() if key != "runs"}  # pyright: ignore[reportUnknownVariableType]
    return value


def _run_at(endpoint: str, token: str) -> dict[str, Any]:
    demo = Demo(Connection(endpoint, token))
    try:
        return demo.run()
    finally:
        demo.close()


async def _main(data_dir: Path) -> dict[str, Any]:
    stack = Stack(data_dir, Ports.free())
    stack.logs.mkdir(parents=True)
    results.print("starting billing, vmpool, scheduler and gateway on free loopback ports")
    async with running(stack.programs(), results.print, GRACE_SECONDS) as supervisor:
        await supervisor.wait_until_ready(READY_SECONDS)
        for program in stack.programs():
            results.print(f"  {program.name:<10} {program.address}")
        token = (data_dir / TOKEN_FILE).read_text(encoding="utf-8").strip()
        return await asyncio.to_thread(_run_at, stack.endpoint, token)


def main() -> None:
    """Runs the demo; keeps its data folder, with all logs, if something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m cli.demo", description="Submit a right and a wrong kernel.")
    parser.add_argument("--json", action="store_true", help="print all fields in the last line")
    parser.add_argument("--at", metavar="URL", help="of a gateway that runs; WAVEPOOL_TOKEN has the token")
    options = parser.parse_args()
    if options.at:
        try:
            report = _run_at(options.at.rstrip("/"), os.environ.get("WAVEPOOL_TOKEN", ""))
        except WavepoolError as error:
            sys.exit(f"the demo failed: {error}")
        _end(report, as_json=options.json)
    data_dir = Path(tempfile.mkdtemp(prefix="wavepool-demo-"))
    try:
        report = asyncio.run(_main(data_dir))
    except (StartError, WavepoolError) as error:
        sys.exit(f"the demo failed: {error}\nlogs: {data_dir / 'logs'}")
    except KeyboardInterrupt:
        shutil.rmtree(data_dir)
        sys.exit(ExitCode.INTERRUPTED)
    if _is_as_expected(report):
        shutil.rmtree(data_dir)
    else:
        results.print(f"the results are not as expected; logs: {data_dir / 'logs'}")
    _end(report, as_json=options.json)


def _is_as_expected(report: dict[str, Any]) -> bool:
    return all(report[attempt.name]["status"] == attempt.expected for attempt in ATTEMPTS)


def _end(report: dict[str, Any], *, as_json: bool) -> NoReturn:
    print_json(report if as_json else short(report))
    sys.exit(0 if _is_as_expected(report) else 1)


if __name__ == "__main__":
    main()
