from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, ScriptedGateway, Stream
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import (
    ACTIVE,
    AVAILABILITY,
    HOST_KEY,
    ID,
    ONE,
    OTHER,
    OTHER_ID,
    QUEUED,
    QUOTE,
    RESERVATIONS,
    STORY,
    introduce,
    listed,
    session_on_this_machine,
)
from tests.cli.scenes import SUBMISSIONS
from tests.ssh_keys import new_key
from wavepool_client.text.not_here import NOT_HERE


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> None:
    introduce(tmp_path, monkeypatch, gateway)


def test_reserve_prints_the_quote_then_steps_until_it_is_active(gateway: ScriptedGateway, tmp_path: Path) -> None:
    run = wavepool("reserve", "-h", "0.5", "-g", "1", "-t", "mi300x", "-n", "training", "--fallback-gpu", "MI210")

    assert (run.status, run.out) == (0, f"{ID}\n")
    lines = run.err.splitlines()
    assert lines[0] == "1 x MI300X for 30 min: $1.99/h, $0.99 on hold"
    assert lines[1] == f"{ID} (training) is queued"
    assert [line.split()[0] for line in lines[2:5]] == ["QUEUED", "STEP", "ACTIVE"]
    assert lines[-1] == f"connect with: wavepool connect {ID}"
    [asked] = gateway.asked("POST", RESERVATIONS)
    key = (tmp_path / "home" / ".ssh" / "id_ed25519.pub").read_text().strip()
    wanted = {"hours": 0.5, "gpu_count": 1, "gpu_type": "mi300x", "fallback_gpu_types": ["MI210"]}
    assert asked.body == wanted | {"name": "training", "keys": [{"public_key": key}], "own_keys": True}
    [quoted] = gateway.asked("POST", f"{RESERVATIONS}/quote")
    assert quoted.body == wanted


def test_json_has_the_active_reservation_alone_on_stdout() -> None:
    run = wavepool("reserve", "-h", "0.5", "--json", "--no-connect")
    assert (run.status, run.json) == (0, ACTIVE)


def test_no_wait_prints_the_id_at_once_and_a_key_makes_repeats_safe(gateway: ScriptedGateway) -> None:
    run = wavepool("reserve", "-h", "0.5", "--no-wait", "--idempotency-key", "k1", "-v")
    assert (run.status, run.out) == (0, f"{ID}\n")
    assert "key from ~/.ssh and the agent: ssh-ed25519" in run.err
    assert gateway.asked("GET", f"{ONE}/events") == []
    assert gateway.asked("POST", RESERVATIONS)[0].headers["Idempotency-Key"] == "k1"


@pytest.mark.parametrize(("status", "code"), [("CANCELLED", 1), ("FAILED", 3)])
def test_a_reservation_that_ends_before_it_is_active_says_why(gateway: ScriptedGateway, status: str, code: int) -> None:
    gateway.only("GET", f"{ONE}/events", Stream([STORY[0], (2, {"status": status, "message": "The reason."})]))
    run = wavepool("reserve", "-h", "0.5")
    assert (run.status, run.out) == (code, "")
    assert "The reason." in run.err


def test_a_refused_quote_makes_no_reservation(gateway: ScriptedGateway) -> None:
    problem = {"title": "Unprocessable Entity", "errors": [{"field": "hours", "message": "the least is 5 minutes"}]}
    gateway.only("POST", f"{RESERVATIONS}/quote", Answer(problem, 422))
    run = wavepool("reserve", "-h", "0.01")
    assert (run.status, "hours: the least is 5 minutes" in run.err) == (2, True)
    assert gateway.asked("POST", RESERVATIONS) == []


@pytest.mark.parametrize("option", sorted(NOT_HERE))
def test_an_option_that_others_have_is_refused_with_the_reason(gateway: ScriptedGateway, option: str) -> None:
    for words in (("reserve", "-h", "1", option), ("run", option, "--", "true")):
        run = wavepool(*words)
        assert (run.status, run.out) == (2, "")
        assert f"{option}: {NOT_HERE[option]}" in run.err
    assert gateway.requests == []


def test_an_option_that_nobody_has_is_unknown_as_elsewhere() -> None:
    run = wavepool("reserve", "-h", "1", "--teleport")
    assert (run.status, "No such option: --teleport" in run.err) == (2, True)


def test_whoever_asks_for_a_type_that_there_is_not_reads_what_is_free(gateway: ScriptedGateway) -> None:
    said = "must be one of MI300X, MI210; it is 'A100', and the nearest is MI300X"
    fields = [{"field": "gpu_type", "message": said}]
    refusal = {"title": "Unprocessable Entity", "detail": f"gpu_type: {said}", "errors": fields}
    gateway.only("POST", f"{RESERVATIONS}/quote", Answer(refusal, 422))
    free = {"gpu_type": "MI300X", "free_gpus": 5, "total_gpus": 16, "largest_free": 4}
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": [free, {"gpu_type": "MI210", "startable_gpus": 2}]}))

    run = wavepool("reserve", "-h", "1", "-t", "A100")

    assert (run.status, f"gpu_type: {said}" in run.err) == (2, True)
    assert "free now: 5 of 16 MI300X (4 on one machine), 0 of 0 MI210 (0 on one machine; 2 can be started)" in run.err
    assert gateway.asked("POST", RESERVATIONS) == []


