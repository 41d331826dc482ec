# pyright: basic
"""Which tests run when: four tiers, each with all tests of those before it.

| tier | command | what |
|---|---|---|
| quick | `make quick` | pure and in-process tests, SQLite; hypothesis with few examples |
| test | `make test` | also both databases, a process of each service, one of each end to end, an attack of each class |
| all | `make test-all` | also the rest, but long lists |
| soak | `make soak` | also whole lists, all attacks on all devices, hundreds of kills, lives of days |

`PLACES` says where a file, a folder or a test begins; the longest match counts. A file that is not in it is in `quick`,
except its tests that need something that a machine may lack (tests/needs.py): those with PostgreSQL alone are in
`test`, the others in `all`. `make quick` fails if a file takes more than `BUDGET_SECONDS` of processor time: then it
needs a place here.

A test or a parameter may carry the marker of a later tier (`all`, `soak`), as long lists do. TIER chooses; without it
pytest runs `all`. A test that the command line names by `::` always runs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Hashable, Iterable
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TypeVar

import hypothesis
import pytest
from _pytest.mark.structures import ParameterSet

from tests.needs import REPOSITORY, needs_of

Value = TypeVar("Value")


class Tier(IntEnum):
    """When a test begins to run."""

    QUICK = 1
    TEST = 2
    ALL = 3
    SOAK = 4


BUDGET_SECONDS = 4.0
"""Processor time of one file in `quick`, its children's included; twice what the dearest took, as machines differ."""
DEAREST = 40
"""Files that `all` and `soak` name at their end in CI, with what each cost."""
PARTS = 10
"""Of a list over the catalogue, all but soak run one part in this many, and each commit another."""
PLACES = {
    "tests/attacks/": Tier.ALL,
    "tests/attacks/test_attacks.py": Tier.TEST,
    "tests/benchmarks/": Tier.ALL,
    "tests/cli/commands/test_admin.py": Tier.TEST,
    "tests/cli/commands/test_catalogue.py": Tier.TEST,
    "tests/cli/commands/test_core.py": Tier.ALL,
    "tests/cli/commands/test_doctor.py": Tier.ALL,
    "tests/cli/commands/test_refused_input.py": Tier.TEST,
    "tests/cli/commands/test_reservations.py": Tier.TEST,
    "tests/cli/commands/test_reservations_on_terminals.py": Tier.TEST,
    "tests/cli/commands/test_run.py": Tier.TEST,
    "tests/cli/commands/test_submissions.py": Tier.TEST,
    "tests/cli/commands/test_up.py": Tier.TEST,
    "tests/cli/ssh/test_proxy.py": Tier.TEST,
    "tests/cli/test_commands_in_docs.py": Tier.TEST,
    "tests/cli/test_demo.py": Tier.ALL,
    "tests/cli/test_gpu_dev.py": Tier.TEST,
    "tests/cli/test_light_client.py": Tier.TEST,
    "tests/cli/test_main.py": Tier.TEST,
    "tests/cli/test_start_up.py": Tier.TEST,
    "tests/deploy/": Tier.ALL,
    "tests/deploy/test_certify_kit.py": Tier.SOAK,
    "tests/dstack_lab/": Tier.SOAK,
    "tests/end_to_end/": Tier.ALL,
    "tests/end_to_end/test_cancel.py::test_a_job_is_cancelled_while_it_waits_for_its_turn": Tier.TEST,
    "tests/end_to_end/test_kills.py::test_a_job_outlives_the_death_of_each_process[CHECKING-scheduler]": Tier.TEST,
    "tests/end_to_end/test_reservations.py::test_a_reservation_gives_a_shell_over_ssh": Tier.TEST,
    "tests/end_to_end/test_submissions.py": Tier.TEST,
    "tests/fairness/test_kai_caches.py": Tier.TEST,
    "tests/fairness/test_kueue_properties.py": Tier.TEST,
    "tests/fairness/test_two_teams.py": Tier.TEST,
    "tests/gateway/browser/": Tier.ALL,
    "tests/gateway/browser/test_web_page.py::test_kernel_is_submitted_followed_live": Tier.TEST,
    "tests/gateway/test_account_routes.py": Tier.TEST,
    "tests/gateway/test_address_limits.py": Tier.ALL,
    "tests/gateway/test_alert_routes.py": Tier.TEST,
    "tests/gateway/test_billing_routes.py": Tier.TEST,
    "tests/gateway/test_error_responses.py": Tier.TEST,
    "tests/gateway/test_events.py": Tier.TEST,
    "tests/gateway/test_http_connection.py": Tier.ALL,
    "tests/gateway/test_identity_routes.py": Tier.TEST,
    "tests/gateway/test_job_metrics_routes.py": Tier.TEST,
    "tests/gateway/test_machine_routes.py": Tier.TEST,
    "tests/gateway/test_openapi.py": Tier.TEST,
    "tests/gateway/test_other_accounts.py": Tier.TEST,
    "tests/gateway/test_process.py": Tier.TEST,
    "tests/gateway/test_projection_routes.py": Tier.TEST,
    "tests/gateway/test_refusals.py": Tier.TEST,
    "tests/gateway/test_reservation_routes.py": Tier.TEST,
    "tests/gateway/test_schemathesis.py": Tier.ALL,
    "tests/gateway/test_seed_routes.py": Tier.TEST,
    "tests/gateway/test_submissions.py": Tier.TEST,
    "tests/gateway/test_tickets.py": Tier.TEST,
    "tests/gateway/test_topics.py": Tier.TEST,
    "tests/gateway/test_tunnels.py": Tier.TEST,
    "tests/gateway/test_wrong_fields.py": Tier.TEST,
    "tests/hipcpu/": Tier.ALL,
    "tests/honest/": Tier.TEST,
    "tests/plugins/": Tier.ALL,
    "tests/problems/test_correlation.py": Tier.TEST,
    "tests/problems/test_freivalds.py": Tier.TEST,
    "tests/problems/test_honest_attention.py": Tier.TEST,
    "tests/problems/test_honest_exact.py": Tier.TEST,
    "tests/problems/test_honest_products.py": Tier.TEST,
    "tests/problems/test_lint.py": Tier.TEST,
    "tests/problems/test_parts.py": Tier.TEST,
    "tests/servicekit/db/test_leader_lease.py": Tier.TEST,
    "tests/servicekit/db/test_schema_at_start.py": Tier.TEST,
    "tests/servicekit/rpc/test_channels.py": Tier.TEST,
    "tests/servicekit/rpc/test_network_settings.py": Tier.ALL,
    "tests/servicekit/rpc/test_server.py": Tier.TEST,
    "tests/servicekit/settings/test_setting_names.py": Tier.TEST,
    "tests/services/billing/alerts/test_money_alerts.py": Tier.TEST,
    "tests/services/billing/alerts/test_notice_mail.py": Tier.TEST,
    "tests/services/billing/alerts/test_process.py": Tier.TEST,
    "tests/services/billing/keys/test_github_claims.py": Tier.TEST,
    "tests/services/billing/keys/test_github_keys.py": Tier.TEST,
    "tests/services/billing/keys/test_github_teams.py": Tier.TEST,
    "tests/services/billing/keys/test_key_resolver.py": Tier.TEST,
    "tests/services/billing/test_alert_service.py": Tier.TEST,
    "tests/services/billing/test_any_order.py": Tier.ALL,
    "tests/services/billing/test_identity_service.py": Tier.TEST,
    "tests/services/billing/test_keys.py": Tier.TEST,
    "tests/services/billing/test_last_administrator.py": Tier.TEST,
    "tests/services/billing/test_ledger_kills.py": Tier.ALL,
    "tests/services/billing/test_ledger_store.py": Tier.TEST,
    "tests/services/billing/test_notices.py": Tier.TEST,
    "tests/services/billing/test_price_service.py": Tier.TEST,
    "tests/services/billing/test_reservation_charges.py": Tier.TEST,
    "tests/services/billing/test_service.py": Tier.TEST,
    "tests/services/executor/core/audit/": Tier.ALL,
    "tests/services/executor/core/call/test_idle_work.py": Tier.ALL,
    "tests/services/executor/core/certify/": Tier.ALL,
    "tests/services/executor/core/check/test_case_judge.py": Tier.TEST,
    "tests/services/executor/core/check/test_chain_arithmetic.py": Tier.TEST,
    "tests/services/executor/core/check/test_checking.py": Tier.TEST,
    "tests/services/executor/core/check/test_element_types.py": Tier.TEST,
    "tests/services/executor/core/check/test_large_products.py": Tier.TEST,
    "tests/services/executor/core/check/test_precision.py": Tier.TEST,
    "tests/services/executor/core/commands/": Tier.ALL,
    "tests/services/executor/core/compile/test_cache.py": Tier.TEST,
    "tests/services/executor/core/compile/test_compiler_crash.py": Tier.TEST,
    "tests/services/executor/core/compile/test_isa.py": Tier.TEST,
    "tests/services/executor/core/launching/": Tier.ALL,
    "tests/services/executor/core/measure/test_timed_calls.py": Tier.ALL,
    "tests/services/executor/core/problem_host/": Tier.ALL,
    "tests/services/executor/core/process/": Tier.ALL,
    "tests/services/executor/core/run/": Tier.ALL,
    "tests/services/executor/core/sanitize/": Tier.ALL,
    "tests/services/executor/core/timing/test_stopping.py": Tier.TEST,
    "tests/services/executor/core/timing/test_timing_mode.py": Tier.ALL,
    "tests/services/executor/devices/": Tier.ALL,
    "tests/services/executor/disks/": Tier.ALL,
    "tests/services/executor/images/": Tier.ALL,
    "tests/services/executor/sandboxes/": Tier.ALL,
    "tests/services/executor/sessions/": Tier.ALL,
    "tests/services/executor/test_health_check.py": Tier.TEST,
    "tests/services/executor/test_inventory.py": Tier.TEST,
    "tests/services/executor/test_judge_fork_server.py": Tier.TEST,
    "tests/services/executor/test_killed_executor.py": Tier.ALL,
    "tests/services/executor/test_lease_holders.py": Tier.TEST,
    "tests/services/executor/test_process.py": Tier.ALL,
    "tests/services/executor/test_refusals.py": Tier.TEST,
    "tests/services/executor/test_runs.py": Tier.TEST,
    "tests/services/scheduler/store/test_job_store.py": Tier.TEST,
    "tests/services/scheduler/store/test_job_writes.py": Tier.TEST,
    "tests/services/scheduler/store/test_ranking_reader.py": Tier.TEST,
    "tests/services/scheduler/test_access_machine.py": Tier.TEST,
    "tests/services/scheduler/test_attempt_faults.py": Tier.TEST,
    "tests/services/scheduler/test_borrowing.py": Tier.TEST,
    "tests/services/scheduler/test_cancellation.py": Tier.TEST,
    "tests/services/scheduler/test_dated_machine.py": Tier.TEST,
    "tests/services/scheduler/test_dated_reservations.py": Tier.TEST,
    "tests/services/scheduler/test_deadlines.py": Tier.TEST,
    "tests/services/scheduler/test_disks.py": Tier.TEST,
    "tests/services/scheduler/test_dispatcher.py": Tier.TEST,
    "tests/services/scheduler/test_fleet.py": Tier.TEST,
    "tests/services/scheduler/test_gang_machine.py": Tier.TEST,
    "tests/services/scheduler/test_gangs.py": Tier.TEST,
    "tests/services/scheduler/test_images.py": Tier.TEST,
    "tests/services/scheduler/test_job_end_to_end.py": Tier.TEST,
    "tests/services/scheduler/test_machine_use.py": Tier.TEST,
    "tests/services/scheduler/test_metrics_service.py": Tier.TEST,
    "tests/services/scheduler/test_notices.py": Tier.TEST,
    "tests/services/scheduler/test_queues.py": Tier.TEST,
    "tests/services/scheduler/test_ranking_service.py": Tier.TEST,
    "tests/services/scheduler/test_replicas.py": Tier.TEST,
    "tests/services/scheduler/test_reservation_calendar.py": Tier.TEST,
    "tests/services/scheduler/test_reservation_faults.py": Tier.TEST,
    "tests/services/scheduler/test_reservations.py": Tier.TEST,
    "tests/services/scheduler/test_resumption.py": Tier.TEST,
    "tests/services/scheduler/test_server.py": Tier.TEST,
    "tests/services/scheduler/test_service.py": Tier.TEST,
    "tests/services/vmpool/capacity/test_requesting.py": Tier.TEST,
    "tests/services/vmpool/capacity/test_unfit_machines.py": Tier.TEST,
    "tests/services/vmpool/lifecycle/test_driver.py": Tier.TEST,
    "tests/services/vmpool/lifecycle/test_orphans.py": Tier.TEST,
    "tests/services/vmpool/lifecycle/test_pruner.py": Tier.TEST,
    "tests/services/vmpool/lifecycle/test_reconciler.py": Tier.TEST,
    "tests/services/vmpool/lifecycle/test_tunnels.py": Tier.TEST,
    "tests/services/vmpool/machines/test_order_checks.py": Tier.TEST,
    "tests/services/vmpool/providers/": Tier.ALL,
    "tests/services/vmpool/store/test_placements.py": Tier.TEST,
    "tests/services/vmpool/test_dead_executors.py": Tier.ALL,
    "tests/services/vmpool/test_killed_pool.py": Tier.ALL,
    "tests/services/vmpool/test_lease_races.py": Tier.TEST,
    "tests/services/vmpool/test_pool_properties.py": Tier.TEST,
    "tests/services/vmpool/test_process.py": Tier.TEST,
    "tests/services/vmpool/test_reservations.py": Tier.TEST,
    "tests/services/vmpool/test_service.py": Tier.TEST,
    "tests/services/vmpool/test_several_gpus.py": Tier.TEST,
    "tests/test_access.py": Tier.TEST,
    "tests/test_names.py": Tier.TEST,
    "tests/test_needs.py": Tier.TEST,
    "tests/test_tiers.py": Tier.TEST,
}


