"""The script of a source for the simulated device, in comment lines of its own.

    // sim: latency_us=250 noise=bimodal seed=7
    // sim: crash_at=40

`latency_us` is the time of a call without noise, `noise` a model of `noise.py`, and `seed` the origin of its random
numbers. `crash_at` and `exit_at` end the process, and `hang_at` never returns, in that call of a process, counted from
1. `lost_at` makes the device report an error in that one of the runner's waits for it, from 1: in a check, the first
comes after the inputs and the second just before the call. `lost_as` is the number of that error, hipErrorLaunchFailure
if not set. `claim` is the time that the runner claims, as a share of the truth: below 1 it forges. In the links of a
chain it claims `claim_in_chains` instead, or the same if that is not set. `aside` is the share of a call that runs on a
stream that the default stream does not wait for. `apart` is how much longer than `latency_us` the calls of the slowest
process take, as a share of it: each process has a speed of its own between the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from services.executor.devices.sim.noise import MODELS

LAUNCH_FAILURE = 719
"""hipErrorLaunchFailure, which stands for any error of a lost device."""

_LINE = re.compile(r"^[ \t]*//[ \t]*sim:(.*)$", re.MULTILINE)
# Maxima of the numbers that may have a fraction.
_MOST = {"latency_us": 10e6, "claim": 1000.0, "claim_in_chains": 1000.0, "aside": 1.0, "apart": 100.0}
_MOST_WHOLE = 2**31 - 1


class ScriptError(ValueError):
    """A `// sim:` line is not understood; the message names the word and lists the known ones."""


@dataclass(frozen=True)
class Script:
    """The behaviour of a source's calls; 0 for events that never happen."""

    latency_us: float = 100.0
    noise: str = "skewed"
    seed: int = 1
    claim: float = 1.0
    claim_in_chains: float | None = None
    aside: float = 0.0
    apart: float = 0.0
    crash_at: int = 0
    exit_at: int = 0
    hang_at: int = 0
    lost_at: int = 0
    lost_as: int = LAUNCH_FAILURE


NAMES = tuple(field.name for field in fields(Script))


def script_of(source: str) -> Script:
    """Return the script of a source, or the default one; raises ScriptError."""
    script = Script()
    for line in _LINE.findall(source):
        for word in line.split():
            name, _, value = word.partition("=")
            if name not in NAMES:
                raise ScriptError(f"sim: {word!r} is not known; known are {', '.join(f'{known}=' for known in NAMES)}")
            script = replace(script, **{name: _value(name, value)})
    return script


def _value(name: str, text: str) -> str | float | int:
    if name == "noise":
        if text not in MODELS:
            raise ScriptError(f"sim: noise={text!r} is not known; known are {', '.join(MODELS)}")
        return text
    try:
        value = float(text) if name in _MOST else int(text)
    except ValueError:
        raise ScriptError(f"sim: {name}={text!r} is not a number") from None
    most = _MOST.get(name, _MOST_WHOLE)
    if not 0 <= value <= most:
        raise ScriptError(f"sim: {name}={text} must be from 0 to {most:g}")
    return value
