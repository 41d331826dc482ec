from __future__ import annotations

from services.scheduler.store.recent_sources import RecentSources


def test_source_is_handed_out_once() -> None:
    sources = RecentSources()
    sources.put("job-1", "source")
    assert sources.take("job-1") == "source"
    assert sources.take("job-1") is None


def test_oldest_sources_give_way() -> None:
    sources = RecentSources(max_characters=10)
    for number in range(3):
        sources.put(f"job-{number}", "12345")
    assert [sources.take(f"job-{number}") for number in range(3)] == [None, "12345", "12345"]
