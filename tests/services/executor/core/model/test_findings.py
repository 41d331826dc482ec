from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model.findings import Access, Check, Finding, merged, read_findings
from services.executor.core.sanitize.finding_text import kernel_name, text_of

BOUNDS = {
    "kind": "out-of-bounds",
    "kernel": "_Z3addPKf",
    "line": 2,
    "block": [1, 0, 0],
    "thread": [63, 0, 0],
    "access": "read",
    "bytes": 4,
    "memory": "input",
    "memory_kind": "global",
    "memory_bytes": 400,
    "offset": 404,
}
OTHER = {"access": "write", "line": 1, "block": [1, 0, 0], "thread": [2, 0, 0]}
SOURCE = ["first", "  second"]


def _written(file: Path, *lines: object) -> list[Finding]:
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return read_findings(file, "n = 3")


def test_findings_are_read_with_their_counts(tmp_path: Path) -> None:
    race = {**BOUNDS, "kind": "race", "other": OTHER}
    found = _written(tmp_path / "findings", BOUNDS, race, {"counts": [9, 2]})
    assert [one.count for one in found] == [9, 2]
    assert found[0].where == Access("read", 2, (1, 0, 0), (63, 0, 0))
    assert found[1].lines == (2, 1)
    assert [one.check for one in found] == [Check.MEMCHECK, Check.RACECHECK]


def test_a_file_cut_off_by_a_crash_keeps_what_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "findings"
    file.write_text(json.dumps(BOUNDS) + '\n{"kind": "rac')
    assert [one.kind for one in read_findings(file, "")] == ["out-of-bounds"]


def test_a_missing_file_a_link_and_a_folder_hold_no_findings(tmp_path: Path) -> None:
    (tmp_path / "real").write_text(json.dumps(BOUNDS))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "folder").mkdir()
    for name in ("missing", "link", "folder"):
        assert read_findings(tmp_path / name, "") == []


@given(
    st.dictionaries(
        st.sampled_from([*BOUNDS, "other", "counts"]),
        st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers()), st.dictionaries(st.text(), st.text())),
    )
)
def test_claims_that_make_no_sense_are_left_out(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[str, Any]
) -> None:
    found = _written(tmp_path_factory.mktemp("claims") / "findings", {**BOUNDS, **changed})
    assert all("\n" not in line for one in found for line in text_of(one, SOURCE))


def test_the_same_finding_of_two_cases_is_reported_once() -> None:
    one = Finding("race", "small", where=Access("read", 2, (0, 0, 0), (0, 0, 0)), count=3)
    assert merged([one, Finding("race", "large", where=one.where, count=4)]) == [
        Finding("race", "small", where=one.where, count=7)
    ]


def test_advice_is_not_given_where_there_is_an_error() -> None:
    where, other = Access("read", 2, (0, 0, 0), (0, 0, 0)), Access("write", 1, (0, 0, 0), (1, 0, 0))
    race, advice = (Finding(kind, where=where, other=other) for kind in ("race", "lockstep"))
    assert merged([advice, race]) == [race]
    assert merged([advice]) == [advice]
    assert not advice.is_error


def test_a_finding_is_reported_with_block_thread_source_line_and_place(tmp_path: Path) -> None:
    (finding,) = _written(tmp_path / "findings", {**BOUNDS, "other": OTHER})
    text = "\n".join(text_of(finding, SOURCE))
    assert "kernel add, block (1, 0, 0), thread (63, 0, 0)" in text
    assert "2 | second" in text
    assert "4 bytes behind the end of `input`" in text
    assert "the other: write, block (1, 0, 0), thread (2, 0, 0), line 1" in text


def test_kernels_have_the_names_that_their_authors_gave() -> None:
    assert kernel_name("_Z3addPKfS0_Pf") == "add"
    assert kernel_name("plain") == "plain"
