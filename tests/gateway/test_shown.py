from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from wavepool.billing.v1.identity_pb2 import MEMBER_LEVEL_MANAGER, TeamMember
from wavepool.executor.v1.run_event_pb2 import KernelReport
from wavepool.scheduler.v1 import disks_pb2, queues_pb2, rankings_pb2
from wavepool.scheduler.v1.metrics_pb2 import JobMetrics
from wavepool.scheduler.v1.reservations_pb2 import ReservationPending
from wavepool.scheduler.v1.scheduler_pb2 import Provisioning
from wavepool.submission.v1.submission_pb2 import TIMING_MODE_FIRST_CALL
from wavepool.vmpool.v1 import vmpool_pb2
from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.machines import schemas
from gateway.reservations.disks import TakenSnapshot
from gateway.reservations.event_schemas import ReservationPendingEvent
from gateway.routes.job_metrics import JobFigures, Spread
from gateway.routes.queues import Applied, FieldChange, QueueChange, QueueShare
from gateway.routes.rankings import CaseComparison, Ranking
from gateway.routes.teams import Member
from gateway.submissions.event_schemas import KernelIsa, ProvisioningFields
from gateway.words.shown import fields_of, shown


def the_machine(**fields: Any) -> schemas.Machine:
    return shown(schemas.Machine, Machine(**fields), sandbox_gaps=[], torch_version=None)


def test_fields_of_other_names_are_found() -> None:
    machine = Machine(machine_id="mach_1", price_micros_per_hour=1_990_000)
    machine.minimum_billed.FromSeconds(90)
    machine.create_time.FromSeconds(60)
    found = shown(schemas.Machine, machine, sandbox_gaps=["one"], torch_version="2.9")
    assert (found.id, found.price_usd_per_hour, found.minimum_billed_seconds) == ("mach_1", 1.99, 90.0)
    assert found.create_time == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    assert (found.sandbox_gaps, found.torch_version) == (["one"], "2.9")


@pytest.mark.parametrize(("fields", "fault", "status"), [({}, None, None), ({"exit_status": 0}, None, 0)])
def test_what_may_be_null_is_null_only_if_it_is_not_set(fields: Any, fault: str | None, status: int | None) -> None:
    found = the_machine(**fields)
    assert (found.fault, found.exit_status, found.create_time) == (fault, status, None)


def test_a_value_that_no_message_leaves_unset_is_null_if_it_is_empty() -> None:
    assert shown(JobFigures, JobMetrics(group="a"), name="a").gflops is None
    assert shown(QueueShare, queues_pb2.QueueShare(limit=0.0)).limit == 0.0


def test_an_enum_value_loses_its_prefix_and_an_unknown_one_is_no_error() -> None:
    assert the_machine(state=vmpool_pb2.MACHINE_STATE_WARM).state == "WARM"
    assert the_machine(state=97).state == "UNKNOWN_97"


def test_messages_within_become_models() -> None:
    answer = queues_pb2.ApplyQueuesResponse(generation=7)
    change = answer.changes.add(name="red", kind=queues_pb2.QUEUE_CHANGE_KIND_ADDED)
    change.fields.add(field="quota", before="", after="4")
    field = FieldChange(field="quota", before="", after="4")
    assert shown(Applied, answer) == Applied(
        changes=[QueueChange(name="red", kind="ADDED", fields=[field])], generation=7
    )
    metrics = JobMetrics(group="a")
    metrics.wait.p90_seconds = 3.0
    found = shown(JobFigures, metrics, name="a")
    assert (found.wait, found.run) == (Spread(p50_seconds=0.0, p90_seconds=3.0), None)


def test_an_enum_value_is_spelt_as_the_words_that_the_document_has() -> None:
    assert shown(Member, TeamMember(level=MEMBER_LEVEL_MANAGER)).level == "manager"
    assert shown(Member, TeamMember(level=97)).level == "unknown_97"
    ranking = rankings_pb2.ListRankingsResponse(timing_mode=TIMING_MODE_FIRST_CALL)
    assert shown(Ranking, ranking, rankings=[], you=None).timing_mode == "first-call"


def test_nanoseconds_become_milliseconds() -> None:
    case = rankings_pb2.CaseComparison(base_runtime_ns=1.5e6)
    assert shown(CaseComparison, case).base_runtime_ms == 1.5


def test_of_several_messages_the_first_counts_that_has_a_field() -> None:
    answer = disks_pb2.SnapshotDiskResponse(skipped=3)
    answer.snapshot.files = 7
    found = shown(TakenSnapshot, answer, answer.snapshot, seconds=1.0)
    assert (found.skipped, found.files) == (3, 7)
    two = shown(Member, TeamMember(user_name="ada"), TeamMember(user_name="bob"))
    assert two.user_name == "ada"


def test_a_typed_dictionary_gets_the_fields_that_a_message_has() -> None:
    pending = ReservationPending()
    pending.start_time.FromSeconds(60)
    assert fields_of(ReservationPendingEvent, pending, node=1) == {"start_time": "1970-01-01T00:01:00Z", "node": 1}
    assert fields_of(KernelIsa, KernelReport(line=0, vgpr=0))["line"] is None
    step = Provisioning(machine=Machine(machine_id="mach_1"))
    assert fields_of(ProvisioningFields, step)["machine"]["id"] == "mach_1"
