"""The mail to a user about the end of a submission or reservation; pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.billing.ledger.books import description_text
from services.billing.ledger.holds import Hold
from vocabulary.money import dollars_text


@dataclass(frozen=True)
class EndNotice:
    """How a submission or reservation ended, as the scheduler says it; `billing.proto` explains the fields."""

    kind: str
    name: str
    status: str
    well: bool
    message: str = ""
    most_micros: int | None = None


def subject_of(notice: EndNotice, hold: Hold) -> str:
    """The mail's subject, without characters that cannot be printed, such as line breaks."""
    called = notice.name or hold.purpose.problem or hold.purpose.subject
    return description_text(f"[Wavepool] {called}: {notice.status}")


def body_of(notice: EndNotice, hold: Hold, used: timedelta, end_time: datetime, *, is_last: bool) -> str:
    """The mail's text; `is_last` if the user gets no more on this day."""
    job_id, charged_micros = hold.purpose.subject, hold.charged_micros
    cost_micros = charged_micros if notice.most_micros is None else min(charged_micros, notice.most_micros)
    facts = {
        "name": description_text(notice.name),
        "problem": description_text(hold.purpose.problem),
        "charged time": f"{used.total_seconds():.1f} s",
        "cost": dollars_text(cost_micros),
        "end": f"{end_time:%Y-%m-%d %H:%M:%S} UTC",
    }
    command = "wavepool reservations show" if notice.kind == "reservation" else "wavepool show"
    said = f"The {notice.kind} {job_id} has ended: {notice.status}.", notice.message.strip().partition("\n")[0]
    lines = [
        *(description_text(line) for line in said if line),
        "",
        *(f"{fact}: {value}" for fact, value in facts.items() if value),
        "",
        f"`{command} {job_id}` shows the rest.",
        "`wavepool notices never` ends these mails.",
    ]
    if is_last:
        lines.append("You have had many of these mails today. Until midnight (UTC), no further ends are mailed.")
    return "\n".join(lines) + "\n"
