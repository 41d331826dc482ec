"""`wavepool doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cli.local import checkup
from cli.local.checkup import Finding, Health
from cli.local.provider_checkup import providers, sandboxes
from cli.local.stack import Ports
from wavepool_client.commands.options import (
    DataDirOption,
    EndpointOption,
    JsonOption,
    TokenOption,
)
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import DEFAULT_DATA_DIR, resolve
from wavepool_client.http.transport import Transport
from wavepool_client.terminal.output import notes, print_json, results

SIGNS = {Health.OK: "[green]ok   [/green]", Health.NOTE: "[yellow]note [/yellow]", Health.FAULT: "[red]FAULT[/red]"}


def doctor(
    *,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    fix: Annotated[bool, typer.Option("--fix", help="Install missing software that needs no root: torch.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check whether Wavepool can work on this machine, and show how to fix what is wrong.

    Compiles and runs a small kernel in its sandbox. Exit status 1 if anything is broken.
    """
    findings = _shown(_findings(data_dir, endpoint, token), as_json=as_json)
    fixed = [checkup.fixed(finding) for finding in findings if fix and finding.fix]
    if any(fixed):
        findings = _shown(_findings(data_dir, endpoint, token), as_json=as_json)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    broken = any(finding.health is Health.FAULT for finding in findings)
    raise typer.Exit(ExitCode.NOT_ACCEPTED if broken else ExitCode.ACCEPTED)


def _findings(data_dir: Path, endpoint: str | None, token: str | None) -> Iterator[Finding]:
    """Yields each finding as soon as it is known: a trial kernel alone may take half a minute."""
    connection = resolve(endpoint, token, data_dir)
    yield checkup.python_version()
    yield checkup.generated_code()
    with notes.status("checking the settings"):
        checks = checkup.check_all_settings()
        found = checkup.settings(checks)
    yield from found
    yield checkup.disk_space(data_dir)
    yield checkup.disks()
    yield checkup.ports(Ports.usual(), data_dir)
    device = checkup.gpu_device()
    with notes.status("checking the GPU"):
        found = checkup.gpu(device) if device else []
    yield from found
    with notes.status("compiling and running a small kernel"):
        found = checkup.trial_run(checks[checkup.EXECUTOR], device)
    yield from found
    for doing, look in (
        ("looking for torch", checkup.problem_definitions),
        ("making a report for the MI300X", checkup.mi300x_report),
    ):
        with notes.status(doing):
            one = look()
        yield one
    with closing(Transport(connection)) as transport:
        found = checkup.services(transport, connection)
        yield from found
        if any(finding.name == "token" and finding.health is Health.OK for finding in found):
            yield from providers(transport)
            yield from sandboxes(transport)


def _shown(findings: Iterator[Finding], *, as_json: bool) -> list[Finding]:
    """All findings; without JSON each is printed when it comes."""
    shown: list[Finding] = []
    for finding in findings:
        shown.append(finding)
        if not as_json:
            _print(finding)
    return shown


def _print(finding: Finding) -> None:
    results.print(f"{SIGNS[finding.health]} {finding.name:<12} {escape(finding.detail)}")
    if finding.remedy:
        results.print(f"      {'':<12} -> {escape(finding.remedy)}")
