# pyright: basic
"""What a test needs of the machine: declared once, by the fixture or test that uses it.

`NEEDS` lists everything that may be missing. A fixture declares its needs with `@needs("sshd")` below
`@pytest.fixture`, and each test that uses the fixture, directly or through others, has them too; a test may also carry
the marker of the same name. A test whose need is missing is skipped with its name, or fails if `REQUIRE_ALL=1`
(`REQUIRE_GPU=1` for the GPU).

The declarations are checked: a test fails if it, or a fixture that was set up for it, starts a program that is neither
on every machine (`ON_EVERY_MACHINE`) nor declared. On a machine that has everything, a forgotten declaration would
otherwise show only to the next newcomer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from hipcpu import toolchain as cpu_toolchain
from hipcpu.build_folder import ToolchainError
from services.executor.core.problem_host.interpreter import INSTALLED
from services.executor.devices.gfx942.hip_files import find
from services.executor.devices.gfx942.toolchain import cache_folder
from services.executor.sandboxes.limits.cgroup_place import cgroup_parents
from services.executor.sessions.network.session_network import missing_for_network
from services.executor.sessions.root.build_sandbox import missing_for_builds
from tests.dstack_lab.server_python import server_python
from tests.freezer import can_freeze
from tests.gateway.browser.chromium import PROGRAMS as BROWSERS
from tests.identity_provider.running_provider import MODULES
from tests.image_registry import missing_for_registry
from tests.postgres_server import program

Function = TypeVar("Function")

REPOSITORY = Path(__file__).parents[1]
ROCM = REPOSITORY / ".cache" / "rocm6" / "usr"


class Need(NamedTuple):
    """One thing that a machine may lack."""

    present: Callable[[], bool]
    missing: str
    """Why a test is skipped without it."""
    remedy: str
    """A Debian package, or the command that brings it; empty if nothing does."""
    programs: frozenset[str] = frozenset()
    """The programs that a test with this need may start."""


def _installed(*programs: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in programs)


def _package(package: str, *programs: str) -> Need:
    """A need for programs that a package of Debian brings."""
    return Need(_installed(*programs), f"{', '.join(programs)} not installed", package, frozenset(programs))


@cache
def docker_runtimes() -> str:
    """The runtimes of a running engine, with our sandboxes' image made; empty if there is no engine."""
    if shutil.which("docker") is None:
        return ""
    asked = subprocess.run(["docker", "info", "--format", "{{.Runtimes}}"], capture_output=True, text=True, check=False)
    if asked.returncode or not asked.stdout.startswith("map["):
        return ""
    if subprocess.run(
        ["docker", "image", "inspect", "wavepool-sandbox:1"], capture_output=True, check=False
    ).returncode:
        subprocess.run([REPOSITORY / "deploy/sandbox-image"], check=True, capture_output=True)
    return asked.stdout


@cache
def trial_image() -> str:
    """The name of the executor's image for tests; empty if it was not built."""
    if not docker_runtimes():
        return ""
    listed = subprocess.run(
        ["docker", "images", "--format", "{{.Repository}}", "wavepool-executor-trial"],
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout


_TEAM_IMAGES = (
    "postgres:17",
    "caddy:2",
    "prom/prometheus:v3.1.0",
    "prometheuscommunity/postgres-exporter:v0.16.0",
    "grafana/grafana:11.5.2",
)


@cache
def _has_team_images() -> bool:
    """True if `docker compose` works, and the images of compose.yaml or their stand-ins are here."""
    if not trial_image():
        return False
    commands = (["compose", "version"], *(["image", "inspect", image] for image in _TEAM_IMAGES))
    return all(
        subprocess.run(["docker", *command], capture_output=True, check=False).returncode == 0 for command in commands
    )


def torch_program() -> Path | None:
    """The Python with torch that deploy/setup-torch installs, or that EXECUTOR_TORCH_PYTHON names."""
    named = Path(os.environ.get("EXECUTOR_TORCH_PYTHON") or INSTALLED)
    return named if named.is_file() else None


def _has_gpu() -> bool:
    return any(os.path.exists(device) for device in ("/dev/kfd", "/dev/nvidia0"))  # noqa: PTH110 - devices


@cache
def _makes_user_namespaces() -> bool:
    return (
        subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True, check=False).returncode
        == 0
    )


def _has_rocm_libraries() -> bool:
    try:
        return cpu_toolchain.prepared().rocm_headers is not None
    except ToolchainError:
        return False


