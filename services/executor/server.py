"""Builds the executor."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import grpc
from wavepool.executor.v1 import executor_pb2_grpc, session_pb2_grpc

from hipcpu.build_folder import ToolchainError
from problems.kit.definition import SizeSet
from servicekit import logging
from servicekit.clock import Clock, SystemClock
from servicekit.rpc import access
from servicekit.rpc.access import Identify
from servicekit.rpc.errors import ErrorMap
from servicekit.rpc.server import PortTakenError, ServiceServer
from servicekit.settings.plugins import BrokenPluginError, UnknownPluginError
from servicekit.settings.setting_names import warn_of_settings
from servicekit.storage import has_room
from services.executor.config import CapacityError, ExecutorSettings
from services.executor.core.compile.forbidden import ForbiddenRulesError, rules
from services.executor.core.model.job import CoreJob
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.run.installation import catalogue
from services.executor.core.sandbox.canary import canary_job
from services.executor.core.sandbox.scratch import memory_parent, sweep
from services.executor.devices.device import Device, Toolchain
from services.executor.devices.others_in_sight import refusal
from services.executor.devices.plugins import device_named
from services.executor.devices.profiling import profiler_or_reason
from services.executor.devices.selection import Maskable, Preparable
from services.executor.disks.choice import disk_store
from services.executor.disks.snapshot import DiskError
from services.executor.images.builder import Builder
from services.executor.images.image_store import ImageStore, missing_for_images
from services.executor.images.registries import NO_IMAGES
from services.executor.judges.fork_server_client import JudgeForkServer
from services.executor.judges.judge import Judge
from services.executor.judges.pool import JudgePool
from services.executor.leases import errors
from services.executor.leases.authentication import Tokens
from services.executor.machine.inventory import InventoryReader
from services.executor.machine.load import LoadMeter
from services.executor.machine.pool_watch import PoolGoneError, PoolWatch
from services.executor.machine.signing import Signer, SigningKeyError
from services.executor.runs.admission import Admission, EndReason
from services.executor.runs.all_runs import Runs
from services.executor.runs.health_check import HealthCheck
from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.gaps import shows_all_nodes
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.service import ExecutorServicer
from services.executor.session_service import SessionServicer
from services.executor.sessions import errors as session_errors
from services.executor.sessions.all_sessions import Sessions
from services.executor.sessions.disk_watch import DiskWatch
from services.executor.sessions.homes.homes import Disks, Homes
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from services.executor.sessions.root.build_sandbox import BubblewrapBuildSandbox, missing_for_builds
from services.executor.sessions.root.image_root import overlay_fault
from services.executor.sessions.session_sandbox import SessionSandbox
from services.executor.wire.capabilities import Capabilities
from services.executor.wire.requests import RunDecoder
from services.executor.wire.sessions import SessionDecoder

log = logging.get_logger(__name__)

ERROR_MAP: ErrorMap = {
    errors.InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.MissingTokenError: grpc.StatusCode.UNAUTHENTICATED,
    errors.WrongTokenError: grpc.StatusCode.PERMISSION_DENIED,
    errors.UnknownProblemError: grpc.StatusCode.NOT_FOUND,
    errors.UnknownRunError: grpc.StatusCode.NOT_FOUND,
    errors.RunConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.StaleLeaseError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoSlotError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.NoRoomError: grpc.StatusCode.UNAVAILABLE,
    errors.DrainingError: grpc.StatusCode.UNAVAILABLE,
    errors.UnfitError: grpc.StatusCode.ABORTED,
    session_errors.NoSessionsError: grpc.StatusCode.UNIMPLEMENTED,
    session_errors.NoGangsError: grpc.StatusCode.UNIMPLEMENTED,
    session_errors.NoDisksError: grpc.StatusCode.UNIMPLEMENTED,
    DiskError: grpc.StatusCode.UNAVAILABLE,
    session_errors.NoDiskError: grpc.StatusCode.FAILED_PRECONDITION,
    session_errors.UnknownSessionError: grpc.StatusCode.NOT_FOUND,
    session_errors.SessionConflictError: grpc.StatusCode.ALREADY_EXISTS,
    session_errors.HomeInUseError: grpc.StatusCode.ALREADY_EXISTS,
    session_errors.SessionNotReadyError: grpc.StatusCode.FAILED_PRECONDITION,
    session_errors.TooManyConnectionsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    session_errors.SilentSessionError: grpc.StatusCode.UNAVAILABLE,
}
_ROOM_BYTES = 16 << 20
"""A run needs some megabytes for its build, its executable and its data."""
# Errors reported without a traceback to the person who starts the executor: the message says what to do.
_CANNOT_START = (
    SandboxError,
    UnknownPluginError,
    BrokenPluginError,
    ToolchainError,
    PortTakenError,
    SigningKeyError,
    ForbiddenRulesError,
    CapacityError,
    DiskError,
)
# Runs that drain too long are ended this long before their streams, so that callers see how they ended.
_LAST_WORDS_SECONDS = 1.0


class ExecutorServer(ServiceServer):
    """A server that ends its runs and sessions before it stops."""

    def __init__(
        self,
        settings: ExecutorSettings,
        identify: Identify,
        admission: Admission,
        runs: Runs,
        sessions: Sessions,
        inventory: InventoryReader,
        pool_watch: PoolWatch | None,
    ) -> None:
        super().__init__("executor", settings, ERROR_MAP, identify)
        self.admission = admission
        self.runs = runs
        self.sessions = sessions
        self.inventory = inventory
        self.pool_watch = pool_watch
        self._drain_duration = settings.drain

    async def start(self) -> None:
        """Serve, and start judges in the background."""
        self.runs.start()
        await super().start()

    async def serve(self) -> None:
        """Serve until SIGTERM or SIGINT; raises PoolGoneError if the machine has a pool and it is gone."""
        watches = [self.pool_watch.run()] if self.pool_watch else []
        await self.run_until_signalled(self.sessions.run(), *watches)

    async def stop(self, drain: timedelta | None = None) -> None:
        """Begin no more runs and sessions, give those in flight `drain` to finish, end the rest, then stop."""
        self.runs.drain()
        seconds = max((self._drain_duration if drain is None else drain).total_seconds() - _LAST_WORDS_SECONDS, 0)
        self.sessions.drain(timedelta(seconds=seconds))
        ending = asyncio.get_running_loop().call_later(seconds, self.admission.end_all, EndReason.EXECUTOR_STOPPED)
        await super().stop(drain)
        ending.cancel()
        await self.runs.close()
        await self.inventory.close()


def build_server(
    settings: ExecutorSettings,
    capabilities: Capabilities,
    signer: Signer,
    start_judge: Callable[[], Awaitable[Judge]],
    canary: CoreJob,
    session_sandbox: SessionSandbox | str,
) -> ExecutorServer:
    """Build the server with all its parts; `start_judge` raises OSError if it cannot start a judge.

    `session_sandbox` is the adapter for sessions, or why this machine has none.
    """
    judges = JudgePool(start_judge, settings.judge_spares)
    inventory = capabilities.inventory
    health_check = HealthCheck(
        judges, canary, inventory.refresh, _room_for_runs(settings), always=capabilities.device.is_gpu
    )
    capacity = settings.capacity(inventory.current.device.gpus)
    admission = Admission(health_check, capabilities.clock, capacity, settings.fence())
    runs = Runs(judges, health_check, capabilities.clock, admission, capabilities.prepare)
    pool_watch = PoolWatch(settings.pool_timeout, lambda: bool(admission.in_flight)) if settings.pool_timeout else None
    tokens = settings.tokens()
    homes = settings.homes_dir or settings.data_dir / "homes"
    store = disk_store(settings.disks, settings.disks_ssh, settings.session_disk_rules.reserve_bytes)
    if settings.disks and isinstance(store, str):
        log.warning("this machine keeps no disks", extra={"setting": settings.disks, "reason": store})
    disks = store if isinstance(store, str) else Disks(store, settings.snapshot_rules, settings.work_dir)
    sessions = Sessions(
        sandbox=session_sandbox,
        homes=Homes(homes, disks),
        host=lambda: inventory.current.host,
        device=lambda: inventory.current.device,
        disk=DiskWatch(settings.session_disk_rules, [homes, settings.work_dir]),
        health_check=health_check,
        clock=capabilities.clock,
        admission=admission,
        images=images_of(settings),
    )
    server = ExecutorServer(settings, partial(_identified, tokens), admission, runs, sessions, inventory, pool_watch)
    size_set = SizeSet.GPU if capabilities.device.has_own_memory else SizeSet.CPU
    decoder = RunDecoder(catalogue(), size_set, server.runs.capacity.eighths, capabilities.masks_compute_units)
    servicer = ExecutorServicer(
        admission,
        server.runs,
        sessions,
        decoder,
        tokens,
        signer,
        capabilities,
        pool_watch,
        settings.machine_address,
    )
    executor_pb2_grpc.add_ExecutorServiceServicer_to_server(servicer, server.grpc)
    server.expose("wavepool.executor.v1.ExecutorService")
    session_servicer = SessionServicer(sessions, SessionDecoder(admission.capacity.eighths), tokens)
    session_pb2_grpc.add_SessionServiceServicer_to_server(session_servicer, server.grpc)
    server.expose("wavepool.executor.v1.SessionService")
    return server


def images_of(settings: ExecutorSettings) -> ImageStore | str:
    """Return the machine's images, or why it takes none."""
    if not settings.registries.all:
        return NO_IMAGES
    if missing := missing_for_images():
        return missing
    folder = settings.cache_dir.absolute() / "images"
    try:
        return ImageStore(folder, settings.registries, settings.image_rules, BubblewrapSandbox(), builder_of(settings))
    except OSError as error:
        return f"this machine cannot keep images in {folder}: {error.strerror or error}"


