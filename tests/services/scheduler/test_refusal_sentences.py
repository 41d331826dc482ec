"""What somebody reads whose reservation cannot be made or extended, whole and word for word.

What billing refuses is in tests/services/billing: credit in test_reservation_charges.py, keys and teams in
keys/test_key_resolver.py and keys/test_github_teams.py. The gateway passes all of it on.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from servicekit.rpc.proto_time import instant_to_proto
from services.scheduler.fleet.machine import Machine
from services.scheduler.jobs.dated_limits import (
    START_FIELD,
    DatedLimits,
    conflict_text,
    extension_conflict_text,
    start_of,
    wrong_start,
)
from services.scheduler.jobs.errors import CalendarConflictError, DiskInUseError, InvalidRequestError
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_calendar import Booking, Calendar
from services.scheduler.jobs.reservation_checks import ReservationLimits, admit_reservation, extension_of
from tests.services.scheduler.cluster import KEY, sound_reservation
from vocabulary.ssh_keys import Key

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
LIMITS = ReservationLimits(5 * MINUTE, 24 * HOUR, 48 * HOUR, 48 * HOUR)
DATED = DatedLimits(timedelta(days=14), 5, 16, 30 * MINUTE)
GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")
NOON_TEXT, LAST_TEXT = "2026-11-27 12:00:00 UTC", "2026-12-11 12:00:00 UTC"
OTHER_NUMBERS = "Give one of 1, 2, 4, 8, or with --distributed 16, 24, 32, 40 or 48"
BEFORE = "a reservation that starts before that is over needs the GPUs"


def refusal(**asked: Any) -> str:
    """What is wrong with a request, which is made at noon."""
    spec = sound_reservation(**asked)
    wrong = wrong_start(start_of(spec), spec, DATED, NOON)
    with pytest.raises(InvalidRequestError) as caught:
        admit_reservation(spec, GPU_TYPES, LIMITS, wrong)
    return str(caught.value)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"gpu_type": "A100"},
            "spec.gpu_type: must be one of MI300X, MI300A, MI250X, MI210; it is 'A100', and the nearest is MI300X",
        ),
        (
            {"gpu_type": "mi210x"},
            "spec.gpu_type: must be one of MI300X, MI300A, MI250X, MI210; it is 'mi210x', and the nearest is MI210",
        ),
        ({"gpus": 3}, "spec.gpus: is 3; it must be one of 1, 2, 4, 8"),
        ({"gpus": -1}, "spec.gpus: is -1; it must be one of 1, 2, 4, 8"),
        ({"gpus": 16}, "spec.gpus: a machine has at most 8 MI300X; for 16 give --distributed (2 machines x 8)"),
        (
            {"gpus": 20},
            "spec.gpus: is 20; a machine has at most 8 MI300X. " + OTHER_NUMBERS,
        ),
        ({"duration": Duration(seconds=36)}, "spec.duration: is 36 s; the least is 5 minutes"),
        ({"duration": Duration(seconds=90_000)}, "spec.duration: is 25 h; the most is 24 h"),
        ({"keys": []}, "spec.keys: is empty; give at least one public key"),
        (
            {"start_time": instant_to_proto(NOON - HOUR)},
            f"spec.start_time: is 2026-11-27 11:00:00 UTC, which is past: it is {NOON_TEXT}. Give a later time",
        ),
        (
            {"start_time": instant_to_proto(NOON + timedelta(days=15))},
            f"spec.start_time: is 2026-12-12 12:00:00 UTC; at most 14 days ahead are possible, until {LAST_TEXT}",
        ),
    ],
)
def test_a_wrong_request_is_refused_with_the_field_the_rule_and_the_fix(asked: dict[str, Any], sentence: str) -> None:
    assert refusal(**asked) == sentence


def test_a_start_when_others_have_the_gpus_is_refused_with_them_and_the_nearest_that_works() -> None:
    taken = [Booking("res_1", 8, NOON + HOUR, NOON + 3 * HOUR), Booking("res_2", 8, NOON + HOUR, NOON + 2 * HOUR)]
    calendar = Calendar((Machine("a", 8, ()), Machine("b", 8, ())), taken)
    asked = Booking("res_3", 8, NOON + 90 * MINUTE, NOON + 150 * MINUTE)
    error = CalendarConflictError(START_FIELD, conflict_text(asked, calendar, ["res_1 (lecture)"], 1, NOON + 24 * HOUR))
    assert str(error) == (
        "spec.start_time: is 2026-11-27 13:30:00 UTC; then 0 GPUs are free until 2026-11-27 14:30:00 UTC, and it needs "
        "8 GPUs of one machine. In the way: res_1 (lecture), 1 of other accounts. The nearest start that works is "
        "2026-11-27 14:00:00 UTC."
    )


@pytest.mark.parametrize(
    ("longest", "sentence"),
    [
        (
            27 * MINUTE + timedelta(seconds=59),
            f"duration: is 1 h; {BEFORE}. The longest that is possible is 27 minutes (0.4663 h).",
        ),
        (
            timedelta(seconds=59),
            "duration: cannot be added: a reservation that starts then needs the GPUs. No more time is possible.",
        ),
    ],
)
def test_more_time_than_until_the_next_start_is_refused_with_the_longest_that_is_possible(
    longest: timedelta, sentence: str
) -> None:
    assert str(CalendarConflictError("duration", extension_conflict_text(HOUR, longest))) == sentence


def test_more_time_than_one_may_have_in_all_is_refused_with_what_is_left() -> None:
    reservation = Reservation("train", (Key("alice", KEY),), 24 * HOUR)
    with pytest.raises(InvalidRequestError) as caught:
        extension_of(25 * 3600, reservation, LIMITS)
    assert str(caught.value) == "duration: is 25 h; the most is 24 h, as 48 h in all is the most"


def test_a_disk_in_use_is_refused_with_who_has_it_and_what_to_do() -> None:
    assert str(DiskInUseError("training", "res_01J", "active")) == (
        "spec.disk: 'training' is held by res_01J, which is active. One reservation at a time writes to a disk. Give "
        "--disk none, another disk, or a clone: `wavepool disk clone training NEW`; or end that one: `wavepool cancel "
        "res_01J`."
    )
