"""The files of the pages, checked as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[2] / "web"
IMPORTED = re.compile(r"^import (?:.* from )?\"(.*)\";$", re.MULTILINE)
FOREIGN = re.compile(r"(?:src|href|from|import|url)\s*[=(]?\s*[\"']?(?:https?:)?//")


@pytest.mark.parametrize("path", sorted(WEB.rglob("*.*")), ids=lambda path: path.name)
def test_no_file_loads_from_another_host_or_writes_markup(path: Path) -> None:
    text = path.read_text()
    assert not FOREIGN.search(text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    assert not re.search(r"<[^>]+\s(?:style|on\w+)=", text)


@pytest.mark.parametrize("path", sorted(WEB.rglob("*.js")), ids=lambda path: path.name)
def test_what_a_script_imports_is_there(path: Path) -> None:
    imported = IMPORTED.findall(path.read_text())
    assert [name for name in imported if not (path.parent / name).is_file()] == []
