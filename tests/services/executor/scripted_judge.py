"""A judge that follows the script in the job's source, one step a line; it speaks the core's protocol.

tell NAME      an event: compiling, checking, output TEXT, random (a number of each shared generator),
               devices (those that the run is on)
wait FILE      until the file exists
append FILE    a line to it
fail-once FILE crash unless the file exists; make it
ignore-term    ignore SIGTERM from now on
crash          end without a verdict
babble         write something that is not an event
leave          processes from now on that cannot be killed
finish VERDICT the last event
"""

from __future__ import annotations

import importlib
import random
import signal
import sys
import time
from pathlib import Path

from services.executor.core.model.events import Checking, Compiling, Event, Finished, ProgramOutput
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import LENGTH, UNKILLABLE_STATUS, framed, message_of
from services.executor.core.model.verdict import Verdict

EVENTS: dict[str, Event] = {
    "compiling": Compiling("scripted 1.0", cached=False),
    "checking": Checking(3),
}


def tell(event: Event) -> None:
    sys.stdout.buffer.write(framed(message_of(event).SerializeToString()))
    sys.stdout.flush()


def drawn() -> str:
    numpy_random = importlib.import_module("numpy.random")  # takes longer than all else here
    return f"{random.random()} {numpy_random.random()}"  # noqa: S311  that it can be foreseen is the point


def leave_trace(verb: str, file: Path) -> None:
    is_new = not file.exists()
    with file.open("a") as stream:
        stream.write("here\n")
    if is_new and verb == "fail-once":
        sys.exit("the script made me crash once")


left = False


def step(verb: str, argument: str) -> None:  # noqa: C901  one branch for each word of the script
    if verb == "tell" and argument in EVENTS:
        tell(EVENTS[argument])
    elif verb == "tell":
        tell(ProgramOutput("stdout", drawn() if argument == "random" else argument.removeprefix("output "), 0))
    elif verb == "wait":
        while not Path(argument).exists():
            time.sleep(0.005)
    elif verb in {"append", "fail-once"}:
        leave_trace(verb, Path(argument))
    elif verb == "ignore-term":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif verb == "babble":
        sys.stdout.write("what?\n")
    elif verb == "leave":
        globals()["left"] = True
    elif verb == "finish":
        tell(Finished(Verdict(argument), argument, "as the script says", unkillable=left))
    else:
        sys.exit("the script made me crash")


def main() -> None:
    length = sys.stdin.buffer.read(LENGTH.size)
    if length:
        job = CoreJob.from_bytes(sys.stdin.buffer.read(*LENGTH.unpack(length)))
        for text in job.source.replace("devices", f"output {job.devices}").splitlines():
            verb, _, argument = text.partition(" ")
            step(verb, argument)
    sys.exit(UNKILLABLE_STATUS if left else 0)


if __name__ == "__main__":
    main()
