"""Replaced words do not come back, a fact that has one home gets no second, and links lead somewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.needs import REPOSITORY

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
HARD_TO_READ = {
    r"told|tells?|telling": "show, report, say or send",
    r"nobody|somebody": "no user, another user, or a passive",
    r"whoever": "a user who, or the process that",
    r"anew": "again",
    r"(?:is|are) none of": "is not valid; choose",
    r"(?-i:(?:^|(?<=[.:] ))(?:What|Whose)) [^.?]*(?:[.]|$)": "a noun first, such as `The time of` or `The owner of`",
}
"""What makes people read a text twice, and what to write in its place."""
PEOPLE_READ = ("gateway", "hipcpu", "problems", "servicekit", "services", "submissions", "vocabulary", "client", "cli")
"""Folders whose strings are checked for these words."""
PEOPLE_READ_DOCSTRINGS = ("gateway",)
"""Folders whose docstrings are checked, too: the API's documentation shows them."""
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
HOMES = {
    r'= *"float32"': "vocabulary/limits.py",
    r'= *\(.*"MI210"': "vocabulary/gpu_types.py",
    r"timedelta\(hours=1\) //": "vocabulary/money.py",
    r"2 ?\*\* ?min\(": "vocabulary/backoff.py",
    r"^from difflib import": "vocabulary/names.py",
}
"""Patterns that only one file may have: default element type, GPU types, price of a time, back-off, nearest name."""
FOLDERS = [
    *("benchmarks", "cli", "client", "gateway", "hipcpu", "problems", "servicekit", "services", "submissions", "tests"),
    "vocabulary",
]


def test_no_code_has_a_word_that_was_replaced() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{number} has {match[0]}, say {REPLACED[match[0].lower()]}"
        for path in _python(FOLDERS)
        if path != Path(__file__)
        for number, line in enumerate([path.stem, *path.read_text("utf-8").splitlines()])
        # Most lines have none of the letters: the patterns would take half a minute for all of them.
        if any(word in line.lower() for word in REPLACED) and (match := WORD.search(KEPT.sub("", line)))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", PEOPLE_READ)
def test_no_text_for_people_has_to_be_read_twice(folder: str) -> None:
    patterns = {
        re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE): better for words, better in HARD_TO_READ.items()
    }
    found = [
        f"{path.relative_to(REPOSITORY)}:{line} has {match[0]!r}, say {better}"
        for path in _python([folder])
        for line, text in _texts(path, with_docstrings=folder in PEOPLE_READ_DOCSTRINGS)
        for pattern, better in patterns.items()
        if (match := pattern.search(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("pattern", HOMES)
def test_a_fact_has_one_home(pattern: str) -> None:
    said = re.compile(pattern, re.MULTILINE)
    files = [path for path in _python(FOLDERS) if "tests" not in path.parts and said.search(path.read_text("utf-8"))]
    # Not our nearest-name search: aliases of problems use two measures of likeness.
    others = {"problems/library/aliases.py"}
    assert {str(path.relative_to(REPOSITORY)) for path in files} - others == {HOMES[pattern]}


def test_links_of_documents_lead_somewhere() -> None:
    documents = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "client").glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    broken = [
        f"{document.relative_to(REPOSITORY)}: {link}"
        for document in documents
        for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8"))
        if not link.startswith("http") and not _leads_somewhere(document, link)
    ]
    assert not broken, "\n".join(broken)


def test_the_list_of_documents_has_all_but_the_decisions() -> None:
    docs = REPOSITORY / "docs"
    links = re.findall(r"\]\(([^)\s]+)\)", (docs / "README.md").read_text("utf-8"))
    pages = {str(page.relative_to(docs)) for page in docs.rglob("*.md")} - {"README.md"}
    assert {page for page in pages if not page.startswith("decisions/")} - {*links} == set()


def _leads_somewhere(document: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = document.parent / path if path else document
    if not anchor or target.suffix != ".md":
        return target.exists()
    headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE) if target.exists() else []
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _python(folders: list[str]) -> Iterator[Path]:
    return (path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))


def _texts(path: Path, *, with_docstrings: bool) -> Iterator[tuple[int, str]]:
    """The strings of a file, with their lines."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings: set[ast.AST] = set()
    if not with_docstrings:
        docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.lineno, node.value
