"""The fork server: a process that does the common start of all judges once, and forks a judge for each request.

A request is `REQUEST` with four descriptors: the judge's stdin, stdout and stderr, and a SOCK_SEQPACKET socket of its
own. On that socket the fork server sends a number (`NUMBER`): the process id, with a pidfd, or a negative errno. When
the judge has ended, its exit code follows, or the negative number of the signal that ended it.

Nothing runs beside a fork: we have one thread, and OpenBLAS ends its threads before a fork by itself and starts new
ones, in parent and child, when they are needed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from services.executor.sandboxes.kernel_calls import die_with

REQUEST = b"judge"
NUMBER = struct.Struct("=i")
_DESCRIPTORS = 4
_BROKEN = 1
# Modules that numpy would import only when the first job comes.
_LATE_IMPORTS = ("numpy.random", "numpy.ma")
# The kernel allows at most 15 characters.
_PROCESS_NAME = "wavepool-judge"


class ForkServer:
    """Serves the requests that come over `channel`; each forked process runs `judge` and exits with its result."""

    def __init__(self, channel: socket.socket, judge: Callable[[], int]) -> None:
        self._channel = channel
        self._judge = judge
        self._pid = os.getpid()
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        # For each judge's pidfd: its process id, and the socket to its requester.
        self._judges: dict[int, tuple[int, int]] = {}

    def serve(self) -> None:
        """Serve until the other end of the channel is closed."""
        for module in _LATE_IMPORTS:
            importlib.import_module(module)
        # Objects that exist by now are never garbage. The collector leaves them alone, so their pages stay shared.
        gc.collect()
        gc.freeze()
        while True:
            ready = [descriptor for descriptor, _ in self._poll.poll()]
            for descriptor in ready:
                if descriptor in self._judges:
                    self._reap(descriptor)
            if self._channel.fileno() in ready and not self._serve_request():
                return

    def _serve_request(self) -> bool:
        """Serves one request; returns False if the channel was closed."""
        request, descriptors, _, _ = socket.recv_fds(self._channel, len(REQUEST), _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        if request == REQUEST and len(descriptors) == _DESCRIPTORS:
            *streams, line = descriptors
            self._fork(streams, line)
            descriptors = streams
        _close(descriptors)
        return bool(request)

    def _fork(self, streams: Sequence[int], line: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            _tell(line, -(error.errno or 1))
            os.close(line)
            return
        if pid == 0:
            self._become_judge(streams)
        # Nobody has waited for the child yet, so the process id is still its own.
        pidfd = os.pidfd_open(pid)
        _tell(line, pid, pidfd)
        self._judges[pidfd] = pid, line
        self._poll.register(pidfd, select.POLLIN)

    def _reap(self, pidfd: int) -> None:
        pid, line = self._judges.pop(pidfd)
        self._poll.unregister(pidfd)
        _, status = os.waitpid(pid, 0)
        _tell(line, os.waitstatus_to_exitcode(status))
        _close((pidfd, line))

    def _become_judge(self, streams: Sequence[int]) -> NoReturn:
        """Runs the judge in the forked process. It never returns, so no descriptor is closed a second time."""
        status = _BROKEN
        try:
            die_with(self._pid)
            os.setsid()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            os.closerange(len(streams), os.sysconf("SC_OPEN_MAX"))
            with contextlib.suppress(OSError):
                Path("/proc/self/comm").write_text(_PROCESS_NAME)
            # Python's own generator reseeds itself after a fork; none of our code draws from either.
            np.random.seed()  # noqa: NPY002  it is the shared one that must differ
            status = self._judge()
        except BaseException:  # noqa: BLE001  the stack below belongs to the fork server
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)


def _tell(line: int, number: int, *descriptors: int) -> None:
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(line)) as connection:
        socket.send_fds(connection, [NUMBER.pack(number)], descriptors)


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
