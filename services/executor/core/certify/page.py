"""The report as one page without scripts or other files; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from time import gmtime, strftime

from services.executor.core.certify.report import Report
from services.executor.core.certify.results import Figure, Outcome, StepResult
from services.executor.core.certify.steps import TITLES, Section

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.passed { color: #187a36; } .failed { color: #c02020; font-weight: 600; } .not { color: #8a5a00; }
@media (prefers-color-scheme: dark) { .passed { color: #5fd08a; } .failed { color: #ff8080; } .not { color: #e0b050; } }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
"""
_HEADER = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><style>{style}</style></head><body><main><h1>{title}</h1>"
)
_SHOWN_WHOLE = 1e4
_CLASSES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.NOT_POSSIBLE: "not",
    Outcome.MEASURED: "measured",
}
_GPU_TESTS = (
    "The tests that `make test-gpu` runs are among these: the canary (device), references, honest "
    "kernels, and attacks. They are not run a second time."
)


def page_of(report: Report) -> str:
    """The HTML page of a certification: summary, facts, failures, figures and each step with its outcome."""
    title = f"Wavepool certify: {report.device}"
    parts = [
        _HEADER.format(title=escape(title), style=_STYLE),
        f"<p>{escape(_summary(report))}</p>",
        _facts(report.facts),
        _failures(report.results),
        *(_section(section, report) for section in Section),
        _not_run(report),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _summary(report: Report) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    whole = "Every step has run." if not report.not_run else f"{len(report.not_run)} steps have not run (below)."
    when = strftime("%Y-%m-%d %H:%M UTC", gmtime(report.written))
    return f"{counts}. {whole} Written {when}. {_GPU_TESTS}"


def _facts(facts: Mapping[str, str]) -> str:
    rows = [f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items()]
    return f"<h2>The machine</h2><table>{''.join(rows)}</table>"


def _failures(results: Sequence[StepResult]) -> str:
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    if not failed:
        return "<h2>What failed</h2><p>Nothing of what has run.</p>"
    return f"<h2>What failed</h2><table>{_HEAD}{''.join(map(_row, failed))}</table>"


def _section(section: Section, report: Report) -> str:
    those = [result for result in report.results if result.step.startswith(f"{section.value}/")]
    if not those:
        return ""
    passed = sum(result.outcome is Outcome.PASSED for result in those)
    rows = "".join(map(_row, those))
    return (
        f"<h2>{escape(TITLES[section])}</h2><p>{passed} of {len(those)} passed.</p>"
        f"<table>{_HEAD}{rows}</table>{_figures(those)}"
    )


_HEAD = "<tr><th>step</th><th>outcome</th><th>what was seen</th><th>seconds</th></tr>"


def _row(result: StepResult) -> str:
    details = (
        f"<details><summary>details</summary><pre>{escape(result.details)}</pre></details>" if result.details else ""
    )
    return (
        f"<tr><td><code>{escape(result.step)}</code></td>"
        f'<td class="{_CLASSES[result.outcome]}">{escape(result.outcome.value)}</td>'
        f'<td>{escape(result.why)}{details}</td><td class="number">{result.seconds:.1f}</td></tr>'
    )


def _figures(results: Sequence[StepResult]) -> str:
    rows = [_figure(result.step, figure) for result in results for figure in result.figures]
    head = "<tr><th>step</th><th>figure</th><th>value</th><th>aim</th></tr>"
    return f"<h3>Figures</h3><table>{head}{''.join(rows)}</table>" if rows else ""


def _figure(step: str, figure: Figure) -> str:
    value = f"{figure.value:,.4g}" if abs(figure.value) < _SHOWN_WHOLE else f"{figure.value:,.0f}"
    return (
        f"<tr><td><code>{escape(step)}</code></td><td>{escape(figure.name)}</td>"
        f'<td class="number">{value} {escape(figure.unit)}</td><td>{escape(figure.aim)}</td></tr>'
    )


def _not_run(report: Report) -> str:
    if not report.not_run:
        return ""
    rows = [
        f"<tr><td><code>{escape(step)}</code></td><td>{escape(why)}</td></tr>" for step, why in report.not_run.items()
    ]
    return f"<h2>What was not run</h2><table><tr><th>step</th><th>why</th></tr>{''.join(rows)}</table>"
