from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from wavepool_client.text.reservations import host_name
from wavepool_client.text.start_times import time_text

QUEUES, APPLY, WHY = "/api/v1/queues", "/api/v1/queues/apply", "/api/v1/submissions/job_1/why"
RESERVATION = "res_01KB0000000000000000000001"
DOCUMENT: dict[str, Any] = {
    "apiVersion": "kaiwo.ai/v1alpha2",
    "kind": "KaiwoQueue",
    "metadata": {"name": "red"},
    "spec": {"parentQueue": "lab"},
}
SHARE: dict[str, Any] = {"gpu_type": "MI300X", "quota": 4.0, "fair_share": 3.5, "used": 1.0, "limit": None}
LISTED: dict[str, Any] = {
    "queues": [
        {
            "name": "lab",
            "parent": None,
            "running": 1,
            "waiting": 2,
            "shares": [],
            "document": DOCUMENT,
            "max_priority": 0,
        },
        {
            "name": "red",
            "parent": "lab",
            "closed": True,
            "running": 1,
            "waiting": 2,
            "later_reservations": 1,
            "shares": [SHARE],
            "document": {},
        }
        | {"ordering": "classic", "placement": "pack", "default_class": "batch", "max_priority": 10}
        | {"classes": {"batch": {}, "urgent": {"value": 20, "administratorsOnly": True}}},
    ],
    "generation": 5,
    "plugins": [
        {"kind": "ordering", "name": "sound", "failures": 0, "last_failure": None},
        {"kind": "ordering", "name": "short-first", "failures": 2, "last_failure": "ZeroDivisionError: no worth"},
    ],
}
CHANGED: dict[str, Any] = {
    "changes": [
        {"name": "red", "kind": "CHANGED", "fields": [{"field": "resources.gpu.quota", "before": "4", "after": "6"}]},
        {"name": "blue", "kind": "REMOVED", "fields": []},
    ],
    "generation": 5,
}
UNCHANGED: dict[str, Any] = {"changes": [], "generation": 5}
EXPLAINED: dict[str, Any] = {
    "queue": "red",
    "position": 3,
    "ahead_in_queue": 1,
    "ahead_in_others": 1,
    "reason": "2 jobs are ahead of it for MI300X.",
    "remedy": "Runs on MI300X that end.",
    "eta_p50_seconds": 90.0,
    "eta_p90_seconds": 4205.0,
    "estimate_basis": "12 runs of the same problems",
    "machines": [
        {"machine_id": "m_1", "gpu_type": "MI300X", "reason": "its GPUs are in use"},
        {"machine_id": "m_2", "gpu_type": "MI300X", "reason": "it has room"}
        | {"scores": [{"name": "promised", "value": 0.0}, {"name": "pack", "value": -3.0}]},
    ],
    "shares": [SHARE],
    "ordering": "classic",
    "class": "urgent",
    "class_value": 20,
    "deadline": "2026-11-01T12:00:00.123456Z",
    "latest_start_time": "2026-11-01T11:45:00.123456Z",
}


def document_file(tmp_path: Path, text: str | None = None) -> str:
    file = tmp_path / "queues.yaml"
    file.write_text(yaml.safe_dump(DOCUMENT) if text is None else text)
    return str(file)


def test_queues_are_shown_as_a_tree_with_what_they_have(gateway: ScriptedGateway) -> None:
    gateway.on("GET", QUEUES, Answer(LISTED))

    out = wavepool("queues", "--endpoint", gateway.endpoint).out

    lines = [line.split() for line in out.splitlines()]
    assert ["lab", "-", "-", "-", "-", "-", "1", "2"] in lines
    assert ["red", "(closed)", "MI300X", "4", "3.5", "-", "1", "1", "2,", "1", "later"] in lines
    assert "  red (closed)" in out
    words = " ".join(out.split())
    assert (
        "red: ordering classic; priorities up to 10; classes batch 0 (default), urgent 20 (administrators only)"
        in words
    )
    assert "lab:" not in words
    assert "The ordering 'short-first' has failed 2 times, and 'age' decided instead." in words
    assert "'sound'" not in words
    assert wavepool("queues", "--json", "--endpoint", gateway.endpoint).json == LISTED


def test_a_queue_whose_gpus_nobody_has_asked_for_shows_what_its_document_says(gateway: ScriptedGateway) -> None:
    spec = {"resources": {"gpu": {"quota": 8, "limit": 16}, "MI300X": {"quota": -1}}}
    queue = {"name": "red", "parent": None, "running": 0, "waiting": 0, "document": DOCUMENT | {"spec": spec}}
    gateway.on("GET", QUEUES, Answer({"queues": [queue | {"shares": []}], "generation": 5}))

    lines = [line.split() for line in wavepool("queues", "--endpoint", gateway.endpoint).out.splitlines()]

    assert ["red", "any", "8", "-", "16", "-", "0", "0"] in lines
    assert ["-", "MI300X", "all"] in [line[:3] for line in lines]


