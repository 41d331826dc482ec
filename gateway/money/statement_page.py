"""A statement as a page that can be printed and filed, and as CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import TYPE_CHECKING

from vocabulary.money import dollars_text, micros_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from gateway.money.schemas import Statement, StatementLine, Usage

CSV_COLUMNS = (
    "time",
    "kind",
    "amount_usd",
    "description",
    "reason",
    "subject",
    "user_id",
    "problem",
    "gpu_type",
    "start_time",
    "hold_id",
)

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#111;background:#fff}"
    "table{border-collapse:collapse;width:100%;margin:0 0 2rem}th,td{text-align:left;padding:.25rem .5rem;"
    "border-bottom:1px solid #ccc;vertical-align:top}.n{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}@media print{body{margin:0}tr{break-inside:avoid}}"
)


def statement_csv(statement: Statement) -> str:
    """The lines of a statement as CSV with a header, amounts to the micro-dollar, times in UTC."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(CSV_COLUMNS)
    for line in statement.lines:
        texts = (line.description, line.reason, line.subject, line.user_id, line.problem, line.gpu_type)
        ends = [_instant(line.start_time), _no_formula(line.hold_id)]
        writer.writerow([_instant(line.time), line.kind, f"{line.amount_usd:.6f}", *map(_no_formula, texts), *ends])
    return file.getvalue()


def statement_page(statement: Statement) -> str:
    """A statement as one HTML document without scripts and without anything from elsewhere."""
    period = f"{_instant(statement.start_time) or 'the beginning'} to {_instant(statement.end_time) or 'now'}"
    balances = [
        ("Opening balance", _dollars(statement.opening_usd)),
        ("Closing balance", _dollars(statement.closing_usd)),
        ("of which on hold", _dollars(statement.held_usd)),
    ]
    lines = [
        (_times(line), line.kind.lower(), _what(line.description, line.reason), _dollars(line.amount_usd))
        for line in statement.lines
    ]
    sections = [
        _table(("", "Amount"), balances),
        *[
            f"<h2>By {name}</h2>" + _table((f"{name[0].upper()}{name[1:]}", "Number", "Charged"), _rows(usages))
            for name, usages in (
                ("day", statement.by_day),
                ("problem", statement.by_problem),
                ("GPU", statement.by_gpu_type),
                ("user", statement.by_user),
            )
            if usages
        ],
        "<h2>Movements</h2>",
        "<p>Older movements are not listed; the balances include them.</p>" if statement.truncated else "",
        _table(("Time (UTC)", "Kind", "What", "Amount"), lines),
    ]
    title = f"Statement of {statement.account_name}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"<p>Account {escape(statement.account_id)}, {escape(period)}</p>{''.join(sections)}</body></html>"
    )


def _rows(usages: Iterable[Usage]) -> list[tuple[str, str, str]]:
    return [(usage.label or "none", str(usage.works), _dollars(usage.charged_usd)) for usage in usages]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose last column has numbers."""
    head = "".join(_cell("th", text, is_last=text is heads[-1]) for text in heads)
    body = "".join(
        f"<tr>{''.join(_cell('td', text, is_last=number == len(row)) for number, text in enumerate(row, 1))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, text: str, *, is_last: bool) -> str:
    return f"<{tag}{' class=n' if is_last else ''}>{escape(text)}</{tag}>"


def _what(description: str, reason: str) -> str:
    return f"{description} ({reason})" if reason else description


def _dollars(amount: float) -> str:
    return dollars_text(micros_of(amount))


def _times(line: StatementLine) -> str:
    """The time of a line; of charges in parts from the first to the last."""
    first, last = _instant(line.start_time), _instant(line.time)
    return last if first in {"", last} else f"{first} to {last}"


def _instant(time: datetime | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S") if time else ""


def _no_formula(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
