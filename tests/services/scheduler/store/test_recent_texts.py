from __future__ import annotations

from wavepool.submission.v1.submission_pb2 import Submission

from services.scheduler.store.recent_texts import RecentTexts

TEXTS = Submission(source="12", launch_plan="34", problem_definition="5")


def test_texts_may_be_looked_at_until_they_are_taken() -> None:
    recent = RecentTexts()
    recent.put("job-1", TEXTS)
    assert recent.look("job-1") == TEXTS
    assert recent.take("job-1") == TEXTS
    assert recent.take("job-1") is None
    assert recent.look("job-1") is None


def test_oldest_texts_give_way() -> None:
    recent = RecentTexts(max_bytes=2 * TEXTS.ByteSize())
    for number in range(3):
        recent.put(f"job-{number}", TEXTS)
    assert [recent.take(f"job-{number}") for number in range(3)] == [None, TEXTS, TEXTS]
