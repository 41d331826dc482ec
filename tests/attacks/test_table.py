"""docs/attacks.md and the folders here list the same attacks."""

from __future__ import annotations

import re

from services.executor.core.model.verdict import Verdict
from submissions.modes import Mode
from tests.attacks.manifest import DEVICES, FOLDER, attack_folders, attempts, title_of

KNOWN_ATTACKS = 37
_ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\(\.\./tests/attacks/(\w+)\) \| .+ \| (.+) \|$", re.MULTILINE)


def test_the_document_and_the_folders_agree() -> None:
    document = (FOLDER.parents[1] / "docs/attacks.md").read_text("utf-8")
    rows = _ROW.findall(document)
    assert [int(number) for number, *_ in rows] == list(range(1, KNOWN_ATTACKS + 1))
    for (number, title, name, verdicts), folder in zip(rows, attack_folders(), strict=True):
        assert (name, title, int(name.split("_")[0])) == (folder.name, title_of(folder), int(number))
        expected = [item for item in attempts() if item.file.parent == folder]
        outcomes = {str(one) for item in expected for right in item.outcomes.values() for one in right}
        assert set(verdicts.split(", ")) == outcomes, name


def test_each_submission_says_how_it_cheats() -> None:
    for attempt in attempts():
        assert attempt.cheats.endswith("."), attempt.name


def test_every_submission_is_in_a_manifest() -> None:
    assert {attempt.file for attempt in attempts()} == set(FOLDER.glob("*/*.hip"))


def test_every_submission_states_what_happens_on_every_device() -> None:
    for attempt in attempts():
        assert attempt.on_gpus.endswith("."), attempt.name
        for device in DEVICES:
            right = attempt.outcomes[device]
            assert right, (attempt.name, device)
            for outcome in right:
                is_timed = attempt.mode is Mode.BENCHMARK and outcome.verdict is Verdict.ACCEPTED
                assert (outcome.timing is not None) == is_timed, (attempt.name, device)