_POSTGRES = frozenset({"initdb", "postgres", "pg_basebackup", "pg_ctl", "pg_dump", "pg_restore", "psql", "setpriv"})
_OPENSSH = ("ssh", "ssh-keygen", "ssh-agent", "ssh-add", "scp", "sftp")
_BUILDS = frozenset({"buildah", "bwrap", "skopeo", "umoci", "busybox", "nsenter"})
NEEDS = {
    "postgres": Need(
        lambda: program("postgres") is not None, "the PostgreSQL server is not installed", "postgresql", _POSTGRES
    ),
    "pgbouncer": _package("pgbouncer", "pgbouncer"),
    "bubblewrap": _package("bubblewrap", "bwrap"),
    "restic": _package("restic bubblewrap", "restic", "bwrap"),
    "rsync": _package("rsync", "rsync"),
    "tmux": _package("tmux", "tmux"),
    # The server's package brings the client.
    "sshd": _package("openssh-server", "sshd", *_OPENSSH),
    "ssh": _package("openssh-client", *_OPENSSH),
    "network": Need(
        lambda: missing_for_network() == "",
        "slirp4netns, iproute2 or /dev/net/tun is missing",
        "slirp4netns iproute2",
        frozenset({"slirp4netns", "ip", "unshare", "nsenter"}),
    ),
    "images": Need(
        lambda: not missing_for_registry(),
        "skopeo, umoci, docker-registry, busybox or bwrap not installed",
        "skopeo umoci docker-registry busybox-static bubblewrap",
        _BUILDS | {"docker-registry"},
    ),
    "builds": Need(
        lambda: missing_for_builds() == "", "buildah is not installed, or this is not root", "buildah", _BUILDS
    ),
    "gcc": _package("g++", "c++", "as", "objcopy"),
    "browser": Need(
        lambda: any(map(shutil.which, BROWSERS)),
        f"{' or '.join(BROWSERS)} not installed",
        "chromium-headless-shell",
        frozenset(BROWSERS),
    ),
    "oidc": Need(
        lambda: shutil.which("node") is not None and MODULES.is_dir(),
        "the OpenID provider of the tests is not installed",
        ".ci/oidc-provider",
        frozenset({"node"}),
    ),
    "docker": Need(
        lambda: bool(docker_runtimes()), "no Docker engine runs", "docker.io", frozenset({"docker", "compose"})
    ),
    "runsc": Need(
        lambda: "runsc" in docker_runtimes(),
        "no Docker engine runs that knows gVisor's runsc (.ci/dockerd.json)",
        "runsc",
        frozenset({"docker"}),
    ),
    "executor_image": Need(
        lambda: "executor" in trial_image(),
        "there is no image wavepool-executor-trial",
        ".ci/executor-image",
        frozenset({"docker"}),
    ),
    "team_images": Need(
        _has_team_images,
        "docker compose, or the images of compose.yaml, are not here",
        ".ci/stand-in-images",
        frozenset({"docker", "deploy/team"}),
    ),
    "prometheus": _package("prometheus", "prometheus", "promtool"),
    "nginx": _package("nginx-light", "nginx"),
    "postgres_exporter": _package("prometheus-postgres-exporter", "prometheus-postgres-exporter"),
    "dstack": Need(
        lambda: server_python() is not None and _installed("bwrap", "ssh")(),
        "no Python with dstack's server, or no bwrap or ssh",
        "make setup-dstack",
        frozenset({"ssh", "bwrap", "ssh-keygen"}),
    ),
    "rocm": Need(ROCM.is_dir, "ROCm is not unpacked", ".ci/rocm", frozenset({"hipcc"})),
    "hip_headers": Need(
        lambda: bool(find(cache_folder())),
        "HIP's own headers are not here",
        "make setup",
    ),
    "rocm_libraries": Need(
        _has_rocm_libraries, "ROCm's headers of hipCUB, rocPRIM and Thrust were not fetched", "make setup"
    ),
    "torch": Need(lambda: torch_program() is not None, "no Python with torch", "make setup-torch"),
    "cuda": _package("nvidia-cuda-toolkit", "nvcc"),
    "cgroups": Need(lambda: bool(cgroup_parents()), "this machine lets us make no control groups", ""),
    "user_namespaces": Need(_makes_user_namespaces, "this machine lets an ordinary user make no namespaces", ""),
    "freezer": Need(can_freeze, "no freezer of cgroup version 1 that we may use", ""),
    "gpu": Need(_has_gpu, "no GPU here", ""),
}
NEVER_IN_CI = frozenset({"cuda", "gpu"})
"""No package manager brings these to a fresh machine."""

ON_EVERY_MACHINE = frozenset(
    {
        *(
            "sh",
            "bash",
            "git",
            "make",
            "curl",
            "tar",
            "gzip",
            "python",
            "python3",
            "cat",
            "chmod",
            "cp",
            "date",
            "echo",
        ),
        *(
            "env",
            "false",
            "head",
            "id",
            "ldconfig",
            "ls",
            "mkdir",
            "mount",
            "mv",
            "prlimit",
            "rm",
            "setpriv",
            "sleep",
            "sort",
            "stat",
        ),
        *("tail", "true", "umount", "uname", "unshare", "wc"),
    }
)
"""What the README asks for, and what each Debian has."""
USED_IF_THERE = frozenset({"bwrap", "gcc", "ld"})
"""The product looks for these itself, and has another way without them; or Python does, for a library."""
_OURS = (str(REPOSITORY), sys.prefix, sys.base_prefix + "/bin/python", "/proc/self/", "/tmp/", "/dev/shm/", "/var/tmp/")  # noqa: S108 - prefixes


