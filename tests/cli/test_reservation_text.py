from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from wavepool_client.errors import NotFoundError
from wavepool_client.http.event_stream import Event
from wavepool_client.reservation_choice import SeveralError, chosen, is_whole_id, only_one
from wavepool_client.text.availability import availability_row, queue_head_text
from wavepool_client.text.reservation_events import narrate_reservation
from wavepool_client.text.reservations import (
    end_text,
    left_text,
    list_rows,
    quote_text,
    short_ids,
    show_rows,
    usd_text,
)

NOW = datetime(2026, 11, 26, 20, 0, tzinfo=UTC)
ZONE = timezone(timedelta(hours=1))
FIRST, SECOND = "res_01KB9X2F00AAAAAAAAAAAAAAAA", "res_01KB9X2F11BBBBBBBBBBBBBBBB"
ACTIVE: dict[str, Any] = {
    "id": FIRST,
    "name": "training",
    "owner": "ada",
    "state": "active",
    "gpu_count": 2,
    "gpu_type": "MI300X",
    "machine_gpu_type": "MI300A",
    "machine_id": "mach_1",
    "machine_gpus": [0, 3],
    "hours": 1.5,
    "expires_at": "2026-11-26T22:05:00Z",
    "create_time": "2026-11-26T19:00:00Z",
    "cost_usd": 0.5,
    "hold_usd": 6.0,
    "price_per_gpu_hour": 1.99,
    "users": ["ada", "bob"],
    "steps": [{"name": "queue", "seconds": 90.0}, {"name": "sshd", "seconds": 0.25}],
    "extensions": [{"hours": 0.5, "at": "2026-11-26T19:30:00Z", "by": "ada"}],
    "history": [
        {"at": "2026-11-26T19:30:00Z", "by": "ada", "what": "extended", "hours": 0.5},
        {"at": "2026-11-26T19:30:00Z", "by": "ada", "what": "users_changed", "added": ["bob"], "removed": ["eve"]},
        {"at": "2026-11-26T19:30:00Z", "by": "op", "what": "notified", "text": "Save."},
        {"at": "2026-11-26T19:30:00Z", "by": None, "what": "ending", "text": "Nobody logged in."},
    ],
    "oom_count": 3,
    "software": {"driver": "6.12.12", "rocm": "6.4.1"},
}
QUEUED: dict[str, Any] = {
    "id": SECOND,
    "name": "tests",
    "state": "queued",
    "gpu_count": 1,
    "position": 3,
    "eta_p50": 90.0,
    "eta_p90": 600.0,
}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(7500, "2h05m left"), (3600, "1h00m left"), (3599, "59m left"), (59.9, "59s left"), (-5, "0s left")],
)
def test_time_left_has_the_units_that_matter(seconds: float, text: str) -> None:
    assert left_text(seconds) == text


def test_an_end_is_in_local_time_with_the_time_left() -> None:
    assert end_text(ACTIVE, NOW, ZONE) == "2026-11-26 23:05:00 UTC+01:00 (2h05m left)"
    assert end_text({"expires_at": None}, NOW, ZONE) == ""
    assert end_text({"expires_at": "soon"}, NOW, ZONE) == ""


def test_short_ids_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    assert short_ids([FIRST]) == {FIRST: "01KB9X2F"}
    assert short_ids([FIRST, SECOND]) == {FIRST: "01KB9X2F0", SECOND: "01KB9X2F1"}
    assert short_ids([FIRST, FIRST]) == {FIRST: "01KB9X2F"}


def test_a_list_shows_place_or_time_left() -> None:
    active, queued = list_rows([ACTIVE, QUEUED], NOW, ZONE)
    end = "2026-11-26 23:05:00 UTC+01:00 (2h05m left)"
    created = "2026-11-26 20:00:00 UTC+01:00"
    assert active == ("01KB9X2F0", "training", "ada", "2 x MI300A", "active", end, "mach_1", None, "$0.50", created)
    assert queued[5] == "position 3, likely in 1 min 30 s, in 9 of 10 cases within 10 min"


