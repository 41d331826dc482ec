"""Every status of the installed dstack is known, and statuses that nobody knows yet break nothing."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from enum import Enum

import pytest
from dstack._internal.core.models.instances import InstanceAvailability
from dstack._internal.core.models.runs import JobStatus, JobTerminationReason, RunStatus, RunTerminationReason
from hypothesis import given, settings
from hypothesis import strategies as st

from services.vmpool import metrics
from services.vmpool.fault import Fault
from services.vmpool.providers.dstack.offer import AVAILABILITIES
from services.vmpool.providers.dstack.runs.fault import JOB_FAULTS, RUN_FAULTS, fault_of
from services.vmpool.providers.dstack.runs.run import Address, run_from_json
from services.vmpool.providers.dstack.runs.state import FINAL_RUN_STATUSES, JOB_STATES, RUN_STATES, billed, observation
from services.vmpool.providers.provider import Observation, ProviderState
from tests.services.vmpool.providers.dstack.dstack_words import CONFIG, a_job, a_run
from vocabulary.money import MICROSECOND

PENDING, RUNNING, ENDED, STOPPED, UNKNOWN = (
    ProviderState.PENDING,
    ProviderState.RUNNING,
    ProviderState.ENDED,
    ProviderState.STOPPED,
    ProviderState.UNKNOWN,
)


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (RunStatus, RUN_STATES),
        (JobStatus, JOB_STATES),
        (JobTerminationReason, JOB_FAULTS),
        (RunTerminationReason, RUN_FAULTS),
        (InstanceAvailability, AVAILABILITIES),
    ],
)
def test_every_word_of_the_installed_dstack_is_known(words: type[Enum], known: dict[str, object]) -> None:
    assert {word.value for word in words} == set(known)


def test_the_final_statuses_are_the_ones_that_dstack_calls_finished() -> None:
    assert {status.value for status in RunStatus.finished_statuses()} == FINAL_RUN_STATUSES


def test_available_is_what_dstack_calls_available() -> None:
    assert {word.value: word.is_available() for word in InstanceAvailability} == AVAILABILITIES


@pytest.mark.parametrize(
    ("run", "job", "state", "stage"),
    [
        ("pending", None, PENDING, "pending"),
        ("submitted", "submitted", PENDING, "submitted"),
        ("provisioning", "provisioning", PENDING, "provisioning"),
        ("provisioning", "pulling", PENDING, "pulling"),
        ("running", "running", RUNNING, "running"),
        # A replacement of a job that ended, or a server that has not caught up.
        ("running", "provisioning", PENDING, "provisioning"),
        ("running", "terminating", ENDED, ""),
        ("terminating", "running", ENDED, ""),
        ("terminating", "terminating", ENDED, ""),
        ("terminated", "aborted", STOPPED, ""),
        ("terminated", "terminated", STOPPED, ""),
        ("failed", "failed", ENDED, ""),
        ("done", "done", STOPPED, ""),
        ("running", None, PENDING, "running"),
    ],
)
def test_a_run_with_its_job_is_in_one_state(run: str, job: str | None, state: ProviderState, stage: str) -> None:
    seen = observation(run_from_json(a_run(run, a_job(job) if job else None)))
    assert (seen.state, seen.stage) == (state, stage)


@pytest.mark.parametrize(
    ("run", "run_reason", "job_reason", "state"),
    [
        ("terminating", "stopped_by_user", "terminated_by_user", STOPPED),
        ("terminating", "job_failed", "container_exited_with_error", ENDED),
        ("running", "", "done_by_runner", STOPPED),
        ("running", "", "instance_unreachable", ENDED),
        # dstack calls it failed, and the pool's own limit stops a machine.
        ("failed", "job_failed", "max_duration_exceeded", STOPPED),
    ],
)
def test_before_its_end_is_final_the_reason_tells_whether_a_machine_broke_or_was_stopped(
    run: str, run_reason: str, job_reason: str, state: ProviderState
) -> None:
    job = a_job("terminating", termination_reason=job_reason)
    seen = observation(run_from_json(a_run(run, job, termination_reason=run_reason or None)))
    assert seen.state is state


def test_a_machine_that_runs_has_a_place_and_a_price() -> None:
    seen = observation(run_from_json(a_run("running", a_job("running"))))
    assert (seen.backend, seen.region, seen.price_micros_per_hour) == ("hotaisle", "us-michigan-1", 2_100_000)


def test_a_machine_without_an_address_is_still_pending() -> None:
    job = a_job("running")
    job["job_provisioning_data"]["hostname"] = None
    assert observation(run_from_json(a_run("running", job))).state is PENDING


def test_pulling_tells_how_much_of_the_image_is_there() -> None:
    progress = {"downloaded_bytes": 7_000, "extracted_bytes": 0, "total_bytes": 20_000, "is_total_bytes_final": True}
    seen = observation(run_from_json(a_run("provisioning", a_job("pulling", image_pull_progress=progress))))
    assert seen.stage == "pulling 35 %"


def test_the_end_keeps_exit_status_fault_and_dstacks_own_words() -> None:
    job = a_job(
        "failed",
        termination_reason="container_exited_with_error",
        termination_reason_message="the executor\nfell over",
        exit_status=3,
    )
    seen = observation(run_from_json(a_run("failed", job, termination_reason="job_failed")))
    assert (seen.fault, seen.exit_status) == (Fault.EXECUTOR_EXITED, 3)
    assert seen.reason == "dstack: container_exited_with_error (exit status 3): the executor fell over"


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("failed_to_start_due_to_no_capacity", Fault.NO_CAPACITY),
        ("interrupted_by_no_capacity", Fault.INTERRUPTED),
        ("instance_unreachable", Fault.UNREACHABLE),
        ("waiting_instance_limit_exceeded", Fault.START_TIMEOUT),
        ("waiting_runner_limit_exceeded", Fault.START_TIMEOUT),
        ("creating_container_error", Fault.MISCONFIGURED),
        ("max_duration_exceeded", Fault.EXPIRED),
        ("terminated_by_user", Fault.PROVIDER),
    ],
)
def test_a_jobs_reason_tells_what_to_do_whatever_the_runs_is(reason: str, fault: Fault) -> None:
    assert fault_of(reason, "job_failed") is fault


def test_without_a_reason_of_the_job_the_runs_counts() -> None:
    assert fault_of("", "retry_limit_exceeded") is Fault.NO_CAPACITY
    assert fault_of("", "") is Fault.PROVIDER


def unknown_words(kind: str) -> float:
    return metrics.provider_words_unknown.labels("dstack", kind)._value.get()


@pytest.mark.parametrize(
    ("kind", "run", "state"),
    [
        ("run status", a_run("hibernating", a_job("running")), UNKNOWN),
        ("job status", a_run("running", a_job("dreaming")), UNKNOWN),
        ("job status", a_run("provisioning", a_job("dreaming")), PENDING),
        ("job termination reason", a_run("failed", a_job("failed", termination_reason="meteor")), ENDED),
        ("run termination reason", a_run("failed", termination_reason="meteor"), ENDED),
    ],
)
def test_an_unknown_word_is_counted_logged_and_kept(
    kind: str, run: dict[str, object], state: ProviderState, caplog: pytest.LogCaptureFixture
) -> None:
    before = unknown_words(kind)
    with caplog.at_level(logging.WARNING):
        seen = observation(run_from_json(run))
    assert seen.state is state
    assert unknown_words(kind) == before + 1
    assert "do not know" in caplog.text
    assert any(word in seen.stage + seen.reason for word in ("hibernating", "dreaming", "meteor"))


words = st.text(max_size=12)


@settings(deadline=None)
@given(run=words, job=words | st.none(), reasons=st.tuples(words, words))
def test_no_words_of_a_server_break_us(run: str, job: str | None, reasons: tuple[str, str]) -> None:
    reported = a_run(run, job and a_job(job, termination_reason=reasons[0]), termination_reason=reasons[1])
    assert observation(run_from_json(reported)).state in ProviderState


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=6,
)


@settings(deadline=None)
@given(part=st.sampled_from(["run_spec", "latest_job_submission", "termination_reason", "jobs"]), value=json_values)
def test_parts_of_a_run_in_another_shape_are_read_as_missing(part: str, value: object) -> None:
    reported = a_run("running") | {part: value}
    assert observation(run_from_json(reported)).state in ProviderState


@settings(deadline=None)
@given(
    part=st.sampled_from(["job_provisioning_data", "image_pull_progress", "exit_status", "termination_reason"]),
    field=st.sampled_from(["hostname", "ssh_port", "price", "ssh_proxy", "total_bytes", "downloaded_bytes"]),
    values=st.tuples(json_values, json_values),
)
def test_parts_of_a_job_in_another_shape_are_read_as_missing(
    part: str, field: str, values: tuple[object, object]
) -> None:
    job = a_job("running")
    job["job_provisioning_data"][field] = values[0]
    for reported in (job, job | {part: values[1]}, job | {part: {field: values[1]}}):
        assert observation(run_from_json(a_run("running", reported))).state in ProviderState


def test_a_machine_behind_another_one_is_reached_by_way_of_that() -> None:
    job = a_job("running")
    job["job_provisioning_data"]["ssh_proxy"] = {"hostname": "gate", "username": "jump", "port": 2222}
    read = run_from_json(a_run("running", job)).job
    assert read is not None
    assert (read.address, read.proxy) == (Address("10.0.0.7", 22, "hotaisle"), Address("gate", 2222, "jump"))


def test_how_a_backend_bills_comes_from_the_settings_once_the_backend_is_known() -> None:
    terms = replace(CONFIG.market, minimum_billed={"hotaisle": timedelta(hours=2)}, billing_increment={})
    seen = billed(Observation(RUNNING, backend="hotaisle", price_micros_per_hour=1_990_000), terms)
    assert (seen.minimum_billed, seen.billing_increment) == (timedelta(hours=2), MICROSECOND)
    assert billed(Observation(PENDING), terms) == Observation(PENDING)


def test_a_run_is_rented_once_a_cloud_has_given_it_a_machine() -> None:
    job = a_job("failed")
    assert observation(run_from_json(a_run("failed", job))).rented
    unplaced = {name: value for name, value in job.items() if name != "job_provisioning_data"}
    assert not observation(run_from_json(a_run("failed", unplaced))).rented
    assert not observation(run_from_json(a_run("submitted", None))).rented
