"""Fixtures for every test: a real database of each kind, a clock that the test moves, and honest skips."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from servicekit.clock import ManualClock
from services.executor.core.problem_host.interpreter import INSTALLED
from services.executor.sandboxes.limits.cgroup_place import cgroup_parents
from services.executor.sessions.build_sandbox import missing_for_builds
from services.executor.sessions.network import missing_for_network
from tests.dstack_lab.server_python import server_python
from tests.freezer import can_freeze
from tests.identity_provider.running_provider import MODULES, running_provider
from tests.image_registry import missing_for_registry
from tests.postgres_server import PostgresServer, program
from tests.sampling import leave_out_what_soaks
from tests.work_units import WorkUnits, long_first

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from xdist.remote import Producer

    from tests.identity_provider.running_provider import RunningProvider

# Before numpy is imported. Workers share the cores: threads of its linear algebra library would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests start hundreds of Python processes: without kept bytecode, each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Tests in the background of a script have SIGINT ignored, and so do all their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# On a loaded machine any example may be slow. With REQUIRE_ALL=1, CI's result for a commit is the same each time;
# otherwise each run has new examples.
hypothesis.settings.register_profile(
    "wavepool",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=os.environ.get("REQUIRE_ALL") == "1",
)
hypothesis.settings.load_profile("wavepool")

REPOSITORY = Path(__file__).parents[1]
ROCM = REPOSITORY / ".cache" / "rocm6" / "usr"
OPENSSH = ("ssh", "ssh-keygen", "ssh-agent", "ssh-add")
MISSING = {
    "postgres": (lambda: program("postgres") is not None, "the PostgreSQL server programs are not installed"),
    "restic": (lambda: bool(shutil.which("restic") and shutil.which("bwrap")), "restic or bwrap is not installed"),
    "images": (lambda: not missing_for_registry(), "skopeo, umoci, docker-registry, busybox or bwrap is not installed"),
    "builds": (lambda: missing_for_builds() == "", "buildah is not installed, or this is not root"),
    "sshd": (lambda: shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin") is not None, "sshd is not installed"),
    "ssh": (lambda: not [name for name in OPENSSH if not shutil.which(name)], "OpenSSH's client is not installed"),
    "rsync": (lambda: shutil.which("rsync") is not None, "rsync is not installed"),
    "bubblewrap": (lambda: shutil.which("bwrap") is not None, "bwrap is not installed"),
    "network": (lambda: missing_for_network() == "", "slirp4netns, iproute2 or /dev/net/tun is missing"),
    "browser": (lambda: shutil.which("chromium") is not None, "chromium is not installed"),
    "oidc": (
        lambda: shutil.which("node") is not None and MODULES.is_dir(),
        "the OpenID provider of the tests is not installed: run .ci/oidc-provider",
    ),
    "docker": (lambda: bool(docker_runtimes()), "no Docker engine runs: start dockerd"),
    "runsc": (
        lambda: "runsc" in docker_runtimes(),
        "no Docker engine runs that knows gVisor's runsc: see .ci/dockerd.json",
    ),
    "executor_image": (
        lambda: "executor" in trial_image(),
        "there is no image wavepool-executor-trial: run .ci/executor-image",
    ),
    "cuda": (lambda: shutil.which("nvcc") is not None, "CUDA's compiler is not installed"),
    "dstack": (
        lambda: server_python() is not None and shutil.which("bwrap") is not None and shutil.which("ssh") is not None,
        "no Python with dstack's server (see DSTACK_PYTHON), or no bwrap, or no ssh",
    ),
    "rocm": (ROCM.is_dir, "ROCm is not unpacked: see .ci/rocm"),
    "torch": (lambda: torch_program() is not None, "no Python with torch: see EXECUTOR_TORCH_PYTHON"),
    "cgroups": (lambda: bool(cgroup_parents()), "this machine lets us make no control groups"),
    "freezer": (can_freeze, "no freezer of cgroup version 1 that we may use"),
    "gpu": (lambda: os.path.exists("/dev/kfd") or os.path.exists("/dev/nvidia0"), "no GPU here"),  # noqa: PTH110 - devices
}
# No package manager has it for a fresh machine.
NEVER_IN_CI = {"cuda"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WorkUnits | None:
    """Uses WorkUnits unless the command line names single files or another way to distribute the tests."""
    in_folders = any(Path(argument).is_dir() for argument in config.args)
    return WorkUnits(config, log) if in_folders and config.getvalue("dist") == "load" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without the garbage collector, which would look through them again and again for half of the time.

    Nothing of them goes away before the end, so later it need not look at them either.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Reorders the tests after they were shuffled."""
    leave_out_what_soaks(config, items)
    long_first(items)


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


def torch_program() -> Path | None:
    """The Python with torch that deploy/setup-torch installs, or that EXECUTOR_TORCH_PYTHON names."""
    named = Path(os.environ.get("EXECUTOR_TORCH_PYTHON") or INSTALLED)
    return named if named.is_file() else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test if its marker names something that is missing; REQUIRE_ALL=1 fails it, unless it is a GPU."""
    for marker, (present, reason) in MISSING.items():
        if item.get_closest_marker(marker) is None or present():
            continue
        required = "REQUIRE_GPU" if marker == "gpu" else "REQUIRE_ALL"
        if os.environ.get(required) == "1" and marker not in NEVER_IN_CI:
            pytest.fail(f"{required}=1, but {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def _room_for_processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs tests that start many processes alone: a user's processes count together (`Gap.PROCESS_COUNT`)."""
    if os.getuid() == 0:
        yield
        return
    starts_many = any(name in request.node.nodeid for name in ("10_daemon", "fork_bomb", "spinning_threads"))
    path = Path(tempfile.gettempdir(), f"wavepool-tests-{os.getuid()}")
    with path.with_suffix(".gate").open("a") as gate, path.open("a") as lock:
        # A process that waits for the others holds the gate, so that nobody overtakes it.
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX if starts_many else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@pytest.fixture
def free_clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def identity_provider() -> Iterator[RunningProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def schema() -> str:
    """The migrations of which `database_url` has the schema already on PostgreSQL; the conftest of a service names its.

    On SQLite `tests.schemas.migrate` makes it.
    """
    return ""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, schema: str) -> Iterator[str]:
    """The URL of a database, empty without `schema`; a test that uses it runs once on each kind."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database(schema)
    yield url
    server.drop_database(url)