@pytest.mark.parametrize("words", [("reserve", "-h", "0.5"), ("run", "-h", "0.5", "--", "true")])
def test_nothing_is_reserved_above_the_price_that_a_gpu_may_have(
    gateway: ScriptedGateway, words: tuple[str, ...]
) -> None:
    command, *rest = words
    run = wavepool(command, "--max-price", "1.5", *rest)
    assert (run.status, "--max-price: is $1.50, and a GPU may cost $1.99/h" in run.err) == (2, True)
    assert gateway.asked("POST", RESERVATIONS) == []
    assert wavepool("reserve", "-h", "0.5", "--max-price", "1.99", "--no-wait").status == 0


def test_a_dearer_type_that_would_do_counts_for_the_highest_price(gateway: ScriptedGateway) -> None:
    gateway.only("POST", f"{RESERVATIONS}/quote", Answer({**QUOTE, "gpu_count": 2, "hold_usd": 2.5}))
    run = wavepool("reserve", "-h", "0.5", "-g", "2", "--fallback-gpu", "MI325X", "--max-price", "2")
    assert (run.status, "a GPU may cost $2.50/h" in run.err) == (2, True)


def test_a_trace_has_the_keys_and_the_time_of_each_step(gateway: ScriptedGateway) -> None:
    story = [(seq, {**data, "timestamp": 1764194700000 + seq * 250}) for seq, data in STORY]
    gateway.only("GET", f"{ONE}/events", Stream(story))
    run = wavepool("reserve", "-h", "0.5", "--trace")
    assert "key from ~/.ssh and the agent: ssh-ed25519" in run.err
    steps = [line for line in run.err.splitlines() if line.startswith(("QUEUED ", "STEP ", "ACTIVE "))]
    assert [line.split()[1][-7:] for line in steps] == [":00.250", ":00.500", ":00.750"]


def test_the_gpu_type_of_the_configuration_is_taken_if_none_is_named(gateway: ScriptedGateway) -> None:
    wavepool("config", "set", "default_gpu_type", "MI210")
    for words in ((), ("-t", "MI300X")):
        wavepool("reserve", "-h", "1", "--no-wait", *words)
    assert [asked.body["gpu_type"] for asked in gateway.asked("POST", RESERVATIONS)] == ["MI210", "MI300X"]


def test_a_script_must_say_how_long() -> None:
    run = wavepool("reserve", "-g", "1")
    assert (run.status, "--hours is missing" in run.err) == (2, True)


def test_answers_may_come_from_a_pipe(gateway: ScriptedGateway) -> None:
    run = wavepool("reserve", "-g", "1", "-t", "MI300X", "--interactive", "--no-wait", stdin="3\ny\n")
    assert (run.status, run.out.strip()) == (0, ID)
    assert gateway.asked("POST", RESERVATIONS)[0].body["hours"] == 1.0


def test_a_later_start_is_sent_with_its_zone_shown_and_not_waited_for(gateway: ScriptedGateway) -> None:
    start = {"start_time": "2096-11-26T08:00:00Z", "state": "pending"}
    gateway.only("POST", f"{RESERVATIONS}/quote", Answer({**QUOTE, **start}))
    gateway.only("POST", RESERVATIONS, Answer({**QUEUED, **start}, 202))
    run = wavepool("reserve", "-h", "0.5", "--start", "2096-11-26T09:00+01:00")
    assert (run.status, run.out.strip()) == (0, ID)
    quote, made, said = run.err.splitlines()
    assert quote.startswith("1 x MI300X for 30 min: $1.99/h, $0.99 on hold; starts at 2096-11-26 ")
    assert " UTC" in quote
    assert made == f"{ID} (training) is pending"
    assert said.endswith(f"wavepool reservations show {ID} -f")
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert asked.body["start_time"] == "2096-11-26T08:00:00+00:00"
    assert gateway.asked("GET", f"{ONE}/events") == []


def test_a_start_that_is_no_time_reaches_no_gateway(gateway: ScriptedGateway) -> None:
    run = wavepool("reserve", "-h", "1", "--start", "soon")
    assert run.status == 2
    assert "--start: is 'soon'; give `09:30`" in run.err
    assert gateway.asked("POST", f"{RESERVATIONS}/quote") == []


def test_the_calendar_shows_what_is_taken_when_and_no_names_of_others(gateway: ScriptedGateway) -> None:
    times = {"start_time": "2096-11-26T08:00:00Z", "end_time": "2096-11-26T09:00:00Z"}
    own = {"gpu_type": "MI300X", "gpu_count": 2, "state": "pending", "name": "training", "owner": "ada", **times}
    other = {**own, "name": None, "owner": None, "late": True, "gpu_count": 4}
    gateway.on("GET", f"{RESERVATIONS}/calendar", Answer({"entries": [own, other]}))
    lines = wavepool("reservations", "calendar", "-t", "mi300x").out.splitlines()
    assert "ada: training" in lines[1]
    assert "another user's" in lines[2]
    assert "pending, late" in lines[2]
    assert gateway.asked("GET", f"{RESERVATIONS}/calendar")[0].path.endswith("?gpu_type=mi300x")
    assert wavepool("reservations", "calendar", "--json").json == [own, other]


