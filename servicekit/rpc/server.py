"""A gRPC server with the parts that all our services share: health, reflection, metrics, interceptors, graceful end."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import grpc
import uvloop
from grpc_health.v1 import health_pb2_grpc

from servicekit import logging, metrics
from servicekit.callers_file import CallersFileError
from servicekit.rpc.access import AccessControl, Identify
from servicekit.rpc.channels import MAX_MESSAGE_BYTES
from servicekit.rpc.credentials import OpenToOthersError
from servicekit.rpc.health import SERVICE_NAME, Health
from servicekit.rpc.interceptors import Observer
from servicekit.rpc.reflection import serve_reflection
from servicekit.rpc.tls import TlsFiles, TlsFilesError
from servicekit.service_token import NoServiceTokenError
from servicekit.settings.config import ServiceSettings, WrongSettingsError, settings_faults
from servicekit.storage import has_room

if TYPE_CHECKING:
    from servicekit.rpc.audit import Audit  # it loads SQLAlchemy

log = logging.get_logger(__name__)

OPTIONS: tuple[tuple[str, int], ...] = (
    # Services ping every second; a server that expects fewer answers GOAWAY too_many_pings.
    ("grpc.http2.min_ping_interval_without_data_ms", 500),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Two processes on one port would each get some of the calls.
    ("grpc.so_reuseport", 0),
)


WRONG_SETTINGS = (WrongSettingsError, NoServiceTokenError, OpenToOthersError, TlsFilesError, CallersFileError)
"""Errors whose message names the setting."""
CHECK_SETTINGS = "--check-settings"
"""Option of a service: check the settings and exit instead of serving."""
DATABASE_WORK = {
    "migrate": "bring the database up to this version",
    "back-up": "copy the database, which may be in use, into FILE, and print what it has",
    "check-restore": "check that FILE can be restored into the database",
    "restore": "restore FILE into the empty database; `wavepool admin restore` does all that belongs to it",
    "open-restored": "let services start on the restored database",
    "recovered": "end what was in flight, in a database that PostgreSQL itself recovered to an earlier time",
    "verify": "restore FILE into a temporary database, and print what it has and its faults",
}
"""Options of a service with a database: do that and exit instead of serving. Some take a file."""
_NO_FILE = ("migrate", "open-restored", "recovered")


WatchDatabase = Callable[[Callable[[bool], None]], Coroutine[Any, Any, None]]
"""`Database.watch`; the class itself would load SQLAlchemy in services that have no database."""


class PortTakenError(Exception):
    """Another process has the port."""


class ServiceServer:
    """One service's server. Register servicers on `grpc`, `expose` their names, then call `run_until_signalled`.

    `identify` tells who calls; a call reaches the servicer only if the method's proto names that kind of caller. With
    `tls` the server takes only encrypted connections of clients with a certificate. `interceptors` see only calls that
    were let in, and `audit` those that are carried out here, and refusals.
    """

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        error_map: Mapping[type[Exception], grpc.StatusCode],
        identify: Identify,
        tls: TlsFiles | None = None,
        interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
        audit: Audit | None = None,
    ) -> None:
        self.name = name
        access = AccessControl(identify, audit.refused if audit else None)
        around = [*interceptors, audit] if audit else interceptors
        self.grpc = grpc.aio.server(interceptors=[Observer(error_map), access, *around], options=OPTIONS)
        self._tls = tls
        self.port = 0
        self.metrics_port = 0
        self._settings = settings
        self._health = Health(lambda: has_room(settings.state_folder()))
        self._watch_database: WatchDatabase | None = None
        self._watching: asyncio.Task[None] | None = None
        self._names: list[str] = []
        self._stop_metrics: Callable[[], None] | None = None
        if audit:
            self.expose(audit.serve_on(self.grpc))

    def expose(self, service_name: str) -> None:
        """Adds a registered service to health and reflection, such as `wavepool.billing.v1.BillingService`."""
        self._names.append(service_name)

    def on(self, watch_database: WatchDatabase) -> Self:
        """Lets health say that nothing is served while the database is out of reach; gives the server itself."""
        self._watch_database = watch_database
        return self

    async def start(self) -> None:
        """Binds the ports, serves and reports healthy; raises PortTakenError."""
        settings = self._settings
        cast("Any", health_pb2_grpc).add_HealthServicer_to_server(self._health, self.grpc)
        serve_reflection([*self._names, SERVICE_NAME], self.grpc)
        try:
            self.port = self._bound(f"{settings.host}:{settings.port}")
        except RuntimeError as error:
            raise PortTakenError(f"{self.name} cannot listen on {settings.host}:{settings.port}: {error}") from error
        try:
            self.metrics_port, self._stop_metrics = metrics.serve_metrics(
                settings.host, settings.resolved_metrics_port()
            )
        except OSError as error:
            raise PortTakenError(
                f"{self.name} cannot serve metrics on {settings.host}:{settings.resolved_metrics_port()}: {error}"
            ) from error
        await self.grpc.start()
        self._health.serve(self._names)
        if self._watch_database:
            self._watching = asyncio.create_task(self._watch_database(self._health.say_database))
        log.info(
            "serving",
            extra={
                "host": settings.host,
                "port": self.port,
                "metrics_port": self.metrics_port,
                "tls": self._tls is not None,
            },
        )

    async def stop(self, drain: timedelta | None = None) -> None:
        """Reports not serving, refuses new calls, lets calls in flight finish within `drain`, then ends them."""
        self._health.end()
        if self._watching:
            _cancel([self._watching])
            await asyncio.gather(self._watching, return_exceptions=True)
        await self.grpc.stop((self._settings.drain if drain is None else drain).total_seconds())
        if self._stop_metrics:
            await asyncio.to_thread(self._stop_metrics)
        log.info("stopped")

    async def run_until_signalled(self, *background: Coroutine[Any, Any, Any]) -> None:
        """Starts, runs `background` beside the server, and stops on SIGTERM or SIGINT.

        If a background coroutine ends with an error, the others end too, the server stops, and the error is raised.
        """
        signalled = _signals()
        await self.start()
        tasks = [asyncio.create_task(work) for work in background]
        waiting = asyncio.create_task(signalled.wait())
        try:
            await _first_error_or(waiting, tasks)
        except BaseException:
            # A service that has to end does nothing more by itself while its last calls drain.
            _cancel(tasks)
            raise
        finally:
            waiting.cancel()
            await self.stop()
            _cancel(tasks)
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)

    def _bound(self, address: str) -> int:
        if self._tls:
            return self.grpc.add_secure_port(address, self._tls.server_credentials())
        return self.grpc.add_insecure_port(address)


def run(
    main: Callable[[], Awaitable[None]],
    check: Callable[[], object],
    database_work: Callable[[str, Path], Awaitable[None]] | None = None,
) -> None:
    """Runs a service's main coroutine function on uvloop until it ends.

    With `--check-settings` it only calls `check`, and with an option of DATABASE_WORK, which services with a database
    have, `database_work` with its name and file.

    Turns the garbage collector on, which programs turn off while they import.

    An unknown option ends the process with the usage and exit status 2. Wrong settings, among them a database that this
    version cannot use, end it with a line on stderr and exit status 78 (EX_CONFIG): a restart would not help.
    """
    chosen = _options(has_database=database_work is not None).parse_args()

    async def body() -> None:
        if database_work and chosen.work:
            await database_work(*chosen.work)
        else:
            await main()

    try:
        if chosen.check_settings:
            check()
            return
        # Imported objects live as long as the process. Collecting garbage among them stops everything for 50 ms.
        gc.freeze()
        gc.enable()
        uvloop.run(body())
    except (ValueError, WrongSettingsError) as error:
        faults = str(error) if isinstance(error, WRONG_SETTINGS) else settings_faults(error)
        if not faults:
            raise
        sys.stderr.write(f"{faults}\n")
        raise SystemExit(os.EX_CONFIG) from error


def _options(*, has_database: bool) -> argparse.ArgumentParser:
    spec = sys.modules["__main__"].__spec__
    parser = argparse.ArgumentParser(
        prog=f"python -m {spec.name.removesuffix('.__main__')}" if spec else None,
        description="Serve until SIGTERM or Ctrl-C.",
        epilog="Settings are environment variables: see docs/operations.md. Exit status 78: one of them is wrong.",
        allow_abbrev=False,
    )
    parser.add_argument(CHECK_SETTINGS, action="store_true", help="only check the settings")
    if not has_database:
        return parser
    works = parser.add_mutually_exclusive_group()
    for name, does in DATABASE_WORK.items():
        option, explanation = f"--{name}", f"only {does}"
        if name in _NO_FILE:
            works.add_argument(option, dest="work", action="store_const", const=(name, Path()), help=explanation)
        else:
            works.add_argument(option, dest="work", metavar="FILE", type=partial(_named, name), help=explanation)
    return parser


def _named(work: str, file: str) -> tuple[str, Path]:
    return work, Path(file)


def _signals() -> asyncio.Event:
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signalled.set)
    return signalled


def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()


async def _first_error_or(waiting: asyncio.Task[bool], tasks: list[asyncio.Task[Any]]) -> None:
    pending: set[asyncio.Task[Any]] = {waiting, *tasks}
    while not waiting.done():
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
