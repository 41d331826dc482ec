"""Shares tests among xdist's workers: a file at a time, long ones first, and long tests one at a time.

The fixtures of a file are then made once, not in every worker, and no worker is left with a long file at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer

# Many tests of several seconds each, without fixtures for the whole file.
SPREAD = (
    "tests/attacks/",
    "tests/honest/",
    "tests/services/executor/core/commands/test_lint.py",
    "tests/hipcpu/test_conformance.py",
    "tests/services/executor/devices/rocm/test_hipcc.py",
)
# Half a minute or more each, on a quiet machine.
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

# Chromium aborts loads when a network interface comes or goes, as with each container that publishes a port.
NEVER_SIDE_BY_SIDE = (
    "tests/gateway/browser/",
    "tests/services/vmpool/providers/test_docker_provider.py",
    "tests/services/vmpool/providers/test_provider_contract.py",
    "tests/services/vmpool/test_killed_pool_docker.py",
)
# One running Wavepool serves them all. It takes five seconds of processor time to start, and a little while it runs.
SHARING = "tests/end_to_end/"
# Each file starts its own server and mostly waits for it, so one worker runs them all while the others compute.
WAITING = (
    "tests/dstack_lab/",
    "tests/services/vmpool/providers/dstack/",
    "tests/services/vmpool/test_dead_executors.py",
    "tests/services/vmpool/test_killed_pool.py",
)


class WorkUnits(LoadScopeScheduling):
    """Gives out files, or single tests of the files that are spread, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        # Otherwise files with the most tests would come first, which are not the long ones.
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """The unit that a test is given out with."""
    if nodeid.startswith(NEVER_SIDE_BY_SIDE):
        return NEVER_SIDE_BY_SIDE[0]
    if nodeid.startswith(WAITING):
        return WAITING[0]
    if nodeid.startswith(SHARING):
        return SHARING
    return nodeid if nodeid.startswith(SPREAD) else nodeid.partition("::")[0]


def long_first(items: list[pytest.Item]) -> None:
    """Moves long tests to the front; the others keep their order."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