def test_one_reservation_is_shown_without_what_is_empty() -> None:
    rows = dict(show_rows(ACTIVE, NOW, ZONE))
    assert rows["until"] == "2026-11-26 23:05:00 UTC+01:00 (2h05m left)"
    assert rows["steps"] == "queue 1 min 30 s, sshd 0.2 s"
    assert rows["extensions"] == "30 min by ada at 2026-11-26 20:30:00 UTC+01:00"
    assert rows["history"].splitlines() == [
        "2026-11-26 20:30:00 UTC+01:00 ada: added 30 min",
        "2026-11-26 20:30:00 UTC+01:00 ada: let bob in, and removed eve",
        "2026-11-26 20:30:00 UTC+01:00 op: wrote: Save.",
        "2026-11-26 20:30:00 UTC+01:00 Wavepool: ended it: Nobody logged in.",
    ]
    assert (rows["its GPUs"], rows["out of memory"], rows["users"]) == ("0, 3", "3 processes killed", "ada, bob")
    at = "2026-11-26T20:30:00Z"
    later = dict(show_rows(ACTIVE | {"last_oom_at": at, "idle_since": at}, NOW, ZONE))
    assert later["out of memory"] == "3 processes killed, the last at 2026-11-26 21:30:00 UTC+01:00"
    assert later["no connection"] == "since 2026-11-26 21:30:00 UTC+01:00"
    assert rows["software"] == "driver 6.12.12, ROCm 6.4.1"
    assert "host key" not in rows
    assert show_rows({}, NOW, ZONE)


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "$0.00"), (5.97, "$5.97"), (0.0042, "$0.004200"), (None, "-"), ("x", "-")]
)
def test_dollars_have_cents_and_small_amounts_more(usd: object, text: str) -> None:
    assert usd_text(usd) == text


def test_a_quote_has_rate_hold_and_wait() -> None:
    quote = {"gpu_type": "MI300X", "gpu_count": 2, "hours": 1.5, "price_per_gpu_hour": 1.99, "hold_usd": 5.97}
    assert quote_text(quote) == "2 x MI300X for 1 h 30 min: $3.98/h, $5.97 on hold"
    assert quote_text(quote | {"eta_p50": 0.0}).endswith("; starts likely at once")
    assert "\n2 of its GPUs are above the quota of its queue: it will get no more" in quote_text(
        quote | {"borrowed_gpus": 2.0}
    )


def test_availability_shows_the_wait_for_each_size() -> None:
    waits = [{"gpu_count": 1, "eta_p50": 0.0, "eta_p90": 0.0}, {"gpu_count": 8, "eta_p50": 60.0, "eta_p90": 90.0}]
    one = {"gpu_type": "MI300X", "free_gpus": 5, "largest_free": 4, "total_gpus": 16, "waits": waits}
    *row, note = availability_row(one | {"price_per_gpu_hour": 1.99, "startable_gpus": 2})
    assert row == ["MI300X", "5", "4", "16", "0", "0", "$1.99", "now", "", "", "1 min (9 of 10: 1 min 30 s)"]
    assert note == "2 can be started"
    dated = availability_row(one | {"next_dated_time": "2096-11-26T08:00:00Z", "next_dated_gpus": 4})
    assert str(dated[-1]).startswith("4 GPUs kept for 2096-11-26 ")
    assert availability_row(one | {"maintenance": "new firmware"})[-1] == "in maintenance: new firmware"


