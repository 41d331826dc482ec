"""Words that had a private meaning here, and were replaced by a usual one, do not come back."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import REPOSITORY

REPLACED = {
    "box": "sandbox",
    "boxed": "sandboxed",
    "boxes": "sandboxes",
    "carrier": "job runner, or tunnel",
    "carriers": "job runners, or tunnels",
    "endings": "exit reasons",
    "equipment": "context",
    "hygiene": "health check",
    "meeting": "barrier",
    "nursery": "fork server",
    "patience": "retries",
    "posed": "resolved",
    "provisions": "context",
    "rehearsal": "warm-up",
    "rehearse": "warm up",
    "resting": "backing off",
    "stranger": "orphan, or untrusted",
    "strangers": "orphans, or untrusted",
    "tenure": "leader lease",
}
WORD = re.compile(
    "|".join(
        rf"(?<![a-z]){word}(?![a-z])|{word.capitalize()}(?![a-z])|(?<![A-Z]){word.upper()}(?![A-Z])"
        for word in REPLACED
    )
)
KEPT = re.compile(
    r"""
    # Settings, options and metrics keep their names.
    VMPOOL_STRANGERS|wavepool_vmpool_strangers|settings\.strangers|\bstrangers(:[ ]|=)OrphanPolicy
    |EXECUTOR_BOX_\w+|PRIVILEGED_BOXES|privileged_boxes|\bbox_(memory|cores)\b|--box-(memory-mib|cores)
    # By these names, executors of other versions on the same machine know what is in use.
    |wavepool[-.]box
    # Other boxes: filters of images, coordinates of threads, what is on a page, the border of a table.
    |[Bb]ox.?[Bb]lur|box-filter|box_sums|\b_boxes\(|those[ ]of[ ]a[ ]box
    |box_functions|_box_loads|%box|box[ ](for|of)[ ]threads
    |bounding_box|box=None
    """,
    re.VERBOSE,
)
FOLDERS = [
    *("benchmarks", "cli", "client", "gateway", "hipcpu", "problems", "servicekit", "services", "submissions", "tests"),
    "vocabulary",
]


def test_no_code_has_a_word_that_was_replaced() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{number} has {match[0]}, say {REPLACED[match[0].lower()]}"
        for folder in FOLDERS
        for path in (REPOSITORY / folder).rglob("*.py")
        if path != Path(__file__)
        for number, line in enumerate([path.stem, *path.read_text("utf-8").splitlines()])
        if (match := WORD.search(KEPT.sub("", line)))
    ]
    assert not found, "\n".join(found)