def builder_of(settings: ExecutorSettings) -> Builder:
    """Return what builds images here, or says why nothing does."""
    missing = missing_for_builds()
    overlay = not missing and not overlay_fault(settings.cache_dir.absolute() / "images")
    return Builder(missing or BubblewrapBuildSandbox(settings.destinations, overlay=overlay), settings.build_rules)


async def _identified(tokens: Tokens, context: grpc.aio.ServicerContext[object, object]) -> access.Caller:
    kind = tokens.caller(context.invocation_metadata() or ()).value
    return access.Caller(frozenset({kind}), access.TITLES[kind])


def _room_for_runs(settings: ExecutorSettings) -> Callable[[], bool]:
    """Return a function that checks for room in each folder that a run writes to."""
    folders = {settings.work_dir, settings.cache_dir, settings.data_dir, memory_parent(settings.work_dir)}
    return lambda: all(has_room(folder, _ROOM_BYTES) for folder in folders)


def prepare_folders(settings: ExecutorSettings) -> None:
    """Make the work folder, and remove files that a killed executor left in it and in memory."""
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    for folder in {settings.work_dir, memory_parent(settings.work_dir)}:
        sweep(folder)


async def find_capabilities(settings: ExecutorSettings, signer: Signer, clock: Clock) -> Capabilities:
    """Try out everything, and log the gaps of the sandbox.

    Raises SandboxError, UnknownPluginError, BrokenPluginError, ToolchainError, ForbiddenRulesError.
    """
    rules(settings.forbidden_file)
    sandbox = await choose_sandbox(settings.sandbox)
    device = device_named(settings.device)
    if why := await asyncio.to_thread(refusal, device, shows_all_nodes=shows_all_nodes(sandbox.gaps)):
        raise SandboxError(why)
    toolchain, prepare = await asyncio.to_thread(_toolchain_of, device)
    inventory = InventoryReader(device, clock)
    await inventory.read()
    capabilities = Capabilities(
        device=device.describe(),
        toolchain=toolchain,
        sandbox=sandbox.name,
        sandbox_gaps=sandbox.gaps,
        signing_public_key=signer.public_key,
        problems=sorted(catalogue().problems),
        clock=clock,
        start_time=clock.now(),
        inventory=inventory,
        load=LoadMeter(device, sum(gpu.device_count for gpu in inventory.current.device.gpus)),
        torch_version=await asyncio.to_thread(_torch_version, settings),
        profiler=await asyncio.to_thread(profiler_or_reason, device),
        registries=settings.registries.all,
        prepare=prepare,
        masks_compute_units=isinstance(device, Maskable),
    )
    log.info("device", extra={"device": settings.device, "toolchain": toolchain.title})
    log.info("user code runs in a sandbox", extra={"sandbox": sandbox.name, "setting": settings.sandbox})
    for gap in sandbox.gaps:
        log.warning("the sandbox does not hold everything back", extra={"sandbox": sandbox.name, "gap": gap})
    return capabilities


