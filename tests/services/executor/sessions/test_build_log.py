"""What a session's events tell of a build."""

from __future__ import annotations

from services.executor.sessions.root.build_log import CUT, MOST_EVENTS, BuildLog


class Told:
    def __init__(self) -> None:
        self.time = 0.0
        self.texts: list[str] = []
        self.log = BuildLog(self.texts.append, lambda: self.time)


def test_lines_that_come_together_are_told_together() -> None:
    told = Told()
    for line in ("one", "two", "three"):
        told.log.take(line)
    assert told.texts == ["one"]
    told.time = 2.0
    told.log.take("four")
    assert told.texts == ["one", "two\nthree\nfour"]
    told.log.take("five")
    told.log.flush()
    told.log.flush()
    assert told.texts[2:] == ["five"]


def test_much_is_told_at_once() -> None:
    told = Told()
    for _ in range(50):
        told.log.take("x" * 500)
    assert len(told.texts) >= 5
    assert max(map(len, told.texts)) <= 4200


def test_a_build_that_says_more_than_is_kept_is_cut() -> None:
    told = Told()
    for number in range(3 * MOST_EVENTS):
        told.time += 2
        told.log.take(str(number))
    told.log.flush()
    assert len(told.texts) == MOST_EVENTS
    assert told.texts[-1] == CUT
