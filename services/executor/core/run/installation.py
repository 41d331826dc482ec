"""Builds the context of the core's commands from their command lines."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import psutil

from problems.kit.definition import Problem
from problems.library.catalogue import Catalogue
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.forbidden import rules
from services.executor.core.model.limits import Share, StageLimits
from services.executor.core.run.context import RunContext
from services.executor.core.sandbox.scratch import memory_parent, sweep
from services.executor.devices.device import Device
from services.executor.devices.gfx942.inspector import Gfx942Inspector
from services.executor.devices.plugins import device_named
from services.executor.devices.selection import OnProcessors, within
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.limits.cgroup import remove_leftover_cgroups
from services.executor.sandboxes.limits.cgroup_place import cgroup_parents


@dataclass(frozen=True)
class Options:
    """The options of every command."""

    device: str
    sandbox: str
    cache_folder: Path
    cache_mib: int
    forbidden_file: Path | None = None
    torch_python: Path | None = None
    sandbox_memory_mib: int | None = None
    sandbox_cores: float | None = None
    """The most that a submission's sandbox may use; None for the device's default."""
    hip_version: str = ""
    """The release of HIP whose refusals and report count, such as `7` or `6.4`; empty for ROCm's own or the newest."""


def default_cache_folder() -> Path:
    """The folder of builds in XDG_CACHE_HOME, or in ~/.cache if that is not set."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "wavepool" / "builds"


@cache
def catalogue() -> Catalogue:
    """Our own problems, loaded once."""
    return Catalogue.load()


def find_problem(slug: str) -> Problem:
    """A problem of the catalogue, by its slug or alias; raises UnknownProblemError."""
    return catalogue().get(slug).problem


def remove_leftovers(scratch_parent: Path) -> None:
    """Remove the folders and control groups that killed processes of ours left behind."""
    for parent in {scratch_parent, memory_parent(scratch_parent)}:
        sweep(parent)
    remove_leftover_cgroups(cgroup_parents())


def share_for(device: Device, options: Options) -> Share:
    """The share of a submission's sandbox: as set, or the device's default."""
    own = Share.on_processors(psutil.virtual_memory().total >> 20, len(os.sched_getaffinity(0)))
    default = own if isinstance(device, OnProcessors) else Share()
    return Share(options.sandbox_memory_mib or default.memory_mib, options.sandbox_cores or default.cores)


async def open_context(options: Options) -> RunContext:
    """Open the context of a command.

    Raises UnknownPluginError, BrokenPluginError, ForbiddenRulesError, and SandboxError if the sandbox does not work.
    """
    device = device_named(options.device)
    share = share_for(device, options)
    device = within(device, share.cores)
    forbidden = rules(options.forbidden_file)
    sandbox = await choose_sandbox(options.sandbox)
    scratch_parent = Path(gettempdir())
    remove_leftovers(scratch_parent)
    builds = CompileCache(options.cache_folder, options.cache_mib << 20)
    return RunContext(
        device,
        sandbox,
        builds,
        find_problem,
        scratch_parent=scratch_parent,
        forbidden=forbidden,
        inspector=Gfx942Inspector(options.hip_version),
        limits=StageLimits().within(share),
        torch_python=options.torch_python,
    )
