from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from gateway.money.schemas import Statement, StatementLine
from gateway.money.statement_page import statement_csv, statement_page

START = datetime(2026, 1, 1, tzinfo=UTC)

texts = st.text(max_size=20) | st.sampled_from(["=1+1", "-2", "@SUM(A1)", "<script>alert(1)</script>", '"><img>'])


def a_statement(text: str) -> Statement:
    line = StatementLine(
        start_time=START - timedelta(hours=1),
        time=START,
        kind="CHARGE",
        amount_usd=-1.5,
        description=text,
        reason=text,
        subject=text,
        user_id=text,
        problem=text,
        gpu_type=text,
        hold_id=text,
    )
    return Statement(
        account_id="acct_1",
        account_name=text,
        start_time=None,
        end_time=START,
        opening_usd=0,
        closing_usd=0,
        held_usd=0,
        lines=[line],
        by_day=[],
        by_problem=[],
        by_gpu_type=[],
        by_user=[],
        truncated=False,
    )


@given(texts)
def test_no_cell_of_a_statement_is_a_formula_for_a_spreadsheet(text: str) -> None:
    rows = list(csv.DictReader(io.StringIO(statement_csv(a_statement(text)), newline="")))
    assert len(rows) == 1
    assert not rows[0]["description"].startswith(("=", "+", "-", "@", "\t", "\r"))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)


@given(texts)
def test_no_text_of_a_statement_becomes_a_tag_of_its_page(text: str) -> None:
    parser = _Tags()
    parser.feed(statement_page(a_statement(text)))
    allowed = "html head meta title style body h1 h2 p table thead tbody tr th td"
    assert parser.tags <= set(allowed.split())


def test_work_that_is_charged_in_parts_shows_from_when_to_when() -> None:
    statement = a_statement("reservation res_1")
    assert "2025-12-31 23:00:00 to 2026-01-01 00:00:00" in statement_page(statement)
    [row] = csv.DictReader(io.StringIO(statement_csv(statement), newline=""))
    assert (row["start_time"], row["time"]) == ("2025-12-31 23:00:00", "2026-01-01 00:00:00")
    at_once = statement.lines[0].model_copy(update={"start_time": START})
    assert "<td>2026-01-01 00:00:00</td>" in statement_page(statement.model_copy(update={"lines": [at_once]}))