def test_a_list_has_mine_that_are_not_over(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE, OTHER)
    out = wavepool("reservations").out
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["01KB9X2F0", "training", "ada"],
        ["01KB9X2F1", "tests", "ada"],
    ]
    [asked] = gateway.asked("GET", RESERVATIONS)
    query = "page_size=200&state=pending&state=queued&state=preparing&state=active&state=expiring&user_id=user_ada"
    assert asked.path == f"{RESERVATIONS}?{query}"
    assert wavepool("reservations", "list", "--json").json == [ACTIVE, OTHER]


def test_a_list_has_the_disk_and_with_details_who_may_log_in_and_why(gateway: ScriptedGateway) -> None:
    listed(gateway, {**ACTIVE, "disk_name": "work", "users": ["ada", "bob"], "message": "Its time runs."})
    head, line = wavepool("reservations").out.splitlines()
    assert line[head.index("disk") :].split()[0] == "work"
    assert "ada, bob" not in line
    for words in (("reservations", "--details"), ("reservations", "list", "--details")):
        assert "ada, bob" in wavepool(*words).out
        assert "Its time runs." in wavepool(*words).out


def test_a_list_can_have_other_states_and_other_users(gateway: ScriptedGateway) -> None:
    listed(gateway)
    gateway.on("GET", "/api/v1/users/bob", Answer({"id": "user_bob"}))
    wavepool("reservations", "--status", "all", "--user", "all")
    wavepool("reservations", "--status", "Expired,failed", "--user", "bob")
    queries = [asked.path.partition("?")[2] for asked in gateway.asked("GET", RESERVATIONS)]
    assert queries == ["page_size=200", "page_size=200&state=expired&state=failed&user_id=user_bob"]
    refused = wavepool("reservations", "--status", "soon")
    assert (refused.status, "'soon' is not valid; choose pending, queued, " in refused.err) == (2, True)


@pytest.mark.parametrize("text", [ID, "training", "01KB9X2F0", "res_01kb9x2f0", ""])
def test_show_takes_an_id_its_beginning_a_name_or_the_only_one(gateway: ScriptedGateway, text: str) -> None:
    listed(gateway, ACTIVE) if not text else listed(gateway, ACTIVE, OTHER)
    run = wavepool("reservations", "show", *([text] if text else []), "--json")
    assert (run.status, run.json["id"]) == (0, ID)


def test_several_that_fit_are_listed_for_scripts(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE, OTHER)
    for words in (("reservations", "show"), ("connect",), ("cancel", "01KB"), ("connect", "01KB")):
        run = wavepool(*words)
        assert (run.status, ID in run.err, OTHER_ID in run.err) == (2, True, True), words
    listed(gateway)
    nothing = wavepool("connect")
    assert (nothing.status, "you have no active reservation" in nothing.err) == (2, True)


def test_one_that_is_over_is_found_too(gateway: ScriptedGateway) -> None:
    over = {**OTHER, "state": "expired"}
    pages = [Answer({"reservations": found, "next_page_token": ""}) for found in ([ACTIVE], [ACTIVE, over])]
    gateway.only("GET", RESERVATIONS, *pages)
    gateway.on("GET", f"{RESERVATIONS}/{OTHER_ID}", Answer(over))
    assert wavepool("reservations", "show", "tests", "--json").json == over


@pytest.mark.parametrize("text", ["training", "01KB9X2F0", ""])
@pytest.mark.parametrize("command", ["show", "debug"])
def test_what_lists_leave_out_is_shown_of_one_that_is_named(gateway: ScriptedGateway, command: str, text: str) -> None:
    history = [{"event": "created", "by": "ada"}]
    listed(gateway, {**ACTIVE, "history": []})
    gateway.only("GET", ONE, Answer({**ACTIVE, "history": history}))
    shown = wavepool("reservations", command, *([text] if text else []), "--json").json
    assert shown.get("reservation", shown)["history"] == history


def test_edit_renames_changes_users_and_extends(gateway: ScriptedGateway, tmp_path: Path) -> None:
    (tmp_path / "bob.pub").write_text("ssh-ed25519 BBBB bob\nssh-ed25519 CCCC bob\n")
    for method, path in (("PATCH", ONE), ("POST", f"{ONE}/users"), ("POST", f"{ONE}/extend")):
        gateway.on(method, path, Answer(ACTIVE))
    who = ("--add-user", "bob=bob.pub", "--add-editor", "carl", "--remove-user", "eve")
    words = ("--extend", "1.5", *who, "--name", "other")
    assert wavepool("reservations", "edit", ID, *words, "--json").json == ACTIVE

    assert gateway.asked("PATCH", ONE)[0].body == {"name": "other"}
    keys = [{"user": "bob", "public_key": f"ssh-ed25519 {code} bob"} for code in ("BBBB", "CCCC")]
    assert gateway.asked("POST", f"{ONE}/users")[0].body == {"add": keys, "remove": ["eve"], "add_editors": ["carl"]}
    assert gateway.asked("POST", f"{ONE}/extend")[0].body == {"hours": 1.5}
    assert wavepool("reservations", "edit", ID).status == 2


