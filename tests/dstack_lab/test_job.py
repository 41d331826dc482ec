"""The lab's jobs end when they are asked to, at any moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.dstack_lab.guest.job import Job

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("killed", [False, True])
async def test_a_job_that_is_stopped_before_its_process_is_there_ends(tmp_path: Path, killed: bool) -> None:
    run = {"id": "run", "run_spec": {"run_name": "stopped"}}
    job_spec = {"commands": ["/bin/sleep", "1000"], "env": {}}
    job = Job({"run": run, "job_submission": {"id": "job"}, "job_spec": job_spec}, tmp_path)
    job.start()
    while not job.pull(0)["job_states"]:
        await asyncio.sleep(0)
    if killed:
        await job.kill()
    else:
        job.stop()
    async with asyncio.timeout(60):
        while job.pull(0)["has_more"]:
            await asyncio.sleep(0.01)
    assert [each["state"] for each in job.pull(0)["job_states"]] == ["running", "terminated"]
