from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from wavepool_client.http.event_stream import Event
from wavepool_client.reservation_client import ALIVE, OVER
from wavepool_client.text.reservation_advice import LAST_EVENTS, advice, explanation, refusal_lines

NOW = datetime(2026, 11, 26, 20, 0, tzinfo=UTC)
ID = "res_01KB9X2F00AAAAAAAAAAAAAAAA"
ONE: dict[str, Any] = {"id": ID, "name": "training", "gpu_count": 8, "gpu_type": "MI300X", "users": ["ada", "bob"]}


@pytest.mark.parametrize("state", [*ALIVE, *OVER, "of a newer version"])
def test_every_state_has_advice_that_names_the_reservation_or_a_command(state: str) -> None:
    said = advice({**ONE, "state": state})
    assert said
    assert all("ID" not in text for text in said)
    assert any("wavepool" in text or "copy" in text for text in said)


@pytest.mark.parametrize("state", ["expired", "cancelled", "failed", "expiring"])
def test_whoever_had_a_disk_is_told_that_it_is_kept_and_how_to_go_on(state: str) -> None:
    said = advice({**ONE, "state": state, "disk_name": "work"})
    assert "your data on disk work is kept: wavepool reserve --disk work" in said
    assert not any("removed" in text or "copy what you need" in text for text in said)
    assert not any("disk" in text for text in advice({**ONE, "state": state}))


@pytest.mark.parametrize("state", ["expired", "cancelled"])
def test_a_home_without_a_disk_is_gone(state: str) -> None:
    was_active = {**ONE, "state": state, "active_at": "2026-11-26T19:00:00Z"}
    assert advice(was_active) == ["reserve again: wavepool reserve; its home is removed"]


def test_what_was_cancelled_in_the_queue_had_no_home_to_remove() -> None:
    assert advice({**ONE, "state": "cancelled", "active_at": None}) == ["reserve again: wavepool reserve"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cost_usd": 0.0}, "; nothing is charged for this one"),
        (
            {"cost_usd": 0.68, "disk_name": "work", "disk_safe_time": "2026-11-26T19:45:00Z"},
            "; $0.68 is charged for the time that is saved; the rest is given back",
        ),
        ({}, ""),
    ],
)
def test_whoever_lost_a_reservation_reads_what_stays_charged(fields: dict[str, Any], said: str) -> None:
    assert f"reserve again: wavepool reserve{said}" in advice({**ONE, "state": "failed", **fields})


def test_a_last_snapshot_that_failed_is_no_data_that_is_kept() -> None:
    saved = {"disk_name": "work", "disk_safe_time": "2026-11-26T19:45:00Z", "disk_fault": "the store is full"}
    _, lost = advice({**ONE, "state": "expired", **saved})
    assert lost.startswith("its last snapshot failed, so what was written after 2026-11-2")
    assert lost.endswith(" is lost: the store is full")


def test_whoever_has_a_start_of_its_own_has_half_an_hour_to_log_in() -> None:
    at_once = {**ONE, "state": "active"}
    assert any("is ended after an hour" in text for text in advice(at_once))
    dated = {**at_once, "start_time": "2026-11-26T20:00:00Z"}
    assert any("is ended 30 minutes after its start" in text for text in advice(dated))


def test_whoever_may_not_log_in_to_somebody_elses_is_told_whom_to_ask() -> None:
    one = {**ONE, "state": "active", "owner": "alice"}
    ask = f"  ask alice to add you: wavepool reservations edit {ID} --add-user you"
    assert ask in refusal_lines(one, [], "you")
    assert not any("ask alice" in line for caller in ("alice", "") for line in refusal_lines(one, [], caller))


def test_an_explanation_says_why_where_it_stands_and_what_its_machine_had() -> None:
    waits = {**ONE, "state": "queued", "message": "8 GPUs are reserved.", "position": 2, "eta_p50": 90.0}
    lines = explanation(waits, [Event(1, "QUEUED", {"message": "Waiting."})], {}, NOW)
    assert lines[:3] == [
        f"{ID} (training) is queued: 8 x MI300X",
        "  why: 8 GPUs are reserved.",
        "  place: position 2, likely in 1 min 30 s",
    ]
    assert "  QUEUED           Waiting." in lines
    machine = {"id": "mach_1", "state": "LOST", "reason": "Its provider took it back."}
    failed = explanation({**ONE, "state": "failed"}, [], machine, NOW)
    assert "  machine: mach_1 is lost: Its provider took it back." in failed


def test_only_the_last_events_are_shown() -> None:
    events = [Event(seq, "STEP", {"name": f"step-{seq}"}) for seq in range(1, 31)]
    lines = "\n".join(explanation({**ONE, "state": "active"}, events, {}, NOW))
    assert ("step-10 " in lines, "step-11 " in lines, lines.count("STEP")) == (False, True, LAST_EVENTS)


def test_a_login_that_failed_names_who_may_and_which_keys_were_tried() -> None:
    said = "\n".join(refusal_lines({**ONE, "state": "active"}, ["/home/ada/.ssh/id_rsa"]))
    assert "may log in: ada, bob; your keys were /home/ada/.ssh/id_rsa" in said
    keys = [{"user": "bob", "type": "ssh-ed25519", "fingerprint": "SHA256:x"}]
    said_with_keys = "\n".join(refusal_lines({**ONE, "state": "active", "keys": keys}, []))
    assert "may log in: bob with ssh-ed25519 SHA256:x; your keys were none" in said_with_keys
    assert "--add-user" in said
    [over] = refusal_lines({**ONE, "state": "expired", "message": "Its time was up."}, [])
    assert over.startswith("the reservation is expired (Its time was up.) and does not accept logins: reserve again")
    [ending] = refusal_lines({**ONE, "state": "expiring", "active_at": "2026-11-26T19:00:00Z"}, [])
    assert ending.endswith("your connection ended with it: reserve again: wavepool reserve; its home is removed")
