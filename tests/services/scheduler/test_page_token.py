from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.listing import JobFilter, PageEnd
from services.scheduler.jobs.states import JobState
from services.scheduler.wire.page_token import page_end, page_token
from tests.services.scheduler.jobs import START

FILTER = JobFilter(("account-1",), frozenset({JobState.QUEUED}), "leaky-relu")


def test_token_leads_back_to_where_it_came_from() -> None:
    for end in (PageEnd(START, "job-1"), PageEnd(START, "job-1", 2, 0.1 + 0.2)):
        assert page_end(page_token(end, FILTER), FILTER) == end


def test_no_token_is_the_first_page() -> None:
    assert page_end("", FILTER) is None


def test_token_of_another_list_is_refused() -> None:
    token = page_token(PageEnd(START, "job-1"), FILTER)
    with pytest.raises(InvalidFieldError, match="other filters"):
        page_end(token, JobFilter(("account-2",)))


@given(st.text(min_size=1) | st.binary(min_size=1).map(lambda raw: raw.decode("latin-1")))
def test_text_that_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidFieldError, match="page_token"):
        page_end(token, FILTER)
