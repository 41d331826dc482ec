from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, ScriptedGateway, Stream
from tests.cli.invocation import wavepool
from tests.cli.scenes import ACCEPTED, EVENTS, JOB, OPENING, SUBMISSIONS, ending, scripted
from wavepool_client.commands.completion import complete_problem, complete_submission
from wavepool_client.commands.submissions import deadline_of
from wavepool_client.errors import InputError
from wavepool_client.text.start_times import time_text
from wavepool_client.text.submission_rows import submission_rows

KERNEL = 'extern "C" void solution() {}\n'


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    file = tmp_path / "kernel.hip"
    file.write_text(KERNEL)
    return str(file)


def test_an_accepted_submission_exits_with_0_and_shows_every_step(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    run = wavepool("submit", kernel, "--problem", "relu", "--endpoint", gateway.endpoint, "--token", "secret")
    assert run.status == 0, run.err
    assert "ACCEPTED" in run.out
    assert "never ranked beside GPU times" in run.out
    shown = [line.split()[0] for line in run.err.splitlines()]
    assert shown == ["IN_QUEUE", "COMPILING", "COMPILED", "CHECKING", "TEST_RESULT", "ACCEPTED"]
    [request] = gateway.asked("POST", SUBMISSIONS)
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.headers["Idempotency-Key"]
    expected = {"problem": "relu", "code": KERNEL, "mode": "full", "name": "kernel.hip"}
    assert request.body == {**expected, "language": "hip"}


def test_a_dry_run_says_cost_and_wait_and_submits_nothing(gateway: ScriptedGateway, kernel: str) -> None:
    quote = {
        "gpu_type": "MI300X",
        "resources": {"gpus": 4, "min_gpus": None, "fraction": None, "devices": None, "isolation": "exclusive"},
        "queue": "red",
        "position": 3,
        "eta_p50": 240.0,
        "eta_p90": 600.0,
        "estimate_basis": "from 12 runs",
        "time_limit_seconds": 60,
        "hold_usd": 0.13,
        "remaining_submissions": 57,
    }
    gateway.on("POST", f"{SUBMISSIONS}/quote", Answer(quote))
    asked = ("submit", kernel, "-p", "relu", "--gpus", "4", "--dry-run", "--endpoint", gateway.endpoint)

    run = wavepool(*asked)

    assert run.status == 0, run.err
    for words in ("4 GPUs", "red, position 3", "likely in 4 min", "from 12 runs", "60 s", "$0.13", "57"):
        assert words in run.out
    assert wavepool(*asked, "--json").json == quote
    assert gateway.asked("POST", SUBMISSIONS) == []


def test_what_is_submitted_again_is_what_was_asked_with_the_changes(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = {"problem": "relu", "code": KERNEL, "mode": "check", "resources": {"gpus": 2}}
    asked["fallback_gpu_types"] = ["MI210", "MI250X"]
    gateway.only("GET", f"{SUBMISSIONS}/{JOB}", Answer({"id": JOB, "state": "FINISHED", "request": asked}))

    run = wavepool(
        "resubmit", JOB, "--mode", "benchmark", "--gpu", "MI210", "--no-wait", "--endpoint", gateway.endpoint
    )

    assert (run.status, run.out.strip()) == (0, JOB)
    [request] = gateway.asked("POST", SUBMISSIONS)
    assert request.body == {**asked, "mode": "benchmark", "gpu_type": "MI210", "fallback_gpu_types": ["MI250X"]}


def test_one_is_run_again_on_another_machine_than_before(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = {"code": KERNEL, "machine": {"reuse": "reuse", "idle_seconds": 60}}
    gateway.only("GET", f"{SUBMISSIONS}/{JOB}", Answer({"id": JOB, "state": "FINISHED", "request": asked}))

    run = wavepool("resubmit", JOB, "--other-machine", "--no-wait", "--endpoint", gateway.endpoint)

    assert run.status == 0, run.err
    [request] = gateway.asked("POST", SUBMISSIONS)
    assert request.body["machine"] == {"reuse": "create", "idle_seconds": 60}


def test_another_queue_is_not_asked_for_what_the_first_one_filled_in(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = {"code": KERNEL, "queue": "red", "class": "batch", "placement": "spread", "time_limit_seconds": 900}
    gateway.only("GET", f"{SUBMISSIONS}/{JOB}", Answer({"id": JOB, "state": "FINISHED", "request": asked}))
    again = ("resubmit", JOB, "--no-wait", "--endpoint", gateway.endpoint)

    assert [wavepool(*again, *more).status for more in ((), ("--queue", "blue", "--time-limit", "60"))] == [0, 0]

    same, other = (request.body for request in gateway.asked("POST", SUBMISSIONS))
    assert same == {**asked, "fallback_gpu_types": []}
    assert other == {"code": KERNEL, "queue": "blue", "time_limit_seconds": 60, "fallback_gpu_types": []}


def test_an_earlier_gateway_cannot_submit_one_again(gateway: ScriptedGateway) -> None:
    scripted(gateway)
    run = wavepool("resubmit", JOB, "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert "earlier version" in run.err


def test_json_is_one_object_on_stdout(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    run = wavepool(
        "submit", kernel, "-p", "relu", "--mode", "check", "--endpoint", gateway.endpoint, "--json", "--name", "v3"
    )
    assert run.status == 0
    assert run.json["status"] == "ACCEPTED"
    assert (run.json["id"], run.json["accepted"], run.json["avg_runtime_ms"]) == (JOB, True, 0.25)
    assert gateway.asked("POST", SUBMISSIONS)[0].body["mode"] == "check"
    assert gateway.asked("POST", SUBMISSIONS)[0].body["name"] == "v3"


@pytest.mark.parametrize(
    ("status", "verdict", "exit_status"),
    [
        ("WRONG_ANSWER", "PRECISION", 1),
        ("COMPILE_ERROR", "COMPILE_ERROR", 1),
        ("CANCELLED", "CANCELLED", 1),
        ("ERROR", "TIMING_INVALID", 1),
        ("ERROR", "INFRA_ERROR", 3),
        ("A_STATUS_OF_THE_FUTURE", "A_VERDICT_OF_THE_FUTURE", 1),
        ("CHECKED", "ACCEPTED", 0),
        ("SANDBOX_SUCCESS", "ACCEPTED", 0),
    ],
)
def test_the_exit_status_tells_whose_fault_it_is(
    gateway: ScriptedGateway, kernel: str, status: str, verdict: str, exit_status: int
) -> None:
    scripted(gateway, Stream(ending(status, verdict=verdict)))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--json")
    assert (run.status, run.json["status"], run.json["verdict"]) == (exit_status, status, verdict)


@pytest.mark.parametrize(
    ("timing", "shown_interval", "exit_status"),
    [
        ("VALID", None, 0),
        ("VALID", 0.21, 5),
        ("UNSTABLE", 0.21, 5),
        ("UNPROVEN", None, 5),
        ("UNSTABLE", None, 5),
        ("UNKNOWN_9", None, 5),
    ],
)
def test_whether_the_time_ranks_is_shown_beside_the_verdict_and_counts_if_asked_to(
    gateway: ScriptedGateway, kernel: str, timing: str, shown_interval: float | None, exit_status: int
) -> None:
    timed = Stream(ending("ACCEPTED", timing=timing, shown_interval=shown_interval))
    scripted(gateway, timed, timed)
    command = ("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    run = wavepool(*command)
    word = "UNSTABLE ± 21 %" if shown_interval else timing
    assert (run.status, run.out.splitlines()[0].startswith(f"ACCEPTED  {word}  the reason")) == (0, True), run.out
    assert wavepool(*command, "--require-valid").status == exit_status


def test_a_verdict_counts_before_the_time_does(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ending("WRONG_ANSWER")))
    command = ("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--require-valid")
    assert wavepool(*command).status == 1


@pytest.mark.parametrize("option", ["--no-wait", "--mode=check", "--mode=sandbox"])
def test_what_is_not_timed_or_not_waited_for_cannot_have_to_be_valid(
    gateway: ScriptedGateway, kernel: str, option: str
) -> None:
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--require-valid", option)
    assert (run.status, gateway.asked("POST", SUBMISSIONS)) == (2, [])
    assert "--require-valid: needs --wait, and the mode `full` or `benchmark`" in run.err


def test_mismatches_and_compiler_text_are_shown_as_they_are(gateway: ScriptedGateway, kernel: str) -> None:
    debug_info = {"sample_differences": {"(3, 17)": {"expected": 1.5, "actual": 2.5, "diff": 1.0}}}
    scripted(gateway, Stream(ending("WRONG_ANSWER", details="kernel.hip:3: [bold]odd[/bold]", debug_info=debug_info)))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    assert "kernel.hip:3: [bold]odd[/bold]" in run.out
    assert "(3, 17)" in run.out


def test_a_broken_stream_resumes_after_the_last_event_that_was_seen(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(OPENING[:2], cut=True), Stream(ACCEPTED[1:3], cut=True), Stream(ACCEPTED[3:]))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    assert run.status == 0
    resumed = [request.headers.get("Last-Event-ID") for request in gateway.asked("GET", EVENTS)]
    assert resumed[:3] == [None, "2", "3"]
    # If a busy machine breaks the last connection too, the client asks once more, and shows nothing twice.
    assert set(resumed[3:]) <= {"6"}
    shown = [line.split()[0] for line in run.err.splitlines()]
    assert shown == ["IN_QUEUE", "COMPILING", "COMPILED", "CHECKING", "TEST_RESULT", "ACCEPTED"]


def test_no_wait_prints_the_id(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway)
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--no-wait")
    assert (run.status, run.out, gateway.asked("GET", EVENTS)) == (0, f"{JOB}\n", [])


@pytest.mark.parametrize(
    ("remaining", "note"),
    [
        (4, ""),
        (3, "3 more submissions possible now; `wavepool limits` shows the limits\n"),
        (1, "1 more submission possible now; `wavepool limits` shows the limits\n"),
        (0, "no more submissions possible now; `wavepool limits` shows the limits\n"),
    ],
)
def test_few_remaining_submissions_are_said(gateway: ScriptedGateway, kernel: str, remaining: int, note: str) -> None:
    gateway.on("POST", SUBMISSIONS, Answer({"id": JOB, "remaining_submissions": remaining}, 202))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--no-wait")
    assert (run.status, run.out, run.err) == (0, f"{JOB}\n", note)


def test_a_submission_beyond_a_limit_is_refused_with_the_reason_and_the_time(
    gateway: ScriptedGateway, kernel: str
) -> None:
    detail = "This account made 9 submissions in the last hour; the limit is 9."
    problem = {"title": "Too Many Requests", "detail": detail, "code": "RATE_LIMIT_EXCEEDED"}
    gateway.on("POST", SUBMISSIONS, Answer(problem, 429, {"Retry-After": "34"}))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    assert (run.status, run.err) == (6, f"wavepool: {detail} (try again in 34 s)\n")
    assert len(gateway.asked("POST", SUBMISSIONS)) == 1


def test_a_submission_waits_for_its_limit_if_it_is_to(gateway: ScriptedGateway, kernel: str) -> None:
    full = Answer({"title": "Too Many Requests", "detail": "It is full."}, 429, {"Retry-After": "0.1"})
    # The client itself tries each twice.
    gateway.only("POST", SUBMISSIONS, full, full, full, full, Answer({"id": JOB}, 202))
    command = ("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint, "--no-wait")
    refused = wavepool(*command)
    assert (refused.status, len(gateway.asked("POST", SUBMISSIONS))) == (6, 2)
    run = wavepool(*command, "--wait-for-quota")
    assert (run.status, run.out) == (0, f"{JOB}\n")


def test_the_source_may_come_from_standard_input(gateway: ScriptedGateway) -> None:
    scripted(gateway)
    run = wavepool("submit", "-", "-p", "relu", "--endpoint", gateway.endpoint, "--no-wait", stdin=KERNEL)
    assert run.status == 0
    assert gateway.asked("POST", SUBMISSIONS)[0].body["code"] == KERNEL
    assert "name" not in gateway.asked("POST", SUBMISSIONS)[0].body


def test_ctrl_c_detaches_and_says_how_to_watch_again(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(OPENING), state="RUNNING")
    command = [
        sys.executable,
        "-m",
        "wavepool_client.main",
        "submit",
        kernel,
        "-p",
        "relu",
        "--endpoint",
        gateway.endpoint,
    ]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            seen = [running.stderr.readline() for _ in OPENING]
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
            running.wait()
        finally:
            running.kill()
    assert running.returncode == 130
    assert "CHECKING" in seen[-1]
    assert f"wavepool watch {JOB}" in said
    assert gateway.asked("POST", f"{SUBMISSIONS}/{JOB}/cancel") == []


def test_watch_prints_events_as_json_lines(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED[2:]))
    run = wavepool("watch", JOB, "--after", "2", "--json", "--endpoint", gateway.endpoint)
    assert run.status == 0
    assert [json.loads(line)["id"] for line in run.out.splitlines()] == [3, 4, 5, 6]
    assert gateway.asked("GET", EVENTS)[0].headers["Last-Event-ID"] == "2"


def test_an_id_may_be_its_beginning_if_no_other_begins_so(gateway: ScriptedGateway) -> None:
    ids = [f"job_01M8HR{letter * 20}" for letter in "ABC"] + [f"job_01M8HRC{'D' * 19}"]
    listed = [{"id": one, "state": "FINISHED", "problem": "relu"} for one in ids]
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": listed, "next_page_token": ""}))
    gateway.on("GET", f"{SUBMISSIONS}/{ids[0]}", Answer(listed[0]))
    gateway.on("GET", f"{SUBMISSIONS}/{ids[0]}/events", Stream(ACCEPTED))
    gateway.on("POST", f"{SUBMISSIONS}/{ids[0]}/cancel", Answer(listed[0], 202))
    at = ("--endpoint", gateway.endpoint)
    assert ids[0] in wavepool("show", "job_01m8hra", *at).out
    assert wavepool("cancel", "job_01M8HRA", "--json", *at).json[0]["id"] == ids[0]
    assert wavepool("watch", "job_01M8HRA", *at).status == 0
    several = wavepool("show", "job_01M8HRC", *at)
    assert (several.status, "fits 2 submissions; give more of the id" in several.err) == (2, True)
    assert wavepool("show", "job_01M8HRX", *at).status == 2


def test_cancel_show_and_jobs_ask_their_routes(gateway: ScriptedGateway) -> None:
    scripted(gateway, state="CANCELLED")
    job = {"id": JOB, "name": "v3.hip", "problem": "relu", "state": "CANCELLED", "status": None, "cost_usd": 0.0}
    gateway.on("POST", f"{SUBMISSIONS}/{JOB}/cancel", Answer(job, 202))
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": [job], "next_page_token": ""}))
    at = ("--endpoint", gateway.endpoint)
    assert wavepool("cancel", JOB, "--json", *at).json == [job]
    assert JOB in wavepool("show", JOB, *at).out
    assert {JOB, "v3.hip"} <= set(wavepool("jobs", "--limit", "5", "--problem", "relu", *at).out.split())
    assert gateway.asked("GET", SUBMISSIONS)[0].path == f"{SUBMISSIONS}?page_size=5&problem=relu"
    filters = ("--state", "queued, running", "--verdict", "wrong-answer", "--mode", "check", "--queue", "red")
    assert JOB in wavepool("jobs", *filters, "--since", "2026-11-01", *at).out
    asked = "state=QUEUED&state=RUNNING&verdict=WRONG_ANSWER&mode=check&queue=red&since=2026-11-01"
    assert gateway.asked("GET", SUBMISSIONS)[-1].path == f"{SUBMISSIONS}?page_size=20&{asked}"


def test_jobs_shows_the_fastest_with_their_times_if_these_can_be_believed(gateway: ScriptedGateway) -> None:
    jobs = [
        {"id": "job_1", "runtime_ms": 0.0534, "timing_status": "VALID", "runtime_interval": 0.01, "gpu_type": "MI300X"},
        {"id": "job_2", "runtime_ms": 0.0123, "timing_status": "INVALID", "gpu_type": "MI300X", "hardware": "cpu"},
    ]
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": jobs}))
    filters = ("--status", "accepted, compile-error", "--gpu-type", "mi300x", "--dtype", "float16")
    order = ("--comparable-to", JOB, "--sort", "fastest")
    out = wavepool("jobs", *filters, *order, "--endpoint", gateway.endpoint).out
    assert "53.40 ± 0.53 µs" in out
    assert ("cpu" in out, out.count("MI300X")) == (True, 1)
    assert "12.3" not in out
    asked = "status=ACCEPTED&status=COMPILE_ERROR&gpu_type=mi300x&dtype=float16&comparable_to=" + JOB
    assert gateway.asked("GET", SUBMISSIONS)[-1].path == f"{SUBMISSIONS}?page_size=20&{asked}&sort=fastest"


def test_an_operator_lists_everybodys_jobs_with_their_accounts(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": [{"id": JOB, "account_id": "acc_ada"}]}))
    assert {JOB, "acc_ada"} <= set(wavepool("jobs", "--everybody", "--endpoint", gateway.endpoint).out.split())
    assert gateway.asked("GET", SUBMISSIONS)[-1].path == f"{SUBMISSIONS}?page_size=20&everybody=true"


def test_jobs_shows_local_times_with_their_zone(gateway: ScriptedGateway) -> None:
    created = "2026-11-28T08:30:00.123456Z"
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": [{"id": "job_1", "create_time": created}]}))
    out = wavepool("jobs", "--endpoint", gateway.endpoint).out
    assert (time_text(created) in out, created in out) == (True, False), out


@pytest.mark.parametrize(("total", "said"), [(137, "1 of 137; `--limit` shows more\n"), (1, ""), (None, "")])
def test_jobs_says_how_many_there_are_if_there_are_more(gateway: ScriptedGateway, total: int | None, said: str) -> None:
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": [{"id": "job_1"}], "total": total}))
    assert wavepool("jobs", "--endpoint", gateway.endpoint).err == said
    assert wavepool("jobs", "--json", "--endpoint", gateway.endpoint).json == [{"id": "job_1"}]


def test_share_and_rename_change_a_submission_and_say_what_that_means(gateway: ScriptedGateway) -> None:
    path, at = f"{SUBMISSIONS}/{JOB}", ("--endpoint", gateway.endpoint)
    gateway.on("PATCH", path, Answer({"id": JOB, "name": "v3"}))
    for options, visibility, meaning in (
        ((), "link", "who knows its id"),
        (("--public",), "public", "leaderboards"),
        (("--private",), "private", "only you"),
    ):
        said = wavepool("share", JOB, *options, *at).err
        assert meaning in " ".join(said.split())
        assert gateway.asked("PATCH", path)[-1].body == {"visibility": visibility}
    assert "v3" in wavepool("rename", JOB, "v3", *at).err
    assert gateway.asked("PATCH", path)[-1].body == {"name": "v3"}
    wavepool("rename", JOB, "", *at)
    assert gateway.asked("PATCH", path)[-1].body == {"name": ""}
    refused = wavepool("share", JOB, "--link", "--public", *at)
    assert (refused.status, "one of" in refused.err) == (2, True)


def test_what_others_share_is_shown_and_not_submitted_again(gateway: ScriptedGateway) -> None:
    shared = {
        "id": JOB,
        "own": False,
        "visibility": "link",
        "state": "FINISHED",
        "status": "ACCEPTED",
        "code": "int x;",
    }
    gateway.on("GET", f"{SUBMISSIONS}/{JOB}", Answer(shared))
    assert "ACCEPTED" in wavepool("show", JOB, "--endpoint", gateway.endpoint).out
    refused = wavepool("resubmit", JOB, "--endpoint", gateway.endpoint)
    assert (refused.status, "another user's" in refused.err) == (2, True)


def test_show_tells_the_whole_result_of_a_submission_that_is_over(gateway: ScriptedGateway) -> None:
    result = {
        "verdict": "RUNTIME_ERROR",
        "message": "Case `2x3`: the program crashed.",
        "details": "signal 11",
        "stderr": "my last words\n",
        "test_results": [
            {"test_id": 1, "name": "2x2", "status": "PASSED"},
            {"test_id": 2, "name": "2x3", "status": "FAILED"},
            {"test_id": 3, "name": "3x3", "status": "NOT_RUN"},
        ],
        "passed_tests": 1,
        "total_tests": 3,
    }
    job = {"id": JOB, "state": "FINISHED", "status": "RUNTIME_ERROR", "cost_usd": 0.5, "result": result}
    gateway.on("GET", f"{SUBMISSIONS}/{JOB}", Answer(job))
    out = wavepool("show", JOB, "--endpoint", gateway.endpoint).out
    told = ("signal 11", "my last words", "test 2 failed: 2x3", "1 test not run", "tests 1/3", "cost $0.500000")
    for text in (result["message"], *told):
        assert str(text) in out, out


def test_a_sample_s_values_are_shown(gateway: ScriptedGateway, kernel: str) -> None:
    values = {"input": {"x": [1.0, -2.0]}, "output": [1.0, 7.5], "expected_output": [1.0, 0.0]}
    scripted(gateway, Stream(ending("FAILED", **values)))
    run = wavepool("submit", kernel, "-p", "relu", "--mode", "sample", "--endpoint", gateway.endpoint)
    assert run.status == 1
    assert "  x = 1  -2\nyour output:\n  1  7.5\nexpected output:\n  1  0\n" in run.out


def test_the_place_in_the_queue_is_printed_once(gateway: ScriptedGateway, kernel: str) -> None:
    queued = (1, {"status": "IN_QUEUE", "id": JOB, "position": 3, "message": "In the queue at position 3"})
    scripted(gateway, Stream([queued, *ACCEPTED[1:]]))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    assert run.err.count("position 3") == 1


def test_fields_that_are_wrong_are_named_with_the_fix(gateway: ScriptedGateway, kernel: str) -> None:
    problem = {
        "title": "Unprocessable Content",
        "detail": "The request has fields that are wrong.",
        "errors": [{"field": "gpu_type", "message": "is H100; take MI300X"}],
    }
    gateway.on("POST", SUBMISSIONS, Answer(problem, 422))
    run = wavepool("submit", kernel, "-p", "relu", "--gpu", "H100", "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert "gpu_type: is H100; take MI300X" in run.err


@pytest.mark.parametrize(
    ("status", "exit_status"), [(401, 4), (403, 4), (404, 2), (413, 2), (429, 6), (500, 3), (503, 3)]
)
def test_failed_requests_exit_by_their_kind(
    gateway: ScriptedGateway, kernel: str, status: int, exit_status: int
) -> None:
    gateway.on("POST", SUBMISSIONS, Answer({"title": "No", "detail": "for a reason"}, status))
    run = wavepool("submit", kernel, "-p", "relu", "--endpoint", gateway.endpoint)
    assert (run.status, run.out) == (exit_status, "")
    assert "wavepool: for a reason" in run.err.replace("no answer for 10 s: ", "")
    assert "Traceback" not in run.err


def test_an_answer_that_is_no_gateways_is_reported_as_such(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SUBMISSIONS, Answer(b"<html>hello</html>"))
    run = wavepool("jobs", "--endpoint", gateway.endpoint)
    assert run.status == 3
    assert "is it a Wavepool gateway?" in run.err


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"", "is empty"), (b"\x7fELF\xff\x00", "not UTF-8 text"), (None, "cannot read")]
)
def test_files_that_cannot_be_kernels_are_refused(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    file = tmp_path / "odd.hip"
    if content is not None:
        file.write_bytes(content)
    run = wavepool("submit", str(file), "-p", "relu")
    assert run.status == 2
    assert complaint in run.err


def test_bad_usage_exits_with_2(kernel: str) -> None:
    assert wavepool("submit", kernel).status == 2
    assert wavepool("submit", kernel, "-p", "relu", "--mode", "fast").status == 2
    assert wavepool("submit", kernel, "-p", "relu", "--endpoint", "localhost:8080").status == 2
    assert wavepool("jobs", "--limit", "0").status == 2


def test_nothing_at_the_endpoint_exits_with_3() -> None:
    run = wavepool("jobs", "--endpoint", "http://127.0.0.1:1")
    assert run.status == 3
    assert "http://127.0.0.1:1" in run.err
    assert "wavepool up" in run.err


def test_a_proxy_in_the_environment_does_not_matter_for_loopback(gateway: ScriptedGateway) -> None:
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": []}))
    proxied = {"HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1", "NO_PROXY": ""}
    assert wavepool("jobs", "--endpoint", gateway.endpoint, environment=proxied).status == 0


def test_endpoint_and_token_come_from_the_environment_or_from_what_up_left(
    gateway: ScriptedGateway, tmp_path: Path
) -> None:
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": []}))
    folder = tmp_path / ".wavepool"
    folder.mkdir()
    (folder / "token").write_text("from-file\n")
    (folder / "endpoint").write_text(f"{gateway.endpoint}\n")
    assert wavepool("jobs").status == 0
    there = {"WAVEPOOL_ENDPOINT": gateway.endpoint, "WAVEPOOL_TOKEN": "from-environment"}
    assert wavepool("jobs", environment=there).status == 0
    assert wavepool("jobs", "--token", "from-option", environment=there).status == 0
    tokens = [request.headers["Authorization"] for request in gateway.requests]
    assert tokens == ["Bearer from-file", "Bearer from-environment", "Bearer from-option"]


def test_a_launch_plan_and_a_definition_go_along(gateway: ScriptedGateway, kernel: str, tmp_path: Path) -> None:
    plan, definition = tmp_path / "plan.json", tmp_path / "problem.py"
    plan.write_text('{"launches": []}')
    definition.write_text("class mine: ...")
    scripted(gateway, Stream(ACCEPTED))
    files = ["--launch-plan", str(plan), "--problem-def", str(definition)]
    run = wavepool("submit", kernel, *files, "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    body = gateway.asked("POST", SUBMISSIONS)[0].body
    assert (body["launch_plan"], body["problem_def"], body["problem"]) == ({"launches": []}, "class mine: ...", "")


@pytest.mark.parametrize("timing", ["cold", "hot", "first-call"])
def test_a_timing_mode_goes_along_and_is_said_beside_the_times(
    gateway: ScriptedGateway, kernel: str, timing: str
) -> None:
    last = {**ACCEPTED[-1][1], "timing_mode": timing}
    scripted(gateway, Stream([*OPENING, (5, {"status": "BENCHMARKING", "timing_mode": timing}), (6, last)]))
    run = wavepool("submit", kernel, "-p", "relu", "--timing", timing, "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    assert gateway.asked("POST", SUBMISSIONS)[0].body["timing"] == timing
    assert f"Measuring ({timing})" in run.err
    assert f"{timing} times: " in run.out


PROFILE = {
    "outcome": "MADE",
    "note": None,
    "tool": "wavepool cpu runtime",
    "tool_version": None,
    "clock": "HOST",
    "name": "n = 2^18, normal",
    "solution_calls": 10,
    "kernels": [
        {
            "name": "add",
            "calls": 10,
            "total_ns": 20_000,
            "mean_ns": 2000.0,
            "min_ns": 1500,
            "max_ns": 2500,
            "share": 1.0,
            "grid": [16, 1024, 1],
            "block": [64, 1, 1],
            "vgpr": None,
            "sgpr": None,
            "lds_bytes": 0,
            "scratch_bytes": None,
        }
    ],
    "kernels_left_out": 0,
}


def test_a_profile_is_asked_for_and_its_kernels_are_shown(gateway: ScriptedGateway, kernel: str) -> None:
    last = {**ACCEPTED[-1][1], "profile": PROFILE}
    message = "Profiling the kernels with wavepool cpu runtime, test case n = 2^18, normal"
    scripted(gateway, Stream([*OPENING, (5, {"status": "PROFILING", "message": message}), (6, last)]))
    run = wavepool("submit", kernel, "-p", "relu", "--profile", "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    assert gateway.asked("POST", SUBMISSIONS)[0].body["profile"] is True
    assert message in run.err
    assert "by wavepool cpu runtime (the host's clock, not GPU times)" in run.out
    lines = run.out.splitlines()
    [head] = [line.split() for line in lines if line.startswith("kernel ")]
    assert head == ["kernel", "calls", "mean", "min", "max", "share", "grid", "block", "LDS"]
    [row] = [line.split() for line in lines if line.startswith("add ")]
    assert row == ["add", "10", "2", "µs", "1.5", "µs", "2.5", "µs", "100.0%", "16", "x", "1024", "64", "0", "B"]


def test_why_there_is_no_profile_is_said_and_changes_nothing(gateway: ScriptedGateway, kernel: str) -> None:
    note = "not available on this device: sim: its times are made up"
    last = {**ACCEPTED[-1][1], "profile": {"outcome": "UNAVAILABLE", "note": note, "kernels": []}}
    scripted(gateway, Stream([*OPENING, (5, last)]))
    run = wavepool("submit", kernel, "-p", "relu", "--profile", "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    assert f"profile: {note}" in run.out


def test_a_profile_of_a_sample_is_refused_before_anything_is_sent(gateway: ScriptedGateway, kernel: str) -> None:
    run = wavepool("submit", kernel, "-p", "relu", "--profile", "--mode", "sample", "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert "--profile: needs the mode `full`, `benchmark` or `check`" in run.err
    assert gateway.asked("POST", SUBMISSIONS) == []


@pytest.mark.parametrize("part", ["nan", "inf"])
def test_a_part_that_is_no_number_is_refused_before_anything_is_sent(
    gateway: ScriptedGateway, kernel: str, part: str
) -> None:
    run = wavepool("submit", kernel, "-p", "relu", "--fraction", part, "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert f"--fraction: is {part}; give a finite number, such as 0.5" in run.err
    assert not gateway.requests


def test_a_number_of_gpus_or_a_range_of_them_is_sent(gateway: ScriptedGateway, kernel: str) -> None:
    for asked, sent in (("2", 2), ("1-4", {"min": 1, "max": 4}), (" 1-4 ", {"min": 1, "max": 4})):
        scripted(gateway, Stream(ACCEPTED))
        wavepool("submit", kernel, "-p", "relu", "--gpus", asked, "--endpoint", gateway.endpoint)
        assert gateway.asked("POST", SUBMISSIONS)[-1].body["resources"] == {"gpus": sent}


@pytest.mark.parametrize("asked", ["two", "1-", "-2", "1-4-8", "1.5"])
def test_a_range_that_is_none_is_refused_before_anything_is_sent(
    gateway: ScriptedGateway, kernel: str, asked: str
) -> None:
    run = wavepool("submit", kernel, "-p", "relu", f"--gpus={asked}", "--endpoint", gateway.endpoint)
    assert run.status == 2
    assert "give 1, 2, 4 or 8, or a range such as 1-4" in run.err
    assert not gateway.requests


def test_a_timing_mode_that_is_none_is_refused_before_anything_is_sent(gateway: ScriptedGateway, kernel: str) -> None:
    run = wavepool("submit", kernel, "-p", "relu", "--timing", "warm", "--endpoint", gateway.endpoint)
    assert run.status == 2
    for word in ("--timing", "cold", "hot", "first-call"):
        assert word in run.err
    assert not gateway.requests


def test_help_tells_of_timing_modes_and_the_shell_completes_them() -> None:
    assert "--timing" in wavepool("submit", "--help").out
    script = Path(sys.executable).with_name("wavepool")
    typed = {"_WAVEPOOL_COMPLETE": "complete_bash", "COMP_WORDS": "wavepool submit a.hip --timing ", "COMP_CWORD": "4"}
    done = subprocess.run([script], env={**os.environ, **typed}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["cold", "hot", "first-call"]


def test_fallbacks_go_along_in_their_order(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = ("--gpu", "MI300X", "--fallback-gpu", "MI250X", "--fallback-gpu", "MI210")
    run = wavepool("submit", kernel, "-p", "relu", *asked, "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    body = gateway.asked("POST", SUBMISSIONS)[0].body
    assert (body["gpu_type"], body["fallback_gpu_types"]) == ("MI300X", ["MI250X", "MI210"])


def test_queue_class_placement_and_leave_to_move_go_along(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = ("--queue", "red", "--class", "urgent", "--placement", "spread", "--movable")
    run = wavepool("submit", kernel, "-p", "relu", *asked, "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    body = gateway.asked("POST", SUBMISSIONS)[0].body
    assert (body["queue"], body["class"], body["placement"], body["movable"]) == ("red", "urgent", "spread", True)


def test_the_wish_for_a_machine_goes_along_and_is_shown(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    run = wavepool("submit", kernel, "-p", "relu", "--reuse", "create", "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    assert gateway.asked("POST", SUBMISSIONS)[0].body["machine"] == {"reuse": "create"}
    run = wavepool("submit", kernel, "-p", "relu", "--idle", "0", "--endpoint", gateway.endpoint)
    assert gateway.asked("POST", SUBMISSIONS)[1].body["machine"] == {"idle_seconds": 0}
    run = wavepool("submit", kernel, "-p", "relu", "--wait-for-operator", "--endpoint", gateway.endpoint)
    assert gateway.asked("POST", SUBMISSIONS)[2].body["machine"] == {"wait_for_operator": True}
    asked = {"reuse": "create", "idle_seconds": 0, "wait_for_operator": True}
    assert dict(submission_rows({"machine": asked}))["machine"] == "create, idle 0 s, waits for an operator"
    assert wavepool("submit", kernel, "-p", "relu", "--reuse", "new", "--endpoint", gateway.endpoint).status == 2
    assert dict(submission_rows({"machine": {"reuse": "create"}}))["machine"] == "create"
    assert "machine" not in dict(submission_rows({"machine": {"reuse": "reuse-or-create"}}))


def test_a_priority_goes_along_if_it_is_not_0(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    for points in ("20", "-5", "0"):
        assert (
            wavepool("submit", kernel, "-p", "relu", "--priority", points, "--endpoint", gateway.endpoint).status == 0
        )
    assert [one.body.get("priority") for one in gateway.asked("POST", SUBMISSIONS)] == [20, -5, None]
    assert wavepool("submit", kernel, "-p", "relu", "--priority", "101", "--endpoint", gateway.endpoint).status == 2


def test_a_deadline_goes_along_as_an_instant(gateway: ScriptedGateway, kernel: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    asked = ("--deadline", "2126-11-01T13:00:00+01:00")
    run = wavepool("submit", kernel, "-p", "relu", *asked, "--endpoint", gateway.endpoint)
    assert run.status == 0, run.err
    assert gateway.asked("POST", SUBMISSIONS)[0].body["deadline"] == "2126-11-01T12:00:00Z"


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("90s", "2026-01-01T12:01:30Z"),
        ("1.5h", "2026-01-01T13:30:00Z"),
        (" 2d ", "2026-01-03T12:00:00Z"),
        ("2026-01-01T18:00:00+02:00", "2026-01-01T16:00:00Z"),
    ],
)
def test_a_deadline_is_a_time_from_now_or_one_with_its_zone(text: str, instant: str) -> None:
    assert deadline_of(text, datetime(2026, 1, 1, 12, tzinfo=UTC)) == instant


@pytest.mark.parametrize("text", ["2", "soon", "2026-01-01T18:00:00", f"{'9' * 400}d", "-1h", "0001-01-01T00:00+14:00"])
def test_any_other_deadline_is_refused_with_the_fix(text: str) -> None:
    with pytest.raises(InputError, match=r"--deadline: .*give a "):
        deadline_of(text, datetime(2026, 1, 1, 12, tzinfo=UTC))


def test_help_tells_of_fallbacks_and_the_shell_completes_them(gateway: ScriptedGateway) -> None:
    listed = [{"gpu_type": name} for name in ("MI300X", "MI250X", "MI210")]
    gateway.on("GET", "/api/v1/gpu-types", Answer({"gpu_types": listed}))
    assert "--fallback-gpu" in wavepool("submit", "--help").out
    script = Path(sys.executable).with_name("wavepool")
    typed = {"_WAVEPOOL_COMPLETE": "complete_bash", "COMP_WORDS": "wavepool submit a.hip --fallback-gpu MI2"}
    environment = {**os.environ, **typed, "COMP_CWORD": "4", "WAVEPOOL_ENDPOINT": gateway.endpoint}
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["MI210", "MI250X"]


@pytest.mark.parametrize(("text", "said"), [("{", "not JSON"), ("[]", "not a JSON object"), (" ", "is empty")])
def test_a_plan_that_is_none_is_refused_before_anything_is_sent(
    gateway: ScriptedGateway, kernel: str, tmp_path: Path, text: str, said: str
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(text)
    run = wavepool("submit", kernel, "-p", "relu", "--launch-plan", str(plan), "--endpoint", gateway.endpoint)
    assert (run.status, said in run.err) == (2, True), run.err
    assert not gateway.asked("POST", SUBMISSIONS)


def test_shells_complete_problems_and_submissions(gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    gateway.on("GET", "/api/v1/problems", Answer({"problems": [{"slug": "relu", "title": "ReLU"}, {"slug": "gelu"}]}))
    job = {"id": JOB, "problem": "relu", "mode": "full", "state": "QUEUED"}
    gateway.on("GET", SUBMISSIONS, Answer({"submissions": [job, {**job, "id": "other"}]}))
    assert complete_problem("re") == [("relu", "ReLU")]
    assert complete_submission("job_") == [(JOB, "relu full, QUEUED")]
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", "http://127.0.0.1:1")
    assert (complete_problem(""), complete_submission("")) == ([], [])
