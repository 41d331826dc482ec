"""`wavepool doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cli.local import checkup
from cli.local.checkup import Finding, Health
from cli.local.provider_checkup import providers, sandboxes
from cli.local.stack import Ports
from wavepool_client.commands.options import (
    DataDirOption,  # noqa: TC001 - typer reads annotations at run time
    EndpointOption,  # noqa: TC001
    JsonOption,  # noqa: TC001
    TokenOption,  # noqa: TC001
)
from wavepool_client.exit_codes import ExitCode
from wavepool_client.http.connection import DEFAULT_DATA_DIR, resolve
from wavepool_client.http.transport import Transport
from wavepool_client.terminal.output import notes, print_json, results

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = {Health.OK: "[green]ok   [/green]", Health.NOTE: "[yellow]note [/yellow]", Health.FAULT: "[red]FAULT[/red]"}


def doctor(
    *,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    fix: Annotated[bool, typer.Option("--fix", help="Install what is missing and needs no root: torch.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Look for anything that could keep Wavepool from working on this machine, and show how to fix it.

    Compiles and runs a small kernel in its sandbox. Exit status 1 if anything is broken.
    """
    findings = _findings(data_dir, endpoint, token)
    fixed = [checkup.fixed(finding) for finding in findings if fix and finding.fix]
    if any(fixed):
        findings = _findings(data_dir, endpoint, token)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            _print(finding)
    broken = any(finding.health is Health.FAULT for finding in findings)
    raise typer.Exit(ExitCode.NOT_ACCEPTED if broken else ExitCode.ACCEPTED)


def _findings(data_dir: Path, endpoint: str | None, token: str | None) -> list[Finding]:
    connection = resolve(endpoint, token, data_dir)
    transport = Transport(connection)
    with notes.status("looking at the settings"):
        checks = checkup.check_all_settings()
        found = [checkup.python_version(), checkup.generated_code(), *checkup.settings(checks)]
    found += [checkup.disk_space(data_dir), checkup.disks(), checkup.ports(Ports.usual(), data_dir)]
    device = checkup.gpu_device()
    if device:
        found += checkup.gpu(device)
    with notes.status("compiling and running a small kernel"):
        found += [*checkup.trial_run(checks[checkup.EXECUTOR], device), checkup.problem_definitions()]
        found.append(checkup.mi300x_report())
    running = checkup.services(transport, connection)
    found += running
    if any(finding.name == "token" and finding.health is Health.OK for finding in running):
        found += [*providers(transport), *sandboxes(transport)]
    transport.close()
    return found


def _print(finding: Finding) -> None:
    results.print(f"{SIGNS[finding.health]} {finding.name:<12} {escape(finding.detail)}")
    if finding.remedy:
        results.print(f"      {'':<12} -> {escape(finding.remedy)}")