def needs(*names: str) -> Callable[[Function], Function]:
    """Declares what a fixture needs; below `@pytest.fixture`."""

    def declare(function: Function) -> Function:
        function.needs = names  # type: ignore[attr-defined] - an attribute of the fixture's function
        return function

    return declare


def needs_of(item: pytest.Item) -> list[str]:
    """The names of what this test needs, by its markers and its fixtures."""
    named = {mark.name for mark in item.iter_markers()}
    definitions = getattr(item, "_fixtureinfo", None)
    for fixtures in definitions.name2fixturedefs.values() if definitions else ():
        named.update(getattr(fixtures[-1].func, "needs", ()))
    return [name for name in NEEDS if name in named]


class Needs:
    """Skips tests whose needs are missing, fails those that start what they do not declare, and sums up at the end."""

    def __init__(self) -> None:
        self._allowed: frozenset[str] | None = None
        self._undeclared: dict[str, None] = {}
        sys.addaudithook(self._see)

    def pytest_configure(self, config: pytest.Config) -> None:
        for name, need in NEEDS.items():
            config.addinivalue_line("markers", f"{name}: skipped, or failed with REQUIRE_ALL=1, if {need.missing}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Gives each test the markers of its fixtures' needs, so that `-m docker` finds it."""
        for item in items:
            for name in needs_of(item):
                if item.get_closest_marker(name) is None:
                    item.add_marker(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        needed = needs_of(item)
        for name in needed:
            if not NEEDS[name].present():
                _refuse(name)
        started = frozenset[str]().union(*(NEEDS[name].programs for name in needed))
        self._allowed = ON_EVERY_MACHINE | USED_IF_THERE | started
        self._undeclared.clear()
        ended = yield
        self._complain()
        return ended

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        ended = yield
        self._complain()
        return ended

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Stops watching: fixtures of the session end with any test."""
        self._allowed = None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says what was skipped for want of what, and how to get it."""
        reports: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
        for line in summary(report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)):
            terminalreporter.write_line(line)

    def _see(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._allowed is None or event not in {"subprocess.Popen", "os.posix_spawn", "os.exec"}:
            return
        path = os.fsdecode(arguments[0] or arguments[1][0])  # type: ignore[index, arg-type] - as the event says
        name = Path(path).name
        found = path if "/" in path else shutil.which(path) or ""
        if name in self._allowed or found.startswith(_OURS) or name.startswith("python3."):
            return
        self._undeclared[name] = None

    def _complain(self) -> None:
        undeclared, self._undeclared = list(self._undeclared), {}
        if undeclared:
            pytest.fail(
                f"starts {', '.join(undeclared)}, which the fixture or test does not declare: see tests/needs.py",
                pytrace=False,
            )


def _refuse(name: str) -> None:
    need = NEEDS[name]
    required = "REQUIRE_GPU" if name == "gpu" else "REQUIRE_ALL"
    if os.environ.get(required) == "1" and (name == "gpu" or name not in NEVER_IN_CI):
        pytest.fail(f"{required}=1, but {need.missing} (needs {name})", pytrace=False)
    pytest.skip(f"needs {name}: {need.missing}")


def summary(reasons: Iterable[str]) -> list[str]:
    """Three lines at most: what skipped tests lack that a package brings, that a command brings, and the rest.

    `reasons` are pytest's, one a skipped test.
    """
    counts = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    by_need = Counter[str]()
    for reason, count in counts.items():
        name = reason.removeprefix("needs ").partition(":")[0]
        by_need[name if name in NEEDS else ""] += count
    packages = {name: n for name, n in by_need.items() if name and NEEDS[name].remedy and not _is_command(name)}
    commands = {name: n for name, n in by_need.items() if name and _is_command(name)}
    rest = by_need.total() - sum(packages.values()) - sum(commands.values())
    lines = []
    if packages:
        wanted = dict.fromkeys(word for name in packages for word in NEEDS[name].remedy.split())
        lines.append(f"skipped for want of packages: {_listed(packages)}; apt-get install {' '.join(wanted)}")
    if commands:
        wanted = dict.fromkeys(NEEDS[name].remedy for name in commands)
        lines.append(f"skipped for want of a set-up: {_listed(commands)}; run {', '.join(wanted)}")
    if rest:
        lines.append(f"skipped as this machine or user cannot have it: {rest} (pytest -rs names each reason)")
    return lines


def _is_command(name: str) -> bool:
    return NEEDS[name].remedy.startswith((".", "make "))


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda entry: -entry[1]))
