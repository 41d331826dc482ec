from __future__ import annotations

from datetime import timedelta

from services.scheduler.runs.patience import Patience
from tests.services.scheduler.jobs import START

SECOND = timedelta(seconds=1)


def test_pauses_grow_until_the_window_is_over() -> None:
    patience = Patience(10 * SECOND)
    pauses = [patience.pause(START + n * SECOND) for n in range(11)]
    assert pauses[:10] == sorted(pause for pause in pauses if pause is not None)
    assert pauses[10] is None


def test_contact_begins_the_window_anew() -> None:
    patience = Patience(2 * SECOND)
    assert patience.pause(START) is not None
    patience.contact()
    assert patience.pause(START + 3 * SECOND) is not None
    assert patience.pause(START + 4 * SECOND) is not None
    assert patience.pause(START + 5 * SECOND) is None