def test_what_is_exported_can_be_applied(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.on("GET", QUEUES, Answer({"queues": LISTED["queues"][:1], "generation": 5}))
    gateway.on("POST", APPLY, Answer(UNCHANGED))

    exported = wavepool("queues", "export", "--endpoint", gateway.endpoint).out
    run = wavepool("queues", "apply", "-f", document_file(tmp_path, exported), "--endpoint", gateway.endpoint)

    [asked] = gateway.asked("POST", APPLY)
    assert asked.body["documents"] == [DOCUMENT]
    assert "nothing to change" in run.err


def test_a_change_is_shown_and_made_only_after_a_yes(gateway: ScriptedGateway, tmp_path: Path) -> None:
    gateway.on("POST", APPLY, Answer(CHANGED))
    words = ("queues", "apply", "-f", document_file(tmp_path), "--prune", "--endpoint", gateway.endpoint)

    refused = wavepool(*words, stdin="n\n")
    dry = wavepool(*words, "--dry-run")
    made = wavepool(*words, stdin="y\n")

    assert "~ red" in refused.out
    assert "resources.gpu.quota: 4 -> 6" in refused.out
    assert "- blue" in refused.out
    assert (refused.status, dry.status, made.status) == (1, 0, 0)
    asked = [
        (one.body["dry_run"], one.body["prune"], one.body["expected_generation"])
        for one in gateway.asked("POST", APPLY)
    ]
    assert asked == [(True, True, 0), (True, True, 0), (True, True, 0), (False, True, 5)]
    assert "generation 5" in made.err


@pytest.mark.parametrize(
    ("text", "words"),
    [("[1, 2]", "is not a mapping"), ("", "has no document"), ("a: [", "is not YAML"), (None, "cannot be read")],
)
def test_a_file_that_describes_no_queues_reaches_no_gateway(
    gateway: ScriptedGateway, tmp_path: Path, text: str | None, words: str
) -> None:
    file = str(tmp_path / "missing") if text is None else document_file(tmp_path, text)

    run = wavepool("queues", "apply", "-f", file, "--endpoint", gateway.endpoint)

    assert run.status == 2
    assert words in run.err
    assert not gateway.requests


def test_queues_are_closed_opened_and_removed(gateway: ScriptedGateway) -> None:
    for method, path in (("POST", "red/close"), ("POST", "red/open"), ("DELETE", "red")):
        gateway.on(method, f"{QUEUES}/{path}", Answer(CHANGED), Answer(UNCHANGED))

    said = [wavepool("queues", word, "red", "--endpoint", gateway.endpoint).err for word in ("close", "open", "remove")]
    again = wavepool("queues", "close", "red", "--endpoint", gateway.endpoint).err

    assert "queue red takes no new submissions" in said[0]
    assert "queue red takes submissions" in said[1]
    assert "queue red is removed" in said[2]
    assert "already" in again


def test_maintenance_of_a_type_begins_and_ends(gateway: ScriptedGateway) -> None:
    route = "/api/v1/gpu-types/MI300X/maintenance"
    gateway.on("PUT", route, Answer({}))
    gateway.on("DELETE", route, Answer({}))
    begin = ("queues", "maintenance", "MI300X", "--endpoint", gateway.endpoint)

    assert "only you can reserve it" in wavepool(*begin, "--reason", "cables", "--until", "2027-01-15T15:00Z").err
    body = gateway.asked("PUT", route)[0].body
    assert body["reason"] == "cables"
    assert datetime.fromisoformat(body["until"]) == datetime(2027, 1, 15, 15, tzinfo=UTC)
    assert "MI300X can be reserved" in wavepool(*begin, "--end").err
    for wrong in ((), ("--end", "--reason", "x"), ("--reason", "x", "--until", "noon")):
        assert wavepool(*begin, *wrong).status == 2


def test_why_says_the_rule_the_remedy_and_the_machines(gateway: ScriptedGateway) -> None:
    gateway.on("GET", WHY, Answer(EXPLAINED))

    out = wavepool("why", "job_1", "--endpoint", gateway.endpoint).out

    assert out.startswith("2 jobs are ahead of it for MI300X.\nTo free it: Runs on MI300X that end.\n")
    assert "Position 3: 1 ahead of it in its queue and 1 in others." in out
    likely = "It starts likely in 1 min 30 s, in 9 of 10 cases within 1 h 10 min"
    assert f"{likely} (estimate: 12 runs of the same problems)." in " ".join(out.split())
    assert "its GPUs are in use" in out
    assert "promised 0, pack -3" in out
    assert "Class urgent: 20 points (classic)" in out
    times = [time_text(EXPLAINED[name]) for name in ("deadline", "latest_start_time")]
    assert "Deadline {}: it must start by {}, or it is cancelled".format(*times) in " ".join(out.split())
    assert wavepool("why", "job_1", "--json", "--endpoint", gateway.endpoint).json == EXPLAINED


@pytest.mark.parametrize("name", ["training", "01KB", host_name(RESERVATION)])
def test_why_takes_a_reservation_as_its_siblings_do(gateway: ScriptedGateway, name: str) -> None:
    one = {"id": RESERVATION, "name": "training", "state": "queued"}
    gateway.on("GET", "/api/v1/reservations", Answer({"reservations": [one], "next_page_token": ""}))
    gateway.on("GET", f"/api/v1/submissions/{RESERVATION}/why", Answer(EXPLAINED))
    assert wavepool("why", name, "--endpoint", gateway.endpoint).out.startswith("2 jobs are ahead of it")


def test_why_says_why_nobody_knows_how_long_it_waits(gateway: ScriptedGateway) -> None:
    unknown = {"eta_p50_seconds": None, "eta_p90_seconds": None, "estimate_basis": "not known: too few runs have ended"}
    gateway.on("GET", WHY, Answer(EXPLAINED | unknown))
    out = wavepool("why", "job_1", "--endpoint", gateway.endpoint).out
    assert "How long it waits is not known: too few runs have ended." in " ".join(out.split())


def test_why_of_a_submission_that_does_not_wait_is_one_sentence(gateway: ScriptedGateway) -> None:
    gateway.on("GET", WHY, Answer(EXPLAINED | {"position": None, "reason": "It runs on m_1."}))

    assert wavepool("why", "job_1", "--endpoint", gateway.endpoint).out == "It runs on m_1.\n"
