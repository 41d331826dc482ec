"""`compare`: two results on the terminal, in one word and the ratio."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any, cast

from services.executor.core.commands.comparison_of_submissions import NotComparableError, Order, compare_reports

if TYPE_CHECKING:
    from pathlib import Path

_BAD_USAGE = 2
_SENTENCES = {
    Order.FASTER: "the second is faster",
    Order.SLOWER: "the second is slower",
    Order.SAME: "no difference that counts",
    Order.UNCLEAR: "the measurements do not show a difference",
}


def compare_files(first: Path, second: Path) -> int:
    """Compares two outputs of `bench --json`, or two signed reports; returns the exit status."""
    try:
        compared = compare_reports(_report(first), _report(second))
    except (OSError, NotComparableError) as error:
        sys.stderr.write(f"{error}\n")
        return _BAD_USAGE
    sentence = compared.unclear_because or _SENTENCES[compared.order]
    note = f"; {compared.never_ranks}" if compared.never_ranks else ""
    sys.stdout.write(
        f"{compared.order}: {sentence}; the second's time is {compared.ratio:.4f} of the first's "
        f"(between {compared.low:.4f} and {compared.high:.4f}){note}\n"
    )
    return 0


def _report(path: Path) -> dict[str, Any]:
    value = _object(path, path.read_bytes())
    if "payload" in value:
        value = _object(path, base64.b64decode(str(value["payload"])))
    return _fields(path, value.get("report"))


def _object(path: Path, text: bytes) -> dict[str, Any]:
    try:
        return _fields(path, json.loads(text))
    except ValueError as error:
        if isinstance(error, NotComparableError):
            raise
        raise NotComparableError(f"{path}: not JSON: {error}") from error


def _fields(path: Path, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotComparableError(
            f"{path}: not the result of a run; give what `bench --json` or `wavepool report` wrote"
        )
    return cast("dict[str, Any]", value)
