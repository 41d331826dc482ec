from __future__ import annotations

import re
from html.parser import HTMLParser

from services.executor.core.certify.page import page_of
from services.executor.core.certify.report import report_of, without_home
from services.executor.core.certify.results import Figure, Outcome, StepResult
from services.executor.core.certify.steps import OPEN_DEVICE, step_named

STEPS = [step_named(name) for name in (OPEN_DEVICE, "honest/<b>", "spread/5us", "attacks/a/b", "overhead/x")]
RESULTS = {
    one.step: one
    for one in (
        StepResult(OPEN_DEVICE, Outcome.PASSED, "an abacus", facts={"title": "abacus & sons"}),
        StepResult("honest/<b>", Outcome.FAILED, "WRONG_ANSWER <script>", details="</pre><script>alert(1)</script>"),
        StepResult("spread/5us", Outcome.MEASURED, "", (Figure("spread of 8 runs (sd)", 0.25, "%", "at most 0.3 %"),)),
    )
}
SUBJECT = {"device": "abacus", "tree": "1"}


class _Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _page() -> str:
    return page_of(report_of(SUBJECT, RESULTS, STEPS, STEPS[:-1], "no tests here", 0.0))


def test_the_page_says_what_passed_what_did_not_and_why_and_what_was_not_run() -> None:
    page = _page()
    for text in (
        "1 passed, 1 failed, 0 not possible here, 1 measured",
        "abacus &amp; sons",
        "WRONG_ANSWER &lt;script&gt;",
        "spread of 8 runs (sd)",
        "0.25 %",
        "at most 0.3 %",
        "certify was stopped before",
        "left out by --only, --sample or --quick",
        "no tests here",
    ):
        assert text in page, text


def test_the_page_stands_alone_and_nothing_in_it_is_code_of_a_kernels() -> None:
    page = _page()
    assert not re.search(r"<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(", page)
    parser = _Balanced()
    parser.feed(page)
    assert parser.open == []


def test_without_a_device_the_report_says_so_of_each_step() -> None:
    closed = {OPEN_DEVICE: StepResult(OPEN_DEVICE, Outcome.NOT_POSSIBLE, "no hipcc")}
    report = report_of(SUBJECT, closed, STEPS, STEPS, "", 0.0)
    assert report.not_run["overhead/x"] == "the device cannot be opened (device/open)"
    assert report.counts == {"passed": 0, "failed": 0, "not possible here": 1, "measured": 0}


def test_of_the_home_folder_a_tilde_is_left_and_no_other_path_is_changed() -> None:
    figures = (Figure("free at /root", 1.0, "MiB"),)
    result = StepResult("a", Outcome.FAILED, "no /root/rocm, '/root'", figures, {"x": "/rootless"}, "/root\n/root.old")
    cut = without_home(result, "/root")
    assert (cut.why, cut.figures[0].name, cut.facts, cut.details) == (
        "no ~/rocm, '~'",
        "free at ~",
        {"x": "/rootless"},
        "~\n/root.old",
    )
    assert without_home(result, "/") == result