def place_of(nodeid: str) -> Tier | None:
    """The tier that `PLACES` gives a test, a file or a folder; None if it says nothing."""
    places = [place for place in _places_of(nodeid.partition("::")[0]) if nodeid.startswith(place)]
    return PLACES[max(places, key=len)] if places else None


@cache
def _places_of(path: str) -> list[str]:
    """The places of a file or folder, of the folders around it, and of what is in it: a file has hundreds of tests."""
    return [place for place in PLACES if path.startswith(place) or place.startswith(path)]


def tier_of(nodeid: str, needed: Collection[str], marked: Tier | None) -> Tier:
    """The tier that a test begins in, with its needs (names of tests/needs.py) and the tier that it is marked with."""
    placed = place_of(nodeid)
    if placed is None:
        placed = Tier.ALL if set(needed) - {"postgres"} else Tier.TEST if needed else Tier.QUICK
    return max(placed, marked or Tier.QUICK)


def sampled(values: Iterable[Value], sample: Collection[Value]) -> list[Value | ParameterSet]:
    """Parameters for `parametrize`: those outside the sample only soak."""
    return [value if value in sample else pytest.param(value, marks=pytest.mark.soak) for value in values]


def rotating(values: Iterable[Value]) -> list[Value | ParameterSet]:
    """Parameters for `parametrize`: one part in `PARTS`, another for each commit; the others only soak."""
    return [
        value if part_of(str(value)) == drawn() else pytest.param(value, marks=pytest.mark.soak) for value in values
    ]


