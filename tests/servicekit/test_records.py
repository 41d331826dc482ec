"""Records made from what has their fields' names, and rows from records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import SimpleNamespace

import pytest
from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

from servicekit.records import record_of, row_of


class State(StrEnum):
    OPEN = "open"
    OVER = "over"


@dataclass(frozen=True)
class Work:
    work_id: str
    state: State
    longest: timedelta
    kept: timedelta | None
    gang_id: str = ""
    tries: int = 1


WORKS = Table(
    "works",
    MetaData(),
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("work_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("longest_us", BigInteger, nullable=False),
    Column("kept_us", BigInteger),
    Column("gang_id", Text),
    Column("tries", Integer),
)
ROW = {"work_id": "w1", "state": "over", "longest_us": 1_500_000, "kept_us": None, "gang_id": None, "tries": 0}
WORK = Work("w1", State.OVER, timedelta(seconds=1.5), None, "", 0)


def test_a_row_becomes_a_record_and_back() -> None:
    assert record_of(Work, SimpleNamespace(**ROW)) == WORK
    assert row_of(WORKS, WORK) == ROW
    assert {type(name) for name in row_of(WORKS, WORK)} == {str}
    assert isinstance(record_of(Work, SimpleNamespace(**ROW)).state, State)


def test_what_is_given_comes_before_the_sources_and_the_first_source_before_the_next() -> None:
    sources = (SimpleNamespace(work_id="w2"), SimpleNamespace(**ROW))
    assert record_of(Work, *sources, tries=7) == Work("w2", State.OVER, timedelta(seconds=1.5), None, "", 7)
    assert row_of(WORKS, *sources, longest_us=3)["work_id"] == "w2"
    assert row_of(WORKS, WORK, longest_us=3)["longest_us"] == 3


def test_a_field_that_nothing_has_is_an_error_even_with_a_default() -> None:
    row = SimpleNamespace(**{name: value for name, value in ROW.items() if name != "tries"})
    with pytest.raises(AttributeError, match="tries"):
        record_of(Work, row)


def test_a_column_that_nothing_has_is_an_error() -> None:
    with pytest.raises(AttributeError, match="state"):
        row_of(WORKS, SimpleNamespace(work_id="w1"))


def test_a_value_that_the_enum_does_not_know_is_an_error() -> None:
    with pytest.raises(ValueError, match="lost"):
        record_of(Work, SimpleNamespace(**{**ROW, "state": "lost"}))
