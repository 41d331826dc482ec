from __future__ import annotations

from services.scheduler.jobs.spec import Texts
from services.scheduler.store.recent_sources import RecentSources


def test_source_may_be_looked_at_until_it_is_taken() -> None:
    sources = RecentSources()
    sources.put("job-1", Texts("source"))
    assert sources.look("job-1") == Texts("source")
    assert sources.take("job-1") == Texts("source")
    assert sources.take("job-1") is None
    assert sources.look("job-1") is None


def test_oldest_sources_give_way() -> None:
    sources = RecentSources(max_characters=10)
    for number in range(3):
        sources.put(f"job-{number}", Texts("12", "34", "5"))
    assert [sources.take(f"job-{number}") for number in range(3)] == [
        None,
        Texts("12", "34", "5"),
        Texts("12", "34", "5"),
    ]