def one_of_each(
    values: Iterable[Value], group: Callable[[Value], Hashable], others: Tier = Tier.ALL
) -> list[Value | ParameterSet]:
    """Parameters for `parametrize`: one of each group, another for each commit; `others` is where the rest begins."""
    groups: dict[Hashable, list[Value]] = {}
    for value in values:
        groups.setdefault(group(value), []).append(value)
    later = getattr(pytest.mark, others.name.lower())
    return [
        value if place == drawn() % len(members) else pytest.param(value, marks=later)
        for members in groups.values()
        for place, value in enumerate(members)
    ]


def part_of(name: str) -> int:
    """The part of the catalogue that a value belongs to."""
    return zlib.crc32(name.encode()) % PARTS


@cache
def drawn() -> int:
    """The part that this commit runs; DRAW repeats that of another."""
    if chosen := os.environ.get("DRAW"):
        return int(chosen) % PARTS
    return part_of(_commit())


@cache
def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


def chosen_tier() -> Tier:
    """What TIER names; `all` without it."""
    if os.environ.get("SOAK") == "1":
        return Tier.SOAK
    name = os.environ.get("TIER", "all")
    if name.upper() not in Tier.__members__:
        raise pytest.UsageError(f"TIER: {name!r} is not a tier; choose quick, test, all or soak")
    return Tier[name.upper()]


