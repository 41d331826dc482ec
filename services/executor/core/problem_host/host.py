"""The process of a problem definition, in a sandbox of its own, and the judge's questions to it.

The definition is as untrusted as the submission: it sees neither the judge nor the runner. Asking blocks all other
tasks, because everything about a call is decided in order; each question has a deadline.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.interpreter import SANDBOXED, TorchPython
from services.executor.core.problem_host.sandboxed.framing import FramingError, receive, send
from services.executor.core.sandbox.private_socket import PrivateSocket
from services.executor.core.sandbox.running import end_of, running
from services.executor.sandboxes.sandbox import Command, Exit, Limits, Mount, Sandbox, SandboxedProcess
from services.executor.sandboxes.sandbox_files import write_source

_IN_SANDBOX = Path("/problem")
_FAREWELL_SECONDS = 5.0
_MOST_SAID = 4000
_LEAST_SECONDS = 0.001
_MOST_PACKAGE = 100
INSTALLABLE = frozenset({"torchao"})
PACKAGES = {
    "torchao": "`make setup-torch` installs it beside torch",
    "flashinfer": "it runs on GPUs of NVIDIA alone, and definitions are evaluated on a processor",
}
"""Packages that definitions are known to need beside torch, and why a machine may not have them."""

_Kind = TypeVar("_Kind", bound=Failure)


@dataclass(frozen=True)
class HostLimits:
    """The limits of a definition: its sandbox, the time to load torch, and the time and arrays of one answer."""

    sandbox: Limits
    start_seconds: float
    answer_seconds: float
    array_bytes: int


class TooMuchError(Failure):
    """A question needed more time or memory than allowed; the host can still answer others."""


class MissingPackageError(Failure):
    """The definition needs a package that this machine does not have."""

    package = ""

    @property
    def can_be_had(self) -> bool:
        """True if the package can be installed."""
        return self.package in INSTALLABLE


class _HostGoneError(Exception):
    """The process ended, or closed the connection."""


class ProblemHost:
    """A connection to the host of a definition; `open_host` makes it."""

    def __init__(self, connection: socket.socket, limits: HostLimits) -> None:
        self._connection = connection
        self._limits = limits
        self._left_seconds = limits.sandbox.wall.total_seconds()

    @property
    def most_array_bytes(self) -> int:
        """The most bytes of all arrays of one answer."""
        return self._limits.array_bytes

    def ask(self, what: str, *payloads: memoryview, **fields: object) -> tuple[dict[str, Any], bytearray]:
        """Ask `what`, and return the answer's object and arrays; raises Failure if the definition fails to answer."""
        seconds = max(min(self._limits.answer_seconds, self._left_seconds), _LEAST_SECONDS)
        begin = time.monotonic()
        try:
            self._connection.settimeout(seconds)
            send(self._connection, {"ask": what, **fields}, payloads)
            answer, arrays = receive(self._connection, self._limits.array_bytes, begin + seconds)
        except TimeoutError as error:
            message = (
                f"took more than {seconds:g} seconds ({what}): make its test cases smaller, or the reference faster"
            )
            raise definition_failure(message, "time") from error
        except FramingError as error:
            raise definition_failure(f"gave an answer that cannot be taken ({what}): {error}", "answer") from error
        except (EOFError, OSError) as error:
            raise _HostGoneError from error
        finally:
            self._left_seconds -= time.monotonic() - begin
        if "error" in answer:
            raise _raised(what, answer)
        return answer, arrays


@asynccontextmanager
async def open_host(
    sandbox: Sandbox, python: TorchPython, definition: str, limits: HostLimits, folder: Path
) -> AsyncGenerator[ProblemHost]:
    """Start the host of `definition`, with the empty `folder` for its files; raises Failure."""
    private_socket = PrivateSocket(folder)
    write_source(folder / "problem_def.py", definition)
    command = _command(python, folder, private_socket, limits.sandbox)
    with closing(private_socket):
        async with running(sandbox, command, limits.sandbox) as process:
            with await _connected(private_socket, process, limits) as connection:
                connection.setblocking(True)
                try:
                    yield ProblemHost(connection, limits)
                except _HostGoneError as error:
                    raise _ended(await _end(process), limits.sandbox) from error


