"""The lab's jobs end when they are asked to, at any moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack_lab.guest.job import Job

if TYPE_CHECKING:
    from pathlib import Path


def job_of(folder: Path, *command: str) -> Job:
    run = {"id": "run", "run_spec": {"run_name": "stopped"}}
    job_spec = {"commands": command, "env": {}}
    return Job({"run": run, "job_submission": {"id": "job"}, "job_spec": job_spec}, folder)


async def states_of(job: Job) -> list[dict[str, Any]]:
    """All states of a job that ends."""
    async with asyncio.timeout(60):
        while job.pull(0)["has_more"]:
            await asyncio.sleep(0.01)
    return job.pull(0)["job_states"]


@pytest.mark.parametrize("killed", [False, True])
async def test_a_job_that_is_stopped_before_its_process_is_there_ends(tmp_path: Path, killed: bool) -> None:
    job = job_of(tmp_path, "/bin/sleep", "1000")
    job.start()
    while not job.pull(0)["job_states"]:
        await asyncio.sleep(0)
    if killed:
        await job.kill()
    else:
        job.stop()
    assert [each["state"] for each in await states_of(job)] == ["running", "terminated"]


async def test_a_job_that_reaches_its_max_duration_ends_for_that_reason_whatever_its_exit_status(
    tmp_path: Path,
) -> None:
    job = job_of(tmp_path, "/bin/sh", "-c", "trap 'exit 0' INT; while :; do sleep 0.01; done")
    job.start()
    job.exceed_max_duration()
    assert (await states_of(job))[-1]["termination_reason"] == "max_duration_exceeded"
