from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from tests.cli.test_verification import PUBLIC, REPORT, envelope
from wavepool_client.exit_codes import ExitCode
from wavepool_client.text.start_times import time_text

ENVELOPE = envelope({"report": REPORT, "run_id": "r-1"})
KNOWN = Answer({"machines": [{"id": "mach_0"}, {"id": "mach_1", "signing_public_key": PUBLIC}]})
NOBODY = "http://127.0.0.1:9"


def test_a_report_is_fetched_and_verified_with_the_keys_of_the_pool(gateway: ScriptedGateway, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    gateway.on("GET", "/api/v1/submissions/job_1/report", Answer(json.loads(ENVELOPE)))
    gateway.on("GET", "/api/v1/machines", KNOWN)

    fetched = wavepool("report", "job_1", "-o", str(file), "--endpoint", gateway.endpoint)
    verified = wavepool("verify", str(file), "--endpoint", gateway.endpoint)

    assert (fetched.status, verified.status) == (ExitCode.ACCEPTED, ExitCode.ACCEPTED)
    assert f"wavepool verify {file}" in fetched.err
    assert verified.out.startswith("VERIFIED")
    assert PUBLIC in verified.out
    assert gateway.asked("GET", "/api/v1/machines")[0].path.endswith("?include_ended=true")


def test_the_end_of_a_run_is_a_local_time_with_its_zone(tmp_path: Path) -> None:
    file, end = tmp_path / "result.json", "2026-11-28T08:30:00.123456Z"
    file.write_text(envelope({"report": REPORT, "finish_time": end}), encoding="utf-8")
    out = wavepool("verify", str(file), "--key", PUBLIC).out
    assert (time_text(end) in out, end in out) == (True, False), out


def test_a_report_is_printed_where_no_file_is_named(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/submissions/job_1/report", Answer(json.loads(ENVELOPE)))

    assert wavepool("report", "job_1", "--endpoint", gateway.endpoint).json == json.loads(ENVELOPE)


def test_the_isa_is_shown_with_figures_and_instructions(gateway: ScriptedGateway) -> None:
    kernel = {"vgpr": 12, "sgpr": 8, "occupancy": 8, "hints": []}
    answer = {
        "id": "job_1",
        "isa": {"add": kernel},
        "isa_note": None,
        "listing": "add:\n  ; 3: c[i] = [bold];\n    s_endpgm\n",
    }
    gateway.on("GET", "/api/v1/submissions/job_1/isa", Answer(answer))

    shown = wavepool("isa", "job_1", "--endpoint", gateway.endpoint)
    assert shown.status == ExitCode.ACCEPTED
    assert "MI300X add: 12 VGPR, 8 SGPR" in shown.out
    assert "  ; 3: c[i] = [bold];\n    s_endpgm" in shown.out
    assert wavepool("isa", "job_1", "--json", "--endpoint", gateway.endpoint).json == answer


SAMPLES = {
    "id": "job_1",
    "cases": [
        {
            "test_id": 2,
            "name": "n = 2048, [odd]",
            "sessions": [
                {
                    "session": 1,
                    "samples_ms": [2.4, 2.5],
                    "replaced": [{"index": 1, "ms": 9.0, "cause": "clock"}],
                },
                {"session": 2, "samples_ms": [2.6], "replaced": []},
            ],
            "instruments": [
                {"sample": 2, "time_ms": 9.5, "clock_mhz": 2100.0, "temperature_celsius": None, "power_watts": 612.0}
            ],
        }
    ],
}


def test_samples_are_shown_by_session_with_the_state_of_the_device(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/submissions/job_1/samples", Answer(SAMPLES))

    out = wavepool("samples", "job_1", "--endpoint", gateway.endpoint).out
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["test", "session", "samples", "median", "least", "most", "taken", "again"]
    assert rows[1][4:] == ["1", "2", "2.45", "ms", "2.4", "ms", "2.5", "ms", "clock"]
    assert rows[2][4:6] == ["2", "1"]
    assert "n = 2048, [odd]: 2100 to 2100 MHz, 612 to 612 W" in out


def test_samples_are_printed_as_json_or_as_lines_of_csv_for_one_test_case(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/submissions/job_1/samples", Answer(SAMPLES))

    assert wavepool("samples", "job_1", "--json", "--endpoint", gateway.endpoint).json == SAMPLES
    ran = wavepool("samples", "job_1", "--test", "2", "--csv", "--endpoint", gateway.endpoint)
    assert ran.status == ExitCode.ACCEPTED
    first, *lines = csv.reader(ran.out.splitlines())
    assert [dict(zip(first, line, strict=True))["ms"] for line in lines] == ["2.4", "2.5", "2.6"]
    assert lines[1][2:7] == ["1", "1", "2.5", "9.0", "clock"]
    assert lines[2][1:] == ["n = 2048, [odd]", "2", "2", "2.6", "", "", "9.5", "2100.0", "", "612.0"]
    assert gateway.asked("GET", "/api/v1/submissions/job_1/samples")[-1].path.endswith("?test_id=2")


def test_a_key_given_by_hand_needs_no_pool() -> None:
    ran = wavepool("verify", "-", "--key", PUBLIC, "--json", "--endpoint", NOBODY, stdin=ENVELOPE)

    assert ran.status == ExitCode.ACCEPTED
    assert (ran.json["verified"], ran.json["key"], ran.json["run_id"]) == (True, PUBLIC, "r-1")


def test_a_problem_of_the_authors_own_is_never_shown_under_another_name() -> None:
    own = {**REPORT, "problem": "softmax", "problem_definition": {"sha256": "ab" * 32}}
    signed = envelope({"report": own, "run_id": "r-1"})
    ran = wavepool("verify", "-", "--key", PUBLIC, "--endpoint", NOBODY, stdin=signed)

    assert "softmax" not in ran.out
    assert "by its author's own definition" in ran.out


def test_a_report_of_a_machine_outside_the_pool_is_not_verified(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/machines", Answer({"machines": []}))
    ran = wavepool("verify", "-", "--endpoint", gateway.endpoint, stdin=ENVELOPE)

    assert ran.status == ExitCode.NOT_ACCEPTED
    assert "NOT VERIFIED" in ran.err


def test_without_pool_and_key_it_says_what_to_give() -> None:
    ran = wavepool("verify", "-", "--endpoint", NOBODY, stdin=ENVELOPE)

    assert ran.status == ExitCode.USAGE
    assert f"if you trust {PUBLIC}, give --key" in " ".join(ran.err.split())


def test_another_source_than_the_reports_is_found_out(tmp_path: Path) -> None:
    source = tmp_path / "kernel.hip"
    source.write_text("int x;")
    ran = wavepool("verify", "-", "--key", PUBLIC, "--source", str(source), "--json", stdin=ENVELOPE)

    assert ran.status == ExitCode.NOT_ACCEPTED
    assert "SHA-256" in ran.json["reason"]


def test_files_that_cannot_be_read_or_written_are_named(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.on("GET", "/api/v1/submissions/job_1/report", Answer(json.loads(ENVELOPE)))
    missing, folder = tmp_path / "missing.json", tmp_path / "none" / "result.json"

    ran = wavepool("verify", str(missing), "--key", PUBLIC)
    assert (ran.status, "missing.json" in ran.err) == (ExitCode.USAGE, True)
    ran = wavepool("report", "job_1", "-o", str(folder), "--endpoint", gateway.endpoint)
    assert (ran.status, "--output" in ran.err) == (ExitCode.USAGE, True)
