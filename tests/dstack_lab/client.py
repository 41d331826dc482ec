"""A client of a dstack server for the lab's own tests: fleets, runs, instances."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dstack._internal.core.errors import ServerClientError
from dstack._internal.core.models.fleets import ApplyFleetPlanInput, FleetConfiguration, FleetNodesSpec, FleetSpec
from dstack._internal.core.models.profiles import Profile
from dstack._internal.core.models.resources import ResourcesSpec
from dstack.api import Client, Task
from requests.adapters import HTTPAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tests.dstack_lab.server import DstackServer

WAIT_SECONDS = 240
"""Enough for a run's end after the server was killed, on a busy machine.

A killed server leaves locks of 30 s, and the next one waits 30 s more for a job's logs; on a machine with ten busy
processes the rest of a run's end takes as long again.
"""
POLL_SECONDS = 0.1
FINAL = ("done", "failed", "terminated")


class TimeoutAdapter(HTTPAdapter):
    """Adds a timeout, since dstack's client sets none on its requests."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def send(self, *args: Any, **kwargs: Any) -> Any:
        return super().send(*args, **{**kwargs, "timeout": self._seconds})


class LabClient:
    """One project of one server; `public_key` may log in to the machines of its runs."""

    def __init__(self, server: DstackServer, public_key: str, timeout_seconds: float = 30) -> None:
        self.api = Client.from_config(project_name=server.project, server_url=server.url, user_token=server.token)
        self.set_timeout(timeout_seconds)
        self._project = server.project
        self._public_key = public_key

    def set_timeout(self, seconds: float) -> None:
        self.api.client._s.mount("http://", TimeoutAdapter(seconds))

    def create_fleet(self, name: str, *, backends: Collection[str], nodes: int = 1, gpu: str = "MI300X:1") -> None:
        configuration = FleetConfiguration(
            name=name,
            nodes=FleetNodesSpec(min=0, target=0, max=nodes),
            backends=list(backends),
            resources=ResourcesSpec.model_validate({"cpu": "x86:2..", "gpu": gpu}),
            idle_duration="1h",
        )
        spec = FleetSpec(configuration=configuration, profile=Profile(name="default"))
        plan = self.api.client.fleets.get_plan(self._project, spec)
        assert plan.current_resource is None
        self.api.client.fleets.apply_plan(self._project, ApplyFleetPlanInput(spec=spec, current_resource=None))

    def submit(self, name: str, *commands: str, **more: Any) -> None:
        task = Task(
            name=name,
            # With both, the server does not ask an image registry for the image's command and user.
            image="rocm/dev-ubuntu-24.04",
            user="root",
            commands=list(commands),
            resources={"cpu": "x86:2..", "gpu": "MI300X:1"},
            **more,
        )
        self.api.runs.apply_configuration(task, reserve_ports=False, ssh_key_pub=self._public_key)

    def run(self, name: str) -> Any:
        run = self.api.runs.get(name)
        assert run is not None, f"the server does not know the run {name}"
        return run._run

    def wait(self, name: str, *statuses: str) -> Any:
        """Waits until the run is in one of these statuses; another final status ends the wait at once."""

        def reached(run: Any) -> bool:
            assert run.status.value in statuses or run.status.value not in FINAL, _story(run)
            return run.status.value in statuses

        return self._once(name, reached, " or ".join(statuses))

    def stop(self, name: str, *, abort: bool = False) -> Any:
        """Stops the run as a person does in dstack, repeating the request until the run has ended.

        The server may forget a stop that arrives during a start: it writes the started state last.
        """

        def stopped(run: Any) -> bool:
            if run.status.value != "terminating" and run.status.value not in FINAL:
                self.api.runs.get(name).stop(abort=abort)
            return run.status.value in FINAL

        return self._once(name, stopped, "ended")

    def _once(self, name: str, is_reached: Callable[[Any], bool], what: str) -> Any:
        """Waits until `is_reached` is true of the run; fails with the run's last state if it never is."""
        story = ""

        def reached() -> Any:
            nonlocal story
            run = self.run(name)
            story = _story(run)
            return run if is_reached(run) else None

        try:
            return until(reached)
        except TimeoutError as error:
            raise TimeoutError(f"{story}, and not {what}: {error}") from error

    def instances(self) -> list[Any]:
        """The instances of all fleets."""
        return [each for fleet in self.api.client.fleets.list(self._project) for each in fleet.instances]

    def clear(self) -> None:
        """Ends all runs and all fleets."""
        runs = self.api.client.runs.list(self._project, None)
        left = [each.run_spec.run_name for each in runs if not each.deleted]
        active = [name for name in left if self.run(name).status.value not in FINAL]
        if active:
            self.api.client.runs.stop(self._project, active, abort=True)
        for name in active:
            self.stop(name, abort=True)
        for fleet in self.api.client.fleets.list(self._project):
            self.release(fleet.name)

    def _is_deleted(self, fleet: str) -> bool:
        """Asks the server to delete a fleet; False while it is at work on it, when it refuses that."""
        try:
            self.api.client.fleets.delete(self._project, [fleet])
        except ServerClientError as error:
            if "being processed" not in str(error):
                raise
            return False
        return True

    def release(self, fleet: str) -> None:
        """Ends the fleet and its machines; waits until the server has forgotten it."""
        until(lambda: self._is_deleted(fleet))
        until(lambda: fleet not in [each.name for each in self.api.client.fleets.list(self._project)])


def until(reached: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := reached()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not reached within {seconds} s")
        time.sleep(POLL_SECONDS)
    return value


def _story(run: Any) -> str:
    job = run.latest_job_submission
    why = (job.termination_reason, job.termination_reason_message) if job else "it never had a job"
    return f"{run.run_spec.run_name} is {run.status.value}: {why}"
