"""Attacks that need more than one submission, or some part of the machine that they attack.

Each gets a function that runs an attempt. It returns a description of the failure, or an empty string if all went well.
"""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping

from services.executor.core.model.events import Finished
from services.executor.core.model.seeds import RunSeed
from services.executor.core.model.verdict import Verdict
from tests.attacks.manifest import Attempt, attempt_named

# An attempt, the run's seed (empty for a random one), and replacements for the @NAMES@ in its source.
Submit = Callable[[Attempt, str, Mapping[str, str]], Awaitable[Finished]]

_LEAST_BYTES, _LEAST_FILES = 1 << 20, 16


async def seed_search(submit: Submit) -> str:
    """The run's seed is nowhere a submission can look; the pattern it searches for is once in its own memory."""
    secret = secrets.token_hex(32)
    if RunSeed(secret).reveal() != secret:
        return "a run's seed is not the one that was asked for"
    halves = {"FIRST_HALF": secret[:32][::-1], "SECOND_HALF": secret[32:][::-1]}
    finished = await submit(attempt_named("11_seed_search/search"), secret, halves)
    found = re.match(r"(\d+) hits in (\d+) bytes of memory and (\d+) files, (\d+) of its own", finished.stdout)
    if finished.verdict is not Verdict.ACCEPTED or found is None or finished.report["seed"] != secret:
        return f"{finished.verdict}: {finished.message}; it printed {finished.stdout!r}"
    hits, looked_at, files, own = map(int, found.groups())
    is_right = (hits, own) == (0, 1) and looked_at > _LEAST_BYTES and files > _LEAST_FILES
    return "" if is_right else finished.stdout


async def network(submit: Submit) -> str:
    """A submission reaches no network and no port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = {"PORT": str(listener.getsockname()[1])}
        finished = await submit(attempt_named("30_network/connects"), "", port)
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            is_reached = False
        else:
            is_reached = True
    if finished.verdict is not Verdict.ACCEPTED or is_reached or not finished.stdout.startswith("reached 0 of 38"):
        return f"{finished.verdict}: {finished.message}; it printed {finished.stdout!r}"
    return ""


async def residue(submit: Submit) -> str:
    """The next submission finds nothing of the one before it."""
    for name in ("leaves_marks", "looks_for_marks"):
        attempt = attempt_named(f"28_residue/{name}")
        finished = await submit(attempt, "", {})
        if finished.verdict is not Verdict.ACCEPTED or not re.search(attempt.prints, finished.stdout):
            return f"{name}: {finished.verdict}: {finished.message}; it printed {finished.stdout!r}"
    return ""


STAGED = {"11_seed_search/search": seed_search, "28_residue/looks_for_marks": residue, "30_network/connects": network}
