from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.invocation import wavepool


def test_installed_plug_ins_are_listed_with_their_package_and_the_setting_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "theirs-1.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text("[wavepool.orderings]\nlottery = theirs:Lottery\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    listed = wavepool("plugins", "--json").json
    shown = [line.split() for line in wavepool("plugins").out.splitlines()]

    assert {
        "kind": "ordering",
        "name": "lottery",
        "package": "theirs",
        "version": "1.5",
        "target": "theirs:Lottery",
        "setting": "SCHEDULER_ORDERINGS",
    } in listed
    assert {(one["kind"], one["name"]) for one in listed if one["package"] is None} == {
        ("ordering", "age"),
        ("ordering", "classic"),
        ("placement", "pack"),
        ("placement", "spread"),
    }
    assert {"cpu", "local", "webhook"} <= {one["name"] for one in listed if one["package"] == "wavepool"}
    assert ["ordering", "lottery", "theirs", "1.5", "SCHEDULER_ORDERINGS"] in shown
