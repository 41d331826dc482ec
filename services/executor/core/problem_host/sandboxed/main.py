"""The host of a problem definition: loads it in a sandbox, and answers the judge's questions about it.

    python main.py SOCKET KEY DEFINITION MEMORY_MIB

The definition's prints are thrown away. An exception of the definition becomes an answer; if the process ends, so does
the run.
"""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import os
import resource
import socket
import sys
import traceback
from pathlib import Path

_FOLDER = Path(__file__).parent
_MOST_TEXT = 4000
_MOST_BYTES = 1 << 40


def main() -> int:
    """Answer questions until the judge closes the connection."""
    limit = int(sys.argv[4]) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.path.insert(0, str(_FOLDER))
    from answers import Answers, prepare  # noqa: PLC0415 - the path is set only now
    from framing import receive, send  # noqa: PLC0415 - as above

    # This comes before the connection: until then, time and failures are the machine's, not the author's.
    prepare()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(sys.argv[1])
    connection.sendall(Path(sys.argv[2]).read_bytes())
    silence()
    answers = None
    while True:
        try:
            question, payload = receive(connection, _MOST_BYTES)
        except EOFError:
            return 0
        try:
            if answers is None:
                answers = Answers(Path(sys.argv[3]).read_text("utf-8", errors="replace"))
            reply, arrays = answers.to(question, payload)
        except BaseException as error:  # noqa: BLE001 - an author's SystemExit is an answer as well
            send(connection, {"error": said(error), "kind": kind_of(error), "missing": missing_for(error)})
            continue
        send(connection, reply, arrays)


def silence() -> None:
    """Discard all prints: a full pipe would stop the definition."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def said(error: BaseException) -> str:
    """The exception with the author's own lines of the traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "problem_def.py"]
    lines = [f"  line {frame.lineno}, in {frame.name}\n" for frame in frames]
    try:
        what = "".join(traceback.format_exception_only(error))
    except Exception:  # noqa: BLE001 - an author's exception may not even be shown
        what = type(error).__name__
    return ("".join(lines[-10:]) + what)[-_MOST_TEXT:].encode(errors="replace").decode()


def missing_for(error: BaseException | None) -> str:
    """The missing package that caused the error; empty if there is none."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError):
            return str(error.name)
        error = error.__cause__ or error.__context__
    return ""


def kind_of(error: BaseException) -> str:
    """The kind of an error: `memory`, `time`, `definition` or `raised`."""
    text = str(error) if isinstance(error, RuntimeError) else ""
    if isinstance(error, MemoryError) or "allocate memory" in text or "not enough memory" in text:
        return "memory"
    return {"DefinitionError": "definition", "TooLongError": "time"}.get(type(error).__name__, "raised")


if __name__ == "__main__":
    sys.exit(main())
