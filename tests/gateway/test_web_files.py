"""The page's sources and what is built of them, checked as text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.config import GatewaySettings
from tests.gateway.documented import check_event

WEB = Path(__file__).resolve().parents[2] / "web"
SOURCES = [path for path in sorted((WEB / "src").rglob("*.*")) if ".test." not in path.name]
FOREIGN = re.compile(r"(?:src|href|from|import|url)\s*[=(]?\s*[\"'`]?(?:https?:)?//")
MARKDOWN = WEB / "src" / "page" / "markdown.tsx"
"""The one file that writes markup, which its library makes."""


@pytest.mark.parametrize("path", [*SOURCES, WEB / "dist" / "index.html"], ids=lambda path: path.name)
def test_no_file_loads_from_another_host_or_writes_markup(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not FOREIGN.search(text)
    assert not re.search(r"outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    assert path == MARKDOWN or "innerHTML" not in text.replace("dangerouslySetInnerHTML", "innerHTML")
    # Braces hold what a script sets, which the policy allows.
    assert not re.search(r"<[^>]+\s(?:style|on[a-z]+)=(?!\{)", text)


def test_the_sample_result_has_the_fields_that_the_gateway_sends_today() -> None:
    frames = json.loads((WEB / "src" / "home" / "sample.json").read_text("utf-8"))["frames"]
    for frame in frames:
        check_event("SubmissionEvent", frame)
    assert frames[-1]["final"]


def test_a_folder_without_the_built_page_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"holds no built page \(pages.json\): name web/dist"):
        GatewaySettings(web_dir=tmp_path)


def test_each_built_file_is_there_in_every_encoding() -> None:
    built = [path for path in (WEB / "dist").rglob("*.*") if path.suffix in {".html", ".js", ".css", ".svg"}]
    assert built
    for path in built:
        for suffix in (".br", ".gz"):
            assert path.with_name(path.name + suffix).is_file()
