"""Where device threads wait for each other: finding those calls in a kernel's IR and setting them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipcpu.ir.ir_text import bracketed, split_list

PAUSE = "  call void @__wp_pause()"
"""Where threads may wait for their block, and need not: see `pauses`."""

PAUSE_DECLARATION = "declare void @__wp_pause()"

_CALL = re.compile(r"^\s*(?:tail |notail )?call void @__wp_(block|wave)_meet\(")
_LABEL = re.compile(r'^("[^"]*"|[-\w$.]+):')
_PHI_FROM = re.compile(r'(, )(%(?:"[^"]*"|[-\w$.]+))( \])')


@dataclass(frozen=True)
class Meeting:
    """A call where threads wait: for their block, or for their wavefront.

    `value` and `mask` are IR operands with which the thread comes, e.g. `%v` or `0`.
    """

    is_wave: bool
    value: str
    mask: str
    line: int
    pauses: bool = False
    """Whether it is a pause, and no meeting."""

    @property
    def has_mask(self) -> bool:
        """Whether there is more to a meeting than coming: lanes that are named, or a predicate to count."""
        return (self.mask if self.is_wave else self.value) != "0"


def meeting_in(line: str) -> Meeting | None:
    """The meeting that a line of IR calls, if it does."""
    if line == PAUSE:
        return Meeting(is_wave=False, value="0", mask="0", line=0, pauses=True)
    match = _CALL.match(line)
    if not match:
        return None
    operands = [text.split()[-1] for text in split_list(bracketed(line, match.end() - 1))]
    if match[1] == "block":
        return Meeting(is_wave=False, value=operands[0], mask="0", line=_number(operands[1]))
    return Meeting(is_wave=True, value=operands[0], mask=operands[1], line=_number(operands[2]))


def _number(operand: str) -> int:
    return int(operand) if operand.isdigit() else 0


def meeting_label(number: int) -> str:
    """The label of the block that holds nothing but meeting `number`."""
    return f"%wp.meet.{number}"


def after_label(number: int) -> str:
    """The label of the block where threads go on after meeting `number`."""
    return f"%wp.after.{number}"


def with_meetings_apart(body: tuple[str, ...]) -> tuple[tuple[str, ...], int, int]:
    """The body with every meeting and every pause in a block of its own, and how many there are of each.

    Meetings have the lower numbers.
    """
    lines: list[str] = []
    renamed: dict[str, str] = {}
    meetings = sum(line != PAUSE and meeting_in(line) is not None for line in body)
    label, counts = "", [0, meetings]
    for line in body:
        if match := _LABEL.match(line):
            label = "%" + match[1]
        if meeting_in(line):
            number = counts[line == PAUSE]
            meeting, after = meeting_label(number)[1:], after_label(number)[1:]
            lines += [f"  br label %{meeting}", "", f"{meeting}:", line, f"  br label %{after}", "", f"{after}:"]
            renamed[label] = "%" + after
            counts[line == PAUSE] += 1
        else:
            lines.append(line)
    return tuple(_with_renamed_sources(line, renamed) for line in lines), meetings, counts[1] - meetings


def _with_renamed_sources(line: str, renamed: dict[str, str]) -> str:
    if " = phi " not in line:
        return line
    return _PHI_FROM.sub(lambda match: match[1] + renamed.get(match[2], match[2]) + match[3], line)