@pytest.mark.parametrize(
    ("asked", "said"), [("tests", "the name tests is taken, so it is training now\n"), ("training", "")]
)
def test_it_is_said_if_a_reservation_is_not_called_as_asked(gateway: ScriptedGateway, asked: str, said: str) -> None:
    gateway.on("PATCH", ONE, Answer(ACTIVE))
    assert wavepool("reservations", "edit", ID, "--name", asked, "--json").err == said
    made = wavepool("reserve", "-h", "1", "-n", asked, "--no-wait")
    assert made.err.endswith(f"{ID} (training) is queued\n{said}")


def test_people_are_added_by_name_and_it_is_said_with_which_keys(gateway: ScriptedGateway) -> None:
    key = {"user": "bob@github", "type": "ssh-ed25519", "fingerprint": "SHA256:ab", "origin": "github.com/bob"}
    gateway.on("POST", f"{ONE}/users", Answer({**ACTIVE, "added_keys": [key], "notes": ["one is left out"]}))
    run = wavepool("reservations", "edit", ID, "--add-user", "carl", "--add-user", "github:bob")
    assert (run.status, run.err.splitlines()) == (
        0,
        ["bob@github may log in with ssh-ed25519 SHA256:ab (github.com/bob)", "one is left out"],
    )
    assert gateway.asked("POST", f"{ONE}/users")[0].body == {
        "add": [{"user": "carl"}, {"user": "github:bob"}],
        "remove": [],
    }


@pytest.mark.parametrize("text", ["=bob.pub", "bob=", "github:", "github:bob=bob.pub"])
def test_somebody_without_a_name_is_not_added(gateway: ScriptedGateway, text: str) -> None:
    run = wavepool("reservations", "edit", ID, "--add-user", text)
    assert (run.status, f"--add-user: is {text!r}" in run.err) == (2, True)
    assert gateway.asked("POST", f"{ONE}/users") == []


def test_a_refused_user_leaves_the_reservation_as_it_is(gateway: ScriptedGateway) -> None:
    gateway.on("POST", f"{ONE}/users", Answer({"title": "Forbidden", "detail": "bob is not in lab/gpu"}, 403))
    run = wavepool("reservations", "edit", ID, "--add-user", "bob", "--name", "other", "--extend", "1")
    assert run.status != 0
    assert "bob is not in lab/gpu" in run.err
    assert gateway.asked("PATCH", ONE) == gateway.asked("POST", f"{ONE}/extend") == []


