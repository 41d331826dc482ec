"""Shares tests among xdist's workers: a file at a time, long ones first, and long tests one at a time.

The fixtures of a file are then made once, not in every worker, and no worker is left with a long file at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

# Many tests of several seconds each, without fixtures for the whole file.
SPREAD = (
    "tests/attacks/",
    "tests/honest/",
    "tests/services/executor/core/commands/test_lint.py",
    "tests/hipcpu/test_conformance.py",
    "tests/services/executor/devices/rocm/test_hipcc.py",
)
# A minute or more each with four workers on two cores, the longest first. One worker runs the first four, which wait
# more than they compute.
LONG = (
    "tests/dstack_lab/",
    "tests/services/vmpool/providers/",
    "tests/services/vmpool/test_dead_executors.py",
    "tests/services/vmpool/test_killed_pool.py",
    "tests/services/executor/core/problem_host/test_definitions.py",
    "tests/services/executor/devices/rocm/test_real_rocm.py",
    "tests/services/executor/core/certify/test_certify.py",
    "tests/services/executor/core/run/test_simulated_gpu.py",
    "tests/end_to_end/",
    "tests/gateway/browser/",
    "tests/services/executor/devices/nvidia/test_nvidia_device.py",
    "tests/deploy/test_certify_kit.py",
    "tests/services/executor/core/launching/test_recorder.py",
    "tests/services/executor/core/audit/test_revealing.py",
    "tests/hipcpu/test_build.py",
    "tests/services/executor/sandboxes/test_exhaustion.py",
    "tests/services/executor/core/problem_host/test_choice_of_cases.py",
    "tests/cli/commands/test_core.py",
    "tests/services/executor/devices/rocm/test_hipcc.py::test_attacks_compile_that_are_to_run",
    "tests/services/executor/devices/rocm/test_hipcc.py::test_references_and_what_people_write_compile",
    "tests/problems/test_lint.py",
    "tests/services/executor/core/check/test_case_judge.py",
    "tests/services/executor/core/certify/test_honest_times.py",
    "tests/gateway/test_schemathesis.py",
    "tests/services/executor/test_process.py",
)

# They make addresses, or go by those that the machine has.
NEVER_SIDE_BY_SIDE = (
    "tests/services/executor/sessions/test_network.py",
    "tests/services/executor/sessions/test_nodes.py",
    "tests/services/vmpool/providers/test_docker_provider.py",
    "tests/services/vmpool/providers/test_provider_contract.py",
    "tests/services/vmpool/test_docker_reservation.py",
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

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the tests of a worker that has ended to others; returns the test that crashed it.

        xdist's own way gives that test to the next worker, too, which it crashes again.
        """
        workload = self.assigned_work[node]
        pending = ((unit, nodeid) for unit in workload.values() for nodeid, is_done in unit.items() if not is_done)
        running = next(pending, None)
        if running is None:
            return super().remove_node(node)
        unit, crashed = running
        del self.assigned_work[node]
        unit[crashed] = True
        self.workqueue.update({scope: unit for scope, unit in workload.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

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
    """Moves long tests to the front, in the order of LONG; the others keep theirs."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid: str) -> int:
    return next((place for place, start in enumerate(LONG) if nodeid.startswith(start)), len(LONG))
