"""`wavepool isa`, `wavepool samples`, `wavepool report` and `wavepool verify`."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from wavepool_client.commands.options import (
    Client,
    EndpointOption,
    IdArgument,
    JsonOption,
    Shown,
    TokenOption,
    answered,
    connect,
)
from wavepool_client.errors import InputError, WavepoolError
from wavepool_client.exit_codes import ExitCode
from wavepool_client.terminal.output import print_json, results, say
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.isa import isa_text
from wavepool_client.text.measured_samples import (
    SAMPLE_COLUMNS,
    SESSION_COLUMNS,
    instrument_texts,
    sample_lines,
    session_rows,
)
from wavepool_client.text.start_times import time_text
from wavepool_client.text.timing import timing_text
from wavepool_client.verification import (
    NotVerifiedError,
    SignedReport,
    check_source,
    key_from,
    parse,
    report_of,
    verify,
)

ReportArgument = Annotated[Path, typer.Argument(help="A signed report; `-` reads standard input.")]
KeyOption = Annotated[
    list[str] | None,
    typer.Option("--key", help="Public key to trust, in hex. Repeatable. Default: the pool's keys."),
]


@answered
def isa(gateway: Client, submission_id: IdArgument) -> Shown:
    """Show a submission's MI300X instructions by source line, and hints."""
    found = gateway.isa(submission_id)
    yield found
    for text in (isa_text(found), str(found.get("listing") or "")):
        if text:
            results.print(text, markup=False)


@answered
def samples(
    gateway: Client,
    submission_id: IdArgument,
    *,
    test: Annotated[
        int | None, typer.Option("--test", metavar="N", min=1, help="Only this test case. Default: all.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print each sample as a line of CSV.")] = False,
) -> Shown:
    """Show the samples that the times of a submission are made of."""
    found = gateway.samples(submission_id, test)
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([SAMPLE_COLUMNS, *sample_lines(found)])
        raise typer.Exit
    yield found
    yield table_of(SESSION_COLUMNS, session_rows(found))
    for text in instrument_texts(found):
        results.print(text, markup=False)


def report(
    submission_id: IdArgument,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file. Default: stdout.")] = None,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
) -> None:
    """Get the signed report of a submission that is over."""
    with connect(endpoint, token) as client:
        envelope = client.signed_report(submission_id)
    if output is None:
        print_json(envelope)
        return
    try:
        output.write_text(json.dumps(envelope) + "\n", "utf-8")
    except OSError as error:
        raise InputError(f"--output: cannot write {output}: {error.strerror}") from error
    say(f"wrote {output}; check it with: wavepool verify {output}")


def verify_report(
    file: ReportArgument,
    *,
    key: KeyOption = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="Also check that the report is about this source.")
    ] = None,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that a machine of the pool signed a report, and that it is unchanged."""
    signed = parse(_bytes_of(file).decode(errors="replace"))
    trusted = [key_from(one) for one in key] if key else _keys_of_the_pool(endpoint, token, signed)
    try:
        signer, statement = verify(signed, trusted)
        if source is not None:
            check_source(report_of(statement), _bytes_of(source))
    except NotVerifiedError as error:
        print_json({"verified": False, "reason": str(error)}) if as_json else say(f"NOT VERIFIED: {error}")
        raise typer.Exit(ExitCode.NOT_ACCEPTED) from error
    print_json({"verified": True, "key": signer, **statement}) if as_json else results.print(
        _summary(signer, statement)
    )


def _keys_of_the_pool(endpoint: str | None, token: str | None, signed: SignedReport) -> list[str]:
    try:
        with connect(endpoint, token) as client:
            machines = client.machines(include_ended=True)
    except WavepoolError as error:
        signers = " or ".join(signed.signatures)
        raise InputError(f"cannot get the pool's keys ({error}); if you trust {signers}, give --key") from error
    return [machine["signing_public_key"] for machine in machines if machine.get("signing_public_key")]


def _bytes_of(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error


def _problem(reported: dict[str, Any]) -> object:
    """The problem's name; for a definition that came with the submission, its hash: its name tells others nothing."""
    own = cast("dict[str, Any] | None", reported.get("problem_definition"))
    return f"by its author's own definition, SHA-256 {own.get('sha256')}" if own else reported.get("problem")


def _summary(signer: str, statement: dict[str, Any]) -> str:
    reported = report_of(statement)
    reported_device: dict[str, object] = reported.get("device") or {}
    never_ranks = " (its times never rank)" if reported_device.get("name") == "cpu" else ""
    lines: dict[str, object] = {
        "verdict": reported.get("verdict"),
        "timing": timing_text(reported.get("benchmark") or {}),
        "problem": _problem(reported),
        "device": f"{reported_device.get('title') or ''}{never_ranks}",
        "finished": time_text(statement.get("finish_time")),
        "run": statement.get("run_id"),
        "source": f"SHA-256 {reported.get('source_sha256')}",
        "seed": reported.get("seed"),
        "signed by": signer,
    }
    rows = [f"  {name:<10} {value}" for name, value in lines.items() if value]
    return "\n".join(["VERIFIED", *rows])
