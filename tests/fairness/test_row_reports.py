"""The reports count every row, also one of a kind that no replay knows or that it cannot read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fairness import case_rows, kai_replay, kueue_rows

REPLAYS = {"kai": kai_replay.REPLAYS, "kueue": kueue_rows.REPLAYS}


@pytest.mark.parametrize("peer", ["kai", "kueue"])
def test_every_row_is_counted_with_its_result(peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = next(row for row in case_rows.rows(peer) if row["kind"] == "time_fairshare")
    ours: list[dict[str, Any]] = [
        passes,
        {**passes, "id": "ours/1", "expect": dict.fromkeys(passes["expect"], 7)},
        {**passes, "id": "ours/2", "needs": ["time travel"]},
        {"id": "ours/3", "kind": "tiers", "name": None},
        {"id": "ours/4"},
        {"id": "ours/5", "kind": "time_fairshare"},
    ]
    (tmp_path / f"{peer}_tiers.jsonl").write_text("\n".join(map(json.dumps, ours)), "utf-8")
    monkeypatch.setattr(case_rows, "CASES", tmp_path)

    lines = case_rows.report(peer, REPLAYS[peer], kai_replay.not_applicable).splitlines()
    assert lines[:4] == [
        "time_fairshare: 1 passed, 2 failed, 1 not applicable, 0 of an unknown kind",
        "tiers: 0 passed, 0 failed, 0 not applicable, 1 of an unknown kind",
        "None: 0 passed, 0 failed, 0 not applicable, 1 of an unknown kind",
        "all: 1 passed, 2 failed, 1 not applicable, 2 of an unknown kind",
    ]
    assert "ours/1" in lines[4]
    assert lines[5].endswith(": needs time travel, which Wavepool does not have")
    assert lines[6:8] == [
        f"of an unknown kind: ours/{number} (None): there is no replay of its kind" for number in (3, 4)
    ]
    assert lines[8].startswith("failed: ours/5 (None): the replay cannot read it: KeyError(")
