from __future__ import annotations

from datetime import timedelta

from services.scheduler.patience import Patience
from tests.services.scheduler.jobs import START

SECOND = timedelta(seconds=1)


def test_pauses_grow_until_the_window_is_over() -> None:
    patience = Patience(10 * SECOND)
    pauses = [patience.pause(START + n * SECOND, START + n * SECOND, progress=False) for n in range(11)]
    assert pauses[:10] == sorted(pause for pause in pauses if pause is not None)
    assert pauses[10] is None


def test_progress_begins_the_window_anew() -> None:
    patience = Patience(2 * SECOND)
    assert patience.pause(START, START, progress=False) is not None
    assert patience.pause(START + 3 * SECOND, START + 3 * SECOND, progress=True) is not None
    assert patience.pause(START + 4 * SECOND, START + 4 * SECOND, progress=False) is not None


def test_silent_stream_that_held_for_a_window_was_contact() -> None:
    patience = Patience(2 * SECOND)
    assert patience.pause(START, START, progress=False) is not None
    assert patience.pause(START, START + 5 * SECOND, progress=False) is not None
