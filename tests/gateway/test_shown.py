from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from wavepool.scheduler.v1 import queues_pb2
from wavepool.scheduler.v1.metrics_pb2 import JobMetrics
from wavepool.vmpool.v1 import vmpool_pb2
from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.machines import schemas
from gateway.routes.job_metrics import JobFigures, Spread
from gateway.routes.queues import Applied, FieldChange, QueueChange, QueueShare
from gateway.words.shown import shown


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