@pytest.mark.parametrize("words", [("reserve", "--no-wait"), ("run", "--keep-alive", "--", "true")])
def test_others_may_log_in_from_the_start_on_and_it_is_said_with_which_keys(
    gateway: ScriptedGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    session_on_this_machine(tmp_path, monkeypatch)
    (tmp_path / "eve.pub").write_text("ssh-ed25519 EEEE eve\n")
    keys = [
        {"user": "ada", "type": "ssh-ed25519", "fingerprint": "SHA256:aa", "origin": "given"},
        {"user": "bob", "type": "ssh-ed25519", "fingerprint": "SHA256:bb", "origin": "wavepool"},
    ]
    gateway.only("POST", RESERVATIONS, Answer({**QUEUED, "added_keys": keys}, 202))
    command, *rest = words
    run = wavepool(command, "-h", "1", "--add-user", "bob", "--add-user", "eve=eve.pub", *rest)
    assert run.status == 0, run.err
    [asked] = gateway.asked("POST", RESERVATIONS)
    assert asked.body["add_users"] == [{"user": "bob"}, {"user": "eve", "public_key": "ssh-ed25519 EEEE eve"}]
    said = [line for line in run.err.splitlines() if "may log in with" in line]
    assert said == ["bob may log in with ssh-ed25519 SHA256:bb (wavepool)"]


def test_a_wrong_name_to_add_reserves_nothing(gateway: ScriptedGateway) -> None:
    run = wavepool("reserve", "-h", "1", "--add-user", "=eve.pub")
    assert (run.status, "--add-user: is '=eve.pub'" in run.err) == (2, True)
    assert gateway.asked("POST", RESERVATIONS) == []


def test_chosen_keys_are_the_only_ones_and_found_ones_are_said(gateway: ScriptedGateway, tmp_path: Path) -> None:
    found = {"user": "ada", "type": "ssh-rsa", "fingerprint": "SHA256:cd", "origin": "wavepool"}
    made = {**QUEUED, "added_keys": [{**found, "origin": "given"}, found], "notes": ["github.com does not answer"]}
    gateway.only("POST", RESERVATIONS, Answer(made, 202))
    run = wavepool("reserve", "-h", "0.5", "--no-wait", "-v")
    said = [line for line in run.err.splitlines() if "may log in" in line or "does not answer" in line]
    assert said == ["github.com does not answer", "ada may log in with ssh-rsa SHA256:cd (wavepool)"]
    wavepool("reserve", "-h", "0.5", "--no-wait", "--key", str(tmp_path / "home" / ".ssh" / "id_ed25519.pub"))
    assert "own_keys" not in gateway.asked("POST", RESERVATIONS)[-1].body


def test_extend_takes_hours_and_says_the_new_end(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE)
    gateway.on("POST", f"{ONE}/extend", Answer(ACTIVE))
    for words in (("1.5",), ("training", "1.5")):
        run = wavepool("extend", *words)
        assert (run.status, run.err.startswith(f"{ID} has 1 h 30 min more, until ")) == (0, True)
    assert wavepool("extend", "training").status == 2


def jobs_listed(gateway: ScriptedGateway, *jobs: dict[str, Any]) -> None:
    gateway.only("GET", SUBMISSIONS, Answer({"submissions": list(jobs), "next_page_token": ""}))
    for job in jobs:
        gateway.only("GET", f"{SUBMISSIONS}/{job['id']}", Answer(job))
        gateway.only("POST", f"{SUBMISSIONS}/{job['id']}/cancel", Answer({**job, "state": "CANCELLED"}, 202))


def cancelled(gateway: ScriptedGateway) -> list[str]:
    return [request.path.split("/")[-2] for request in gateway.requests if request.path.endswith("/cancel")]


def test_cancel_tells_reservations_from_submissions(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE)
    jobs_listed(gateway, {"id": "job_1"}, {"id": "job_2"})
    gateway.on("POST", f"{ONE}/cancel", Answer({**ACTIVE, "state": "expiring"}, 202))
    gateway.only("POST", f"{SUBMISSIONS}/job_2/cancel", Answer({"id": "job_2", "state": "RUNNING"}, 202))
    run = wavepool("cancel", "training", "job_1", "job_2", "training", ID, "--yes")
    said = ["job_1 is cancelled", "job_2 is ending", f"{ID} is ending"]
    assert (run.status, run.err.splitlines(), cancelled(gateway)) == (0, said, ["job_1", "job_2", ID])
    assert wavepool("cancel", "job_1", "--json").json == [{"id": "job_1", "state": "CANCELLED"}], "a list, of one, too"


def test_cancel_finds_all_before_it_ends_one_and_reports_each(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE)
    jobs_listed(gateway, {"id": "job_1"}, {"id": "job_2"})
    missing = wavepool("cancel", "job_1", "job_9", "nothing", ID, "--yes")
    assert (missing.status, cancelled(gateway)) == (2, [])
    assert all(word in missing.err for word in ("Not Found", "'nothing'", "Nothing was ended"))
    gateway.only("POST", f"{SUBMISSIONS}/job_1/cancel", Answer({"detail": "Try again."}, 503))
    run = wavepool("cancel", "job_1", "job_2")
    said = ["job_1 was not ended: Try again.", "job_2 is cancelled"]
    assert (run.status, run.err.splitlines()) == (3, said)
    assert wavepool("cancel", "job_1", "job_2", "--json").json[0] == {"id": "job_1", "error": "Try again."}


@pytest.mark.parametrize("words", [(), ("--yes",), ("--all", ID), ("--pending", "job_1"), ("--json",)])
def test_cancel_ends_nothing_that_is_not_named(gateway: ScriptedGateway, words: tuple[str, ...]) -> None:
    listed(gateway, ACTIVE)
    run = wavepool("cancel", *words)
    assert (run.status, "name what to end" in run.err, gateway.requests) == (2, True, [])


@pytest.mark.parametrize(
    ("words", "jobs", "reservations"),
    [
        (
            ("--all",),
            "state=QUEUED&state=PROVISIONING&state=RUNNING",
            "state=pending&state=queued&state=preparing&state=active",
        ),
        (("--jobs",), "state=QUEUED&state=PROVISIONING&state=RUNNING", ""),
        (("--reservations",), "", "state=pending&state=queued&state=preparing&state=active"),
        (("--pending",), "state=QUEUED&state=PROVISIONING", "state=pending&state=queued"),
        (("--pending", "--jobs"), "state=QUEUED&state=PROVISIONING", ""),
        (("--pending", "--reservations"), "", "state=pending&state=queued"),
    ],
)
def test_cancel_ends_all_of_mine_of_a_kind_if_a_script_says_yes(
    gateway: ScriptedGateway, words: tuple[str, ...], jobs: str, reservations: str
) -> None:
    listed(gateway, ACTIVE, OTHER)
    jobs_listed(gateway, {"id": "job_1", "mode": "sandbox", "state": "QUEUED"})
    for one in (ID, OTHER_ID):
        gateway.on("POST", f"{RESERVATIONS}/{one}/cancel", Answer({**ACTIVE, "id": one, "state": "expiring"}, 202))
    wanted = [*(["job_1"] if jobs else []), *([ID, OTHER_ID] if reservations else [])]
    unsure = wavepool("cancel", *words)
    assert (unsure.status, [one for one in wanted if one not in unsure.err], "--yes" in unsure.err) == (2, [], True)
    assert cancelled(gateway) == []
    ended = wavepool("cancel", *words, "--yes", "--json")
    assert ([one["id"] for one in ended.json], cancelled(gateway)) == (wanted, wanted)
    asked = [
        request.path.partition("?")[2] for path in (SUBMISSIONS, RESERVATIONS) for request in gateway.asked("GET", path)
    ]
    queries = [f"page_size=200&{query}&user_id=user_ada" for query in (jobs, reservations) if query]
    assert list(dict.fromkeys(asked)) == queries
    listed(gateway)
    jobs_listed(gateway)
    nothing = wavepool("cancel", *words)
    assert (nothing.status, nothing.err) == (0, "you have nothing to end\n")


def test_avail_shows_what_is_free_and_the_waits(gateway: ScriptedGateway) -> None:
    waits = [{"gpu_count": 1, "eta_p50": 0.0}, {"gpu_count": 8, "eta_p50": 60.0}]
    found = [{"gpu_type": "MI300X", "free_gpus": 5, "waits": waits, "price_per_gpu_hour": 1.99}]
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": found}))
    cells = wavepool("avail", "-t", "mi300x").out.splitlines()[1].split()
    assert cells == ["MI300X", "5", "0", "0", "0", "0", "$1.99", "now", "-", "-", "1", "min", "-"]
    assert gateway.asked("GET", AVAILABILITY)[0].path.endswith("?gpu_type=mi300x")
    assert wavepool("avail", "--json").json == found


def options_of(command: list[str]) -> dict[str, list[str]]:
    """The values of ssh's options in a command, by name."""
    found: dict[str, list[str]] = {}
    for place, word in enumerate(command):
        if word == "-o":
            name, _, value = command[place + 1].partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_connect_prints_a_command_that_insists_on_the_host_key(gateway: ScriptedGateway, tmp_path: Path) -> None:
    run = wavepool("connect", ID, "--print", "--", "-L", "8888:localhost:8888", environment={"WAVEPOOL_TOKEN": "wp_1"})
    command = shlex.split(run.out)
    assert command[0] == "ssh"
    assert command[-3:] == ["wp-aaaaaaaa", "-L", "8888:localhost:8888"]
    options = options_of(command)
    known_hosts = tmp_path / "config" / "wavepool" / "ssh" / f"{ID}.known_hosts"
    assert options["StrictHostKeyChecking"] == ["yes"]
    assert (options["HostKeyAlias"], options["User"]) == (["wp-aaaaaaaa"], ["dev"])
    assert options["UserKnownHostsFile"] == [str(known_hosts)]
    assert known_hosts.read_text() == f"wp-aaaaaaaa {HOST_KEY}\n"
    assert options["IdentityFile"] == [str(tmp_path / "home" / ".ssh" / "id_ed25519")]
    (proxy,) = options["ProxyCommand"]
    assert f"WAVEPOOL_ENDPOINT={gateway.endpoint}" in proxy
    assert proxy.endswith(f"-m wavepool_client.ssh.proxy {ID}")
    assert "wp_1" not in run.out, "others on the machine can read a command"


def test_connect_goes_to_the_machine_that_is_named_and_to_the_first_without(gateway: ScriptedGateway) -> None:
    nodes = [{"rank": rank, "host_key": f"ssh-ed25519 AAAA{rank}"} for rank in range(2)]
    gateway.only("GET", ONE, Answer({**ACTIVE, "nodes": nodes}))
    for words, host in (((), "wp-aaaaaaaa"), (("--node", "0"), "wp-aaaaaaaa"), (("--node", "1"), "wp-aaaaaaaa-1")):
        assert shlex.split(wavepool("connect", ID, "--print", *words).out)[-1] == host
    for node, has in ((2, "nodes 0 to 1"), (1, "one machine, node 0")):
        wrong = wavepool("connect", ID, "--print", "--node", str(node))
        assert (wrong.status, f"--node {node}: {ID} has {has}" in wrong.err) == (2, True)
        gateway.only("GET", ONE, Answer(ACTIVE))


def test_several_machines_are_asked_for_with_two_options(gateway: ScriptedGateway) -> None:
    run = wavepool("reserve", "-h", "1", "-g", "16", "-d", "--allow-slow-links", "--no-wait")
    assert run.status == 0, run.err
    asked = gateway.asked("POST", RESERVATIONS)[0].body
    assert (asked["gpu_count"], asked["distributed"], asked["allow_slow_links"]) == (16, True, True)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A socket where an agent would listen; only ssh speaks with it."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        # The whole path may be longer than such addresses are.
        listening.bind("agent")
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        yield


def forwarding(*words: str) -> tuple[list[str], str]:
    run = wavepool("connect", ID, "--print", *words)
    return options_of(shlex.split(run.out)).get("ForwardAgent", []), run.err.strip()


@pytest.mark.usefixtures("agent")
def test_connect_forwards_the_agent_to_where_nobody_else_logs_in(gateway: ScriptedGateway) -> None:
    gateway.only("GET", ONE, Answer({**ACTIVE, "users": ["ada"]}))
    forwarded, said = forwarding()
    assert forwarded == ["yes"]
    assert said.startswith("your ssh agent is forwarded, ")
    assert forwarding("--no-agent") == (["no"], "")


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    ("whose", "who"),
    [
        ({"users": ["ada", "bob"]}, "bob"),
        ({"owner": "alice", "owner_id": "user_alice", "users": ["alice", "ada"]}, "alice"),
        ({"owner": "alice", "owner_id": "user_alice", "users": ["ada"]}, "alice"),
    ],
)
def test_an_agent_is_not_forwarded_to_where_others_could_use_it(
    gateway: ScriptedGateway, whose: dict[str, Any], who: str
) -> None:
    gateway.only("GET", ONE, Answer({**ACTIVE, **whose}))
    forwarded, said = forwarding()
    assert forwarded == []
    assert said.startswith(f"your ssh agent is not forwarded: {who} may also log in")
    assert forwarding("--agent")[0] == ["yes"]