@pytest.mark.parametrize(
    ("status", "data", "text"),
    [
        ("QUEUED", {"message": "Waiting.", "eta_p50": 5.0}, "Waiting. (starts likely in 5 s)"),
        ("PREPARING", {"message": "Starting.", "elapsed_seconds": 2.0}, "Starting. (2 s so far)"),
        ("STEP", {"name": "sshd", "seconds": 0.25}, "sshd is ready in 0.2 s"),
        ("FETCHING", {"percent": 40}, "The image is fetched: 40 %"),
        ("BUILDING", {"text": "STEP 1/2: FROM x\nSTEP 2/2: RUN y"}, "STEP 1/2: FROM x\nSTEP 2/2: RUN y"),
        ("COMMAND_ENDED", {"exit_status": 3}, "The image's own command has ended with status 3"),
        ("LOGIN", {"user": "ada", "fingerprint": "SHA256:x"}, "ada logged in with SHA256:x"),
        (
            "NO_SHOW",
            {"ends_at": ""},
            (
                "There was no login: it is ended at , and charged until then, unless you log in or extend it. "
                "If you do not need it, cancel it now"
            ),
        ),
        (
            "RECALLED",
            {"queue": "blue", "ends_at": "2026-11-29T12:30:00Z"},
            "Queue blue needs its GPUs: it is ended at 2026-11-29 12:30:00 UTC. Save your work",
        ),
        ("RECALLED", {"queue": "blue", "ends_at": None}, "It is no longer ended for queue blue"),
        ("WARNING", {"minutes_left": 15}, "Ends in 15 minutes"),
        ("WARNING", {"minutes_left": 1}, "Ends in 1 minute"),
        ("OOM", {"oom_count": 1}, "Memory ran out: 1 process was killed so far"),
        ("USERS_CHANGED", {"users": ["ada", "bob"]}, "May log in now: ada, bob"),
        (
            "USERS_CHANGED",
            {"users": ["ada", "bob"], "added": ["bob"], "removed": ["eve"], "by": "ada"},
            "May log in now: ada, bob (ada let bob in, and removed eve)",
        ),
        ("NOTIFIED", {"text": "Save.", "terminals": 2, "by": "op"}, "To 2 terminals, by op: Save."),
        ("ENDING", {"message": "", "by": "ada"}, "It is ended, by ada"),
        ("ENDING", {"message": "Nobody logged in."}, "It is ended: Nobody logged in."),
        ("FAILED", {"message": "Its machine was lost."}, "Its machine was lost."),
        ("NEW_KIND", {}, "New kind"),
    ],
)
def test_an_event_is_one_line(status: str, data: dict[str, Any], text: str) -> None:
    assert narrate_reservation(Event(1, status, data)) == text


@pytest.mark.parametrize("text", [FIRST, "training", "res_01KB9X2F0", "01KB9X2F00", "01kb9x2f0"])
def test_a_reservation_is_named_by_its_id_its_name_or_the_beginning_of_its_id(text: str) -> None:
    assert chosen(text, [ACTIVE, QUEUED]) is ACTIVE


@pytest.mark.parametrize(("text", "words"), [("01K", "at least 4 characters"), ("02ZZ", "no reservation '02ZZ'")])
def test_what_names_no_reservation_is_refused(text: str, words: str) -> None:
    with pytest.raises(NotFoundError, match=words):
        chosen(text, [ACTIVE, QUEUED])


def test_several_that_fit_are_listed() -> None:
    with pytest.raises(SeveralError) as several:
        chosen("01KB", [ACTIVE, QUEUED])
    assert several.value.choices == [ACTIVE, QUEUED]
    assert FIRST in str(several.value)
    assert SECOND in str(several.value)


def test_the_only_one_is_taken_and_none_or_several_are_refused() -> None:
    assert only_one([ACTIVE], "active") is ACTIVE
    with pytest.raises(NotFoundError, match="no active reservation; `wavepool reserve` makes one"):
        only_one([], "active")
    with pytest.raises(SeveralError, match="you have 2 current reservations"):
        only_one([ACTIVE, QUEUED], "current")


def test_only_a_whole_id_needs_no_looking_up() -> None:
    assert is_whole_id(FIRST)
    assert not is_whole_id(FIRST[:-1])
    assert not is_whole_id(FIRST.removeprefix("res_"))


def test_the_cost_of_the_gpus_is_compared_with_the_charge() -> None:
    def said(**fields: Any) -> str:
        return dict(show_rows({**ACTIVE, **fields}, NOW)).get("cost of its GPUs", "")

    assert said(machine_cost_usd=0.75, overhead_usd=0.25) == "$0.75 to the operator, $0.25 more than charged"
    assert (
        said(machine_cost_usd=0.25, overhead_usd=0, surplus_usd=0.25)
        == "$0.25 to the operator, $0.25 less than charged"
    )
    assert said(machine_cost_usd=None, overhead_usd=None) == ""


def test_the_first_in_line_has_its_size_its_wait_and_its_reason() -> None:
    head = {"gpu_count": 8, "create_time": "2026-11-26T18:00:00Z", "reason": "There is no machine with MI300X."}
    said = queue_head_text({"gpu_type": "MI300X", "queue_head": head}, NOW)
    assert said == "first in line: 8 x MI300X, for 2 h now. There is no machine with MI300X."
    assert queue_head_text({"gpu_type": "MI300X", "queue_head": head | {"gpu_fraction": 0.5}}, NOW).startswith(
        "first in line: 0.5 x MI300X"
    )
    assert queue_head_text({"gpu_type": "MI300X", "queue_head": None}, NOW) == ""
    assert queue_head_text({"gpu_type": "MI300X"}, NOW) == ""
