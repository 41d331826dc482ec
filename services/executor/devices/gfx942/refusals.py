"""Reads from clang's messages what AMD's compiler refuses in a source, and which header this machine lacks; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_PLACE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|note): (?P<text>.*)$")
_PLACELESS = re.compile(r"^(?:fatal )?error: (?:<unknown>:0:0: )?(?P<text>.*)$")
_INCLUDED_FROM = re.compile(r"^In file included from (?P<file>[^:\n]+):(?P<line>\d+):$")
_MISSING = re.compile(r"^'([^']+)' file not found")
_CAUSE = re.compile(r"in instantiation of|requested here|called by")
_MOST_SHOWN = 3
_MOST_TEXT = 300


@dataclass(frozen=True)
class Refusal:
    """An error with its line in the source; the line is 0 if clang names none.

    `header` is the header that has the error, if nothing in the source but the include leads to it.
    """

    line: int
    text: str
    header: str = ""

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{self.text[:_MOST_TEXT]}"

    @property
    def doubt(self) -> str:
        """Why this may be a fault of this machine and not of the source; empty if it is the source's."""
        place = f" (line {self.line})" if self.line else ""
        if found := _MISSING.match(self.text):
            return f"this machine lacks the header `{found[1]}`{place}"
        why = f"this machine cannot read the header `{self.header}`{place}: {self.text[:_MOST_TEXT]}"
        return why if self.header else ""


def refusals(messages: str, source: str) -> list[Refusal]:
    """Return the errors in order, each once, with the lines of the file `source` that lead to them."""
    found: list[Refusal] = []
    above = 0
    in_header = False
    for line in messages.splitlines():
        if included := _INCLUDED_FROM.match(line):
            above = int(included["line"]) if included["file"] == source else above
        elif placed := _PLACE.match(line):
            own = int(placed["line"]) if placed["file"] == source else 0
            if placed["kind"] != "note":
                # Assembly is in `<inline asm>`.
                in_header = not own and not placed["file"].startswith("<")
                found.append(Refusal(own or above, placed["text"], placed["file"] if in_header else ""))
            elif own and in_header and _CAUSE.search(placed["text"]):
                # The place in the source that had the header's template instantiated: with a precompiled header clang
                # calls the first line the place of the include.
                found[-1] = Refusal(own, found[-1].text)
                in_header = False
            above = 0
        elif placeless := _PLACELESS.match(line):
            found.append(Refusal(0, placeless["text"]))
    return list(dict.fromkeys(found))


def sentence_of(found: Sequence[Refusal], title: str, others: Iterable[tuple[str, bool]]) -> str:
    """Return the refusals in one line; `others` are other releases, and whether they refuse the source too."""
    shown = "; ".join(map(str, found[:_MOST_SHOWN]))
    more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return f"AMD's compiler refuses this: {shown}{more} ({', '.join([title, *_others(others)])})."


def _others(others: Iterable[tuple[str, bool]]) -> Iterator[str]:
    for title, refuses in others:
        yield f"{title} {'refuses it too' if refuses else 'accepts it'}"