def test_without_an_agent_nothing_is_forwarded_or_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "gone"))
    assert forwarding() == ([], "")
    assert "--agent: there is no agent here" in wavepool("connect", ID, "--agent").err


@pytest.mark.usefixtures("agent")
def test_files_for_ssh_forward_no_agent() -> None:
    assert "ForwardAgent" not in wavepool("ssh-config", ID).out


def test_a_key_that_was_named_when_it_was_reserved_is_used_when_connecting(tmp_path: Path) -> None:
    new_key().keep(tmp_path / "other key")
    wavepool("reserve", "-h", "0.5", "--key", "other key.pub", "--no-wait")
    options = options_of(shlex.split(wavepool("connect", ID, "--print").out))
    assert options["IdentityFile"][0] == f'"{tmp_path / "other key"}"'


def test_connect_has_the_exit_status_of_ssh_and_passes_a_command_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    asked = tmp_path / "asked"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "$WAVEPOOL_TOKEN" > {asked}\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    run = wavepool("connect", ID, "--token", "wp_1", "--", "echo", "-n", "ok")
    assert run.status == 7
    assert asked.read_text().splitlines()[-4:] == ["echo", "-n", "ok", "wp_1"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("queued", "it starts likely in 1 min 30 s"),
        ("pending", "it starts at 2096-11-26"),
        ("expired", "another with"),
    ],
)
def test_nobody_connects_to_one_that_is_not_active(gateway: ScriptedGateway, state: str, words: str) -> None:
    gateway.only("GET", ONE, Answer({**QUEUED, "state": state, "start_time": "2096-11-26T12:00:00Z"}))
    run = wavepool("connect", ID)
    assert (run.status, words in run.err) == (2, True)