EXAMPLES = {Tier.QUICK: 10, Tier.TEST: 30, Tier.ALL: 50, Tier.SOAK: 300}
"""Examples of each property test that names no number of its own."""
SHARES = {Tier.QUICK: 0.1, Tier.TEST: 0.2, Tier.ALL: 1 / 3, Tier.SOAK: 1.0}


def examples(number: int) -> int:
    """How many of the examples that a dear property test has in `soak` it has in this tier.

    In CI they are the same each time (see `Tiers`), so that more of them find nothing new with each commit.
    """
    return max(1, round(number * SHARES[chosen_tier()]))


class Tiers:
    """Leaves out what belongs to later tiers, and measures what the tests cost."""

    def __init__(self) -> None:
        self._tier = chosen_tier()
        self._seconds = defaultdict[str, float](float)
        self._tests = Counter[str]()
        self._began = _machine_seconds()
        # On a loaded machine any example may be slow. In CI the result for a commit is the same each time; otherwise
        # each run has new examples.
        hypothesis.settings.register_profile(
            "wavepool",
            deadline=None,
            max_examples=EXAMPLES[self._tier],
            stateful_step_count=20 if self._tier is Tier.QUICK else 50,
            suppress_health_check=[hypothesis.HealthCheck.too_slow],
            derandomize=os.environ.get("CI") == "1",
        )
        hypothesis.settings.load_profile("wavepool")

    def pytest_report_header(self) -> str:
        part = f"part {drawn()} of {PARTS} of the lists over the catalogue, drawn by commit {_commit()}"
        return f"tier: {self._tier.name.lower()}; {part} (DRAW={drawn()} repeats it)"

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Does not even read files whose tests all come later."""
        if not collection_path.is_relative_to(REPOSITORY) or _is_named(config, collection_path):
            return None
        path = collection_path.relative_to(REPOSITORY).as_posix() + ("/" if collection_path.is_dir() else "")
        if path == "tests/gpu/" and os.environ.get("REQUIRE_GPU") != "1":
            return True
        begins = [tier for place, tier in PLACES.items() if place.startswith(path)]
        place = place_of(path)
        return True if place is not None and min([place, *begins]) > self._tier else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if any("::" in argument for argument in config.args):
            return
        later = [item for item in items if self._tier_of(item) > self._tier]
        config.hook.pytest_deselected(items=later)
        left_out = set(later)
        items[:] = [item for item in items if item not in left_out]

    def _tier_of(self, item: pytest.Item) -> Tier:
        names = {mark.name for mark in item.iter_markers()}
        marked = [tier for tier in Tier if tier.name.lower() in names]
        return tier_of(item.nodeid, needs_of(item), max(marked, default=None))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = _processor_seconds()
        item.user_properties.append(("processor_seconds", lambda: _processor_seconds() - before))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.user_properties = [
            (name, value() if callable(value) else value) for name, value in report.user_properties
        ]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            file = report.nodeid.partition("::")[0]
            self._seconds[file] += sum(
                float(str(used)) for name, used in report.user_properties if name == "processor_seconds"
            )
            self._tests[file] += 1

    def over_budget(self) -> dict[str, float]:
        """Files that are too dear for `quick`, in seconds of processor time."""
        if self._tier is not Tier.QUICK:
            return {}
        return {file: seconds for file, seconds in self._seconds.items() if seconds > BUDGET_SECONDS}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.over_budget() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        tests, seconds = self._tests.total(), sum(self._seconds.values())
        busy, passed = (now - then for now, then in zip(_machine_seconds(), self._began, strict=True))
        terminalreporter.write_line(
            f"{tests} tests took {seconds:.0f} s of processor time; {busy:.0f} of {passed:.0f} s that the machine has "
            "were used, by tests, what they left running, and others"
        )
        if os.environ.get("CI") == "1" and self._tier >= Tier.ALL:
            dearest = sorted(self._seconds.items(), key=lambda item: -item[1])[:DEAREST]
            for file, used in dearest:
                terminalreporter.write_line(f"{used:7.0f} s for {self._tests[file]:4} tests of {file}")
        for file, used in self.over_budget().items():
            terminalreporter.write_line(
                f"ERROR {file} took {used:.1f} s of processor time, and `quick` allows {BUDGET_SECONDS:g}: "
                "make it cheaper, or give it a place in tests/tiers.py"
            )


def _processor_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _machine_seconds() -> tuple[float, float]:
    """The seconds of all processors that were used since the machine started, and those that were there."""
    with Path("/proc/stat").open() as stat:
        user, nice, system, idle, waiting, *others = (int(ticks) for ticks in stat.readline().split()[1:9])
    used = user + nice + system + sum(others)
    return used / os.sysconf("SC_CLK_TCK"), (used + idle + waiting) / os.sysconf("SC_CLK_TCK")


def _is_named(config: pytest.Config, path: Path) -> bool:
    """True if the command line names this file or something in this folder, beyond the whole of the tests."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return any(name != REPOSITORY / "tests" and (name == path or path in name.parents) for name in named)
