"""The lab itself: the real dstack server gets through it what it would get from the clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key

if TYPE_CHECKING:
    from tests.dstack_lab.client import LabClient
    from tests.dstack_lab.fake_cloud import FakeCloud

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(300)]


def test_a_run_gets_a_machine_and_its_exit_status_and_output_come_back(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.create_fleet("ends", backends=["amddevcloud"])
    lab_client.submit("ends-well", "echo out of $DSTACK_RUN_NAME", fleets=["ends"])
    well = lab_client.wait("ends-well", "done")
    lab_client.submit("ends-badly", "exit 3", fleets=["ends"])
    badly = lab_client.wait("ends-badly", "failed")
    assert well.latest_job_submission.exit_status == 0
    assert b"out of ends-well" in b"".join(lab_client.api.runs.get("ends-well").logs())
    assert badly.latest_job_submission.exit_status == 3
    assert badly.latest_job_submission.termination_reason == "container_exited_with_error"
    assert [each.status for each in fake_cloud.ledger()] == ["active"]
    lab_client.release("ends")