def test_ssh_config_has_both_names(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE)
    lines = wavepool("ssh-config", "training").out.splitlines()
    assert lines[0] == "Host wp-aaaaaaaa training"
    assert "    StrictHostKeyChecking yes" in lines


def test_debug_has_why_events_the_machine_and_what_to_do(gateway: ScriptedGateway) -> None:
    failed = {**ACTIVE, "state": "failed", "message": "Its machine was lost.", "machine_id": "mach_1"}
    gateway.only("GET", ONE, Answer(failed))
    gateway.on("GET", "/api/v1/machines/mach_1", Answer({"id": "mach_1", "state": "LOST", "reason": "No answer."}))
    run = wavepool("reservations", "debug", ID)
    assert run.status == 0
    for text in (
        "why: Its machine was lost.",
        "mach_1 is lost: No answer.",
        "sandbox is ready in 0.5 s",
        "reserve again",
    ):
        assert text in run.out
    found = wavepool("reservations", "debug", ID, "--json").json
    assert [event["status"] for event in found["events"]] == ["QUEUED", "STEP", "ACTIVE"]
    gateway.only("GET", "/api/v1/machines/mach_1", Answer({"title": "Forbidden"}, 403))
    assert wavepool("reservations", "debug", ID, "--json").json["machine"] is None
    gateway.only("GET", ONE, Answer({**ACTIVE, "state": "queued"}))
    kept = "It is next. Of m_1: what is free of it is kept for res_x from 09:00 UTC on."
    gateway.on("GET", f"/api/v1/submissions/{ID}/why", Answer({"reason": kept}))
    assert f"waits: {kept}" in wavepool("reservations", "debug", ID).out


def test_show_says_what_to_do_beside_what_is_known(gateway: ScriptedGateway) -> None:
    gateway.only("GET", ONE, Answer({**ACTIVE, "state": "expired", "disk_name": "work"}))
    run = wavepool("reservations", "show", ID)
    assert run.err.splitlines() == ["your data on disk work is kept: wavepool reserve --disk work"]
    assert wavepool("reservations", "show", ID, "--json").err == ""