def _toolchain_of(device: Device) -> tuple[Toolchain, Callable[[], None]]:
    """Return the toolchain, and what prepares it if that can be left to the first run; raises ToolchainError."""
    try:
        return device.toolchain(), lambda: None
    except ToolchainError as error:
        if not isinstance(device, Preparable):
            raise
        log.warning("the first run waits for the toolchain; sessions do not", extra={"reason": str(error)})
        return Toolchain("", "none when this executor started: its first run waits for it"), device.prepare


def _torch_version(settings: ExecutorSettings) -> str:
    try:
        return torch_python(settings.torch_python).version
    except TorchMissingError as error:
        log.info("problem definitions that come with submissions cannot be evaluated", extra={"reason": str(error)})
        return ""


def check_settings() -> None:
    """Print the options of the core that follow from the settings, as a JSON list; raises ValidationError."""
    sys.stdout.write(json.dumps(ExecutorSettings().core_options()) + "\n")


async def main() -> None:
    """Serve until SIGTERM or SIGINT, or until the pool is gone; exits with status 1 if the executor cannot start."""
    settings = ExecutorSettings()
    logging.configure("executor", settings.log_level)
    warn_of_settings(log)
    try:
        prepare_folders(settings)
        signer = settings.signer()
        capabilities = await find_capabilities(settings, signer, SystemClock())
        capacity = settings.capacity(capabilities.inventory.current.device.gpus)
        max_runs = capacity.max_runs
        fork_server = JudgeForkServer(settings.fork_server_command(max_runs), settings.judge_environment(max_runs))
        try:
            canary = canary_job(capabilities.device, is_shared=capacity.runs_per_device > 1)
            sessions = await open_bubblewrap_session(
                device_named(settings.device), settings.work_dir, settings.destinations, settings.shared_folders
            )
            await build_server(settings, capabilities, signer, fork_server.start, canary, sessions).serve()
        except PoolGoneError as error:
            log.warning("the executor ends: %s", error)
        finally:
            await fork_server.close()
    except _CANNOT_START as error:
        log.error("the executor cannot start: %s", error)  # noqa: TRY400  the message says what to do, a traceback adds nothing
        raise SystemExit(1) from error
