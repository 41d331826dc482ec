"""How xdist's workers share the tests: a file at a time, long ones first, and tests that are long one at a time.

What a file's fixtures make is made once then, not in every worker, and no worker is left with a long file at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer

# Many tests of seconds each, with nothing made for the whole file.
SPREAD = (
    "tests/attacks/",
    "tests/honest/",
    "tests/services/executor/core/commands/test_lint.py",
    "tests/hipcpu/test_conformance.py",
    "tests/services/executor/devices/rocm/test_hipcc.py",
)
# Half a minute and more each, on a quiet machine.
LONG = (
    "tests/deploy/test_certify_kit.py",
    "tests/dstack_lab/",
    "tests/end_to_end/",
    "tests/gateway/browser/",
    "tests/gateway/test_schemathesis.py",
    "tests/services/executor/core/certify/test_certify.py",
    "tests/services/executor/core/problem_host/test_definitions.py",
    "tests/services/executor/core/audit/test_revealing.py",
    "tests/services/executor/devices/nvidia/test_nvidia_device.py",
    "tests/services/executor/devices/rocm/test_real_rocm.py",
    "tests/services/executor/test_process.py",
    "tests/services/vmpool/providers/",
    "tests/services/vmpool/test_dead_executors.py",
    "tests/services/vmpool/test_killed_pool.py",
)

# Chromium gives up what it loads when an interface comes or goes, as with each container that is reached by a port.
NEVER_SIDE_BY_SIDE = (
    "tests/gateway/browser/",
    "tests/services/vmpool/providers/test_docker_provider.py",
    "tests/services/vmpool/providers/test_provider_contract.py",
    "tests/services/vmpool/test_killed_pool_docker.py",
)
# One running Wavepool serves them all. It takes five seconds of processor time to start, and a little while it runs.
SHARING = "tests/end_to_end/"
# Each file starts a server of its own and waits for it most of the time: they are one worker's, and the others compute.
WAITING = (
    "tests/dstack_lab/",
    "tests/services/vmpool/providers/dstack/",
    "tests/services/vmpool/test_dead_executors.py",
    "tests/services/vmpool/test_killed_pool.py",
)


class WorkUnits(LoadScopeScheduling):
    """Gives out files, or single tests of the spread ones, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        # Or those with most tests would come first, which are not the long ones.
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """What a test is given out with."""
    if nodeid.startswith(NEVER_SIDE_BY_SIDE):
        return NEVER_SIDE_BY_SIDE[0]
    if nodeid.startswith(WAITING):
        return WAITING[0]
    if nodeid.startswith(SHARING):
        return SHARING
    return nodeid if nodeid.startswith(SPREAD) else nodeid.partition("::")[0]


def long_first(items: list[pytest.Item]) -> None:
    """Otherwise tests keep the order that they have."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