def test_show_traces_what_has_happened_with_times(gateway: ScriptedGateway) -> None:
    story = [(seq, {**data, "timestamp": 1764194700000 + seq * 250}) for seq, data in STORY]
    gateway.only("GET", f"{ONE}/events", Stream(story))
    lines = [line.split() for line in wavepool("reservations", "show", ID, "--trace").out.splitlines()]
    [step] = [line for line in lines if "STEP" in line]
    assert (step[0][-7:], step[1:4]) == (":00.500", ["+0.2", "s", "STEP"])
    found = wavepool("reservations", "show", ID, "--trace", "--json").json
    assert [event["id"] for event in found["events"]] == [1, 2, 3]
    assert found["state"] == "active"
    assert "STEP" not in wavepool("reservations", "show", ID).out
    gateway.only("GET", ONE, Answer(ACTIVE), Answer({**ACTIVE, "state": "expired"}))
    followed = wavepool("reservations", "show", ID, "--trace", "-f")
    assert ("STEP" in followed.out, ":00.500 sandbox is ready" in followed.err) == (False, True)


def test_queue_status_promises_the_reasons_of_your_own_alone() -> None:
    said = " ".join(wavepool("queue-status", "--help").out.split())
    assert "why the first in line waits, and where and why your reservations wait" in said


def test_queue_status_has_the_types_and_where_mine_stand(gateway: ScriptedGateway) -> None:
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": [{"gpu_type": "MI300X", "queue_length": 2}]}))
    second = {**OTHER, "state": "queued", "position": 2, "message": "One is before it."}
    other_type = {**second, "id": "res_x", "gpu_type": "MI210"}
    listed(gateway, second, {**QUEUED, "position": 1, "message": "No machine is free."}, other_type)
    lines = wavepool("queue-status", "-t", "mi300x").out.splitlines()
    assert lines[1].split()[:6] == ["MI300X", "0", "0", "0", "0", "2"]
    assert ID in lines[2]
    assert "position 1, likely in 1 min 30 s" in lines[2]
    assert lines[3].strip() == "No machine is free."
    assert OTHER_ID in lines[4]
    assert len(lines) == 6
    listed(gateway)
    assert "none of your reservations is waiting" in wavepool("queue-status").err


def test_queue_status_says_of_each_type_why_the_first_in_line_waits(gateway: ScriptedGateway) -> None:
    head = {"gpu_count": 8, "create_time": None, "reason": "There is no machine with MI300X."}
    types = [{"gpu_type": "MI300X", "queue_length": 2, "queue_head": head}, {"gpu_type": "MI210", "queue_head": None}]
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": types}))
    listed(gateway)
    said = [line for line in wavepool("queue-status").out.splitlines() if "first in line" in line]
    assert said == ["first in line: 8 x MI300X. There is no machine with MI300X."]


def test_status_adds_the_types_up(gateway: ScriptedGateway) -> None:
    one = {"gpu_type": "MI300X", "total_gpus": 16, "free_gpus": 3, "reserved_gpus": 8, "queue_length": 2}
    one["startable_gpus"] = 3
    gateway.on("GET", AVAILABILITY, Answer({"gpu_types": [one, {**one, "gpu_type": "MI210"}]}))
    listed(gateway, ACTIVE)
    found = wavepool("status", "--json").json
    assert found == {
        "total_gpus": 32,
        "free_gpus": 6,
        "reserved_gpus": 16,
        "queue_length": 4,
        "startable_gpus": 3,
        "my_active_reservations": 1,
    }
    assert "32" in wavepool("status").out


def test_connect_explains_what_ssh_does_not(
    gateway: ScriptedGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 255\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    gateway.only("GET", ONE, Answer({**ACTIVE, "users": ["bob"]}))
    run = wavepool("connect", ID)
    assert (run.status, "may log in: bob" in run.err, "id_ed25519" in run.err) == (255, True, True)
    gateway.only("GET", ONE, Answer({**ACTIVE, "owner": "alice", "users": ["alice"]}))
    line = f"ask alice to add you: wavepool reservations edit {ID} --add-user ada"
    assert line in wavepool("connect", ID).err
    gateway.only("GET", ONE, Answer(ACTIVE), Answer({**ACTIVE, "state": "expired"}))
    over = wavepool("connect", ID)
    assert (over.status, "the reservation is expired" in over.err) == (255, True)


@pytest.mark.parametrize(("terminals", "said"), [(1, "1 terminal shows it"), (2, "2 terminals show it")])
def test_a_text_is_written_to_the_terminals_of_a_reservation(
    gateway: ScriptedGateway, terminals: int, said: str
) -> None:
    gateway.on("POST", f"{ONE}/notify", Answer({"terminals": terminals}))
    run = wavepool("reservations", "notify", ID, "Maintenance at noon.")
    assert (run.status, run.err.strip()) == (0, said)
    assert gateway.asked("POST", f"{ONE}/notify")[0].body == {"text": "Maintenance at noon."}


def test_the_use_is_a_table_of_gpu_hours(gateway: ScriptedGateway) -> None:
    row = {"day": "2026-11-26", "user": "ada", "gpu_type": "MI300X", "gpu_hours": 1.5, "reservations": 2}
    gateway.on("GET", "/api/v1/reservations/usage", Answer({"usage": [row]}))
    run = wavepool("reservations", "usage", "--days", "7")
    assert run.status == 0, run.err
    assert run.out.split()[-5:] == ["2026-11-26", "ada", "MI300X", "1.50", "2"]
    assert wavepool("reservations", "usage", "--days", "0").status == 2