async def _connected(private_socket: PrivateSocket, process: SandboxedProcess, limits: HostLimits) -> socket.socket:
    """Waits for the host to connect. It has not read the definition yet, so any failure until then is ours."""
    accepting = asyncio.ensure_future(private_socket.accept(process))
    ending = asyncio.ensure_future(end_of(process))
    try:
        await asyncio.wait((accepting, ending), timeout=limits.start_seconds, return_when=asyncio.FIRST_COMPLETED)
        if accepting.done():
            return accepting.result()
        if ending.done():
            details = ending.result().stderr.decode(errors="replace")[-_MOST_SAID:]
        else:
            details = f"it did not connect within {limits.start_seconds:g} seconds"
        raise InfrastructureFailure(
            "The host of problem definitions does not start; run again elsewhere.", details=details
        )
    finally:
        accepting.cancel()
        ending.cancel()
        await asyncio.gather(accepting, ending, return_exceptions=True)


def _command(python: TorchPython, folder: Path, private_socket: PrivateSocket, limits: Limits) -> Command:
    mounts = [Mount(place, place) for place in python.folders]
    mounts += [Mount(folder / "problem_def.py", _IN_SANDBOX / "problem_def.py"), *private_socket.mounts(_IN_SANDBOX)]
    arguments = [str(python.program), "-I", "-B", str(SANDBOXED / "main.py"), *private_socket.arguments(_IN_SANDBOX)]
    arguments += [str(_IN_SANDBOX / "problem_def.py"), str(limits.memory_mib)]
    environment = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "OMP_WAIT_POLICY": "passive"}  # noqa: S108  its own
    return Command(arguments, Path("/"), mounts, environment)


def shown(value: object, most_characters: int) -> str:
    """A text from the definition, cut and made safe to encode."""
    return str(value)[:most_characters].encode(errors="replace").decode().replace("\0", "?")


async def _end(process: SandboxedProcess) -> Exit | None:
    try:
        async with asyncio.timeout(_FAREWELL_SECONDS):
            return await end_of(process)
    except TimeoutError:
        return None


def _ended(end: Exit | None, limits: Limits) -> Failure:
    if end is None:
        return definition_failure("hung up on the judge", "answer")
    if end.memory_exceeded:
        return definition_failure(f"used up {limits.memory_mib} MiB of memory: make its test cases smaller", "memory")
    if end.wall_exceeded or end.cpu_exceeded:
        return definition_failure("used up the time of a whole run: make its test cases smaller", "time")
    how = f"signal {end.signal}" if end.signal else f"exit status {end.code}"
    text = end.stderr.decode(errors="replace")
    return definition_failure(f"ended its own process ({how})", "crashed", text[-_MOST_SAID:])


def _raised(what: str, answer: dict[str, Any]) -> Failure:
    text = shown(answer["error"], _MOST_SAID)
    if answer.get("kind") == "memory":
        message = f"ran out of memory ({what}): make its test cases smaller"
        return _like(TooMuchError, definition_failure(message, "memory", text))
    if answer.get("kind") == "time":
        message = f"took too long ({what}): make its test cases smaller, or the reference faster"
        return _like(TooMuchError, definition_failure(message, "time", text))
    package = shown(answer.get("missing", ""), _MOST_PACKAGE).partition(".")[0]
    if package in PACKAGES:
        failure = _like(
            MissingPackageError, definition_failure(f"needs {package}: {PACKAGES[package]}", "missing", text)
        )
        failure.package = package
        return failure
    last = text.strip().splitlines()[-1] if text.strip() else "an exception without words"
    return definition_failure(f"failed ({what}): {last[:300]}", "raised", text)


def _like(kind: type[_Kind], failure: Failure) -> _Kind:
    return kind(failure.verdict, failure.message, reason=failure.reason, details=failure.details)


def definition_failure(what: str, reason: str, details: str = "") -> Failure:
    """The verdict on a definition; `what` continues the sentence `The problem definition ...`."""
    return Failure(
        Verdict.PROBLEM_ERROR, f"The problem definition {what}.", reason=f"problem_def:{reason}", details=details
    )
