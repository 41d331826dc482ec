"""Page tokens: the position of a list's next page, as text that callers hand back; valid for that list only."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.listing import JobFilter, PageEnd

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def page_token(end: PageEnd, wanted: JobFilter) -> str:
    """The token for the page after `end`."""
    micros = (end.create_time - _EPOCH) // _MICROSECOND
    content = [micros, end.job_id, end.proof, end.calls_per_second, _digest(wanted)]
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


def page_end(token: str, wanted: JobFilter) -> PageEnd | None:
    """Decodes a token; None for the first page. Raises InvalidFieldError if we did not give the token out."""
    if not token:
        return None
    try:
        content: Any = json.loads(base64.urlsafe_b64decode(token.encode()))
        micros, job_id, proof, calls_per_second, digest = content
        end = PageEnd(_EPOCH + int(micros) * _MICROSECOND, str(job_id), int(proof), float(calls_per_second))
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise InvalidFieldError("page_token", "was not given out by this call; begin without one") from None
    if digest != _digest(wanted):
        raise InvalidFieldError("page_token", "belongs to a list with other filters; begin without one")
    return end


def _digest(wanted: JobFilter) -> str:
    fields: list[Any] = [getattr(wanted, one.name) for one in dataclasses.fields(wanted)]
    content = json.dumps(fields, default=_plain)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _plain(one: Any) -> object:  # noqa: ANN401 - a field of any type
    return sorted(map(str, one)) if isinstance(one, frozenset) else str(one)  # pyright: ignore[reportUnknownArgumentType]
