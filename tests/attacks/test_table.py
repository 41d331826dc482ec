"""docs/attacks.md and the folders of this one are the same attacks."""

from __future__ import annotations

import re

from tests.attacks.manifest import FOLDER, attack_folders, attempts, title_of

KNOWN_ATTACKS = 35
_ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\(\.\./tests/attacks/(\w+)\) \| .+ \| (.+) \|$", re.MULTILINE)


def test_the_document_and_the_folders_agree() -> None:
    document = (FOLDER.parents[1] / "docs/attacks.md").read_text("utf-8")
    rows = _ROW.findall(document)
    assert [int(number) for number, *_ in rows] == list(range(1, KNOWN_ATTACKS + 1))
    for (number, title, name, verdicts), folder in zip(rows, attack_folders(), strict=True):
        assert (name, title, int(name.split("_")[0])) == (folder.name, title_of(folder), int(number))
        expected = [item for item in attempts() if item.file.parent == folder]
        others = {item.other_verdict for item in expected if item.other_verdict is not None}
        assert set(verdicts.split(", ")) == {item.verdict for item in expected} | others, name


def test_each_submission_says_how_it_cheats() -> None:
    for attempt in attempts():
        assert attempt.cheats.endswith("."), attempt.name


def test_every_submission_is_in_a_manifest() -> None:
    assert {attempt.file for attempt in attempts()} == set(FOLDER.glob("*/*.hip"))
