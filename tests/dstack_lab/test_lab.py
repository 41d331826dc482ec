"""The lab itself: the real dstack server sees it as it would see the clouds, and reports the same."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import asyncssh
import psutil
import pytest
import requests
from dstack._internal.core.errors import ClientError

from tests.dstack_lab.client import until
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key

if TYPE_CHECKING:
    from tests.dstack_lab.client import LabClient
    from tests.dstack_lab.fake_cloud import FakeCloud
    from tests.dstack_lab.server import DstackServer

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(600)]
FOREVER = (
    'python -uc \'import signal as s; s.pthread_sigmask(s.SIG_BLOCK, [s.SIGINT]); print("it runs");'
    ' s.sigwait([s.SIGINT]); print("told to stop"); exit(7)\''
)
NO_CAPACITY = "failed_to_start_due_to_no_capacity"
# Below the ports that the kernel gives to clients. A client whose own port is the one that it calls reaches itself,
# though no server listens there: 5 of 300,000 calls of 127.0.0.1:50052 did, in a network of their own.
SERVED_PORT = 8051
CLOSED_PORT = 8052


def logs(client: LabClient, name: str) -> str:
    return b"".join(client.api.runs.get(name).logs()).decode()


def test_a_run_gets_a_machine_and_its_exit_status_and_output_come_back(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.create_fleet("ends", backends=["amddevcloud"])
    lab_client.submit("ends-well", "echo out of $DSTACK_RUN_NAME", fleets=["ends"])
    well = lab_client.wait("ends-well", "done")
    lab_client.submit("ends-badly", "exit 3", fleets=["ends"])
    badly = lab_client.wait("ends-badly", "failed")
    assert well.latest_job_submission.exit_status == 0
    assert "out of ends-well" in logs(lab_client, "ends-well")
    assert badly.latest_job_submission.exit_status == 3
    assert badly.latest_job_submission.termination_reason == "container_exited_with_error"
    assert [each.status for each in fake_cloud.ledger()] == ["active"]
    lab_client.release("ends")


def test_a_stopped_run_is_interrupted_an_aborted_one_is_not_and_both_leave_their_machine_idle(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.create_fleet("stops", backends=["hotaisle"])
    for name, abort in (("stopped", False), ("aborted", True)):
        lab_client.submit(name, FOREVER, fleets=["stops"])
        until(lambda name=name: "it runs" in logs(lab_client, name))
        run = lab_client.stop(name, abort=abort)
        assert run.status.value == "terminated"
        assert run.latest_job_submission.termination_reason == f"{'aborted' if abort else 'terminated'}_by_user"
    assert "told to stop" in logs(lab_client, "stopped")
    assert "told to stop" not in logs(lab_client, "aborted")
    assert [each.status.value for each in lab_client.instances()] == ["idle"]
    assert len(fake_cloud.existing()) == 1
    lab_client.release("stops")


def test_max_duration_ends_a_run(lab_client: LabClient, fake_cloud: FakeCloud) -> None:
    lab_client.create_fleet("limit", backends=["amddevcloud"])
    lab_client.submit("limited", FOREVER, fleets=["limit"], max_duration=2)
    run = lab_client.wait("limited", "terminated", "failed")
    assert run.latest_job_submission.termination_reason == "max_duration_exceeded"
    lab_client.release("limit")


@pytest.mark.parametrize(("status", "reported"), [(422, "no MI300X is left in atl1"), (500, "500 Server Error")])
def test_a_cloud_that_refuses_is_no_capacity_and_its_words_come_back(
    lab_client: LabClient, fake_cloud: FakeCloud, status: int, reported: str
) -> None:
    fake_cloud.refuse("create", status, "no MI300X is left in atl1")
    lab_client.create_fleet("refused", backends=["amddevcloud"])
    lab_client.submit(f"refused-{status}", "true", fleets=["refused"])
    job = lab_client.wait(f"refused-{status}", "failed").latest_job_submission
    assert job.termination_reason == NO_CAPACITY
    assert reported in job.termination_reason_message
    assert fake_cloud.ledger() == []
    lab_client.release("refused")


def test_without_a_fleet_or_with_a_full_one_a_run_finds_no_capacity(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.submit("homeless", "true")
    assert lab_client.wait("homeless", "failed").latest_job_submission.termination_reason == NO_CAPACITY
    lab_client.create_fleet("full", backends=["amddevcloud"], nodes=1)
    lab_client.submit("first", FOREVER, fleets=["full"])
    lab_client.wait("first", "running")
    lab_client.submit("second", "true", fleets=["full"])
    assert lab_client.wait("second", "failed").latest_job_submission.termination_reason == NO_CAPACITY
    assert len(fake_cloud.ledger()) == 1
    assert lab_client.stop("first", abort=True).status.value == "terminated"
    lab_client.release("full")


def test_a_slow_cloud_keeps_a_run_waiting_at_each_stage(lab_client: LabClient, fake_cloud: FakeCloud) -> None:
    fake_cloud.hold_creates()
    lab_client.create_fleet("slow", backends=["amddevcloud"])
    lab_client.submit("patient", "true", fleets=["slow"])
    until(lambda: [each.status.value for each in lab_client.instances()] == ["pending"])
    assert fake_cloud.ledger() == []
    fake_cloud.hold_boots()
    fake_cloud.release_creates()
    fake_cloud.wait_until(lambda cloud: len(cloud.existing()) == 1)
    lab_client.wait("patient", "provisioning")
    fake_cloud.heal()
    lab_client.wait("patient", "done")
    lab_client.release("slow")


def test_a_machine_that_cannot_make_containers_fails_the_run(lab_client: LabClient, fake_cloud: FakeCloud) -> None:
    fake_cloud.break_containers("no such image")
    lab_client.create_fleet("broken", backends=["amddevcloud"])
    lab_client.submit("imageless", "true", fleets=["broken"])
    job = lab_client.wait("imageless", "failed").latest_job_submission
    assert (job.termination_reason, job.termination_reason_message) == ("creating_container_error", "no such image")
    lab_client.release("broken")


def test_a_machine_that_dies_is_unreachable_and_stays_rented_until_it_is_released(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.create_fleet("dies", backends=["amddevcloud"])
    lab_client.submit("orphan", FOREVER, fleets=["dies"])
    lab_client.wait("orphan", "running")
    (machine,) = fake_cloud.existing()
    fake_cloud.power_off(machine.id)
    run = lab_client.wait("orphan", "failed")
    assert run.latest_job_submission.termination_reason == "instance_unreachable"
    until(lambda: [each.unreachable for each in lab_client.instances()] == [True])
    assert len(fake_cloud.existing()) == 1
    lab_client.release("dies")


def test_what_runs_on_a_machine_can_be_frozen_and_killed_and_the_machine_taken_away(
    lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    lab_client.create_fleet("harmed", backends=["amddevcloud"])
    lab_client.submit("harmed", FOREVER, fleets=["harmed"])
    until(lambda: "it runs" in logs(lab_client, "harmed"))
    (machine,) = fake_cloud.existing()
    victim = next(
        each for each in fake_cloud.processes(machine.id) if each.name() == "python" and "-uc" in each.cmdline()
    )
    fake_cloud.freeze(machine.id)
    until(lambda: victim.status() == psutil.STATUS_STOPPED)
    fake_cloud.thaw(machine.id)
    victim.kill()
    assert lab_client.wait("harmed", "failed").latest_job_submission.exit_status == 128 + signal.SIGKILL
    fake_cloud.destroy(machine.id)
    assert fake_cloud.existing() == []
    lab_client.release("harmed")


def test_a_server_that_is_killed_finds_its_runs_again_and_one_that_hangs_does_not_answer(
    lab_client: LabClient, fake_cloud: FakeCloud, dstack_server: DstackServer
) -> None:
    lab_client.create_fleet("kept", backends=["amddevcloud"])
    lab_client.submit("kept", FOREVER, fleets=["kept"])
    lab_client.wait("kept", "running")
    dstack_server.kill()
    with pytest.raises(ClientError, match="Failed to connect"):
        lab_client.run("kept")
    dstack_server.start()
    assert lab_client.run("kept").status.value == "running"
    dstack_server.hang()
    lab_client.set_timeout(0.5)
    with pytest.raises(requests.Timeout):
        lab_client.run("kept")
    dstack_server.resume()
    lab_client.set_timeout(30)
    assert lab_client.stop("kept").status.value == "terminated"
    assert "told to stop" in logs(lab_client, "kept")
    assert len(fake_cloud.ledger()) == 1
    lab_client.release("kept")


async def test_two_machines_serve_the_same_port_each_behind_its_own_ssh_server(
    lab_client: LabClient, fake_cloud: FakeCloud, run_key: asyncssh.SSHKey
) -> None:
    names = {"here": "amddevcloud", "there": "hotaisle"}
    for name, backend in names.items():
        lab_client.create_fleet(name, backends=[backend])
        server = f"python -m http.server {SERVED_PORT} --bind 127.0.0.1"
        serve = f"mkdir -p ~/www; cd ~/www; echo $DSTACK_RUN_NAME > name; {server}"
        lab_client.submit(name, serve, fleets=[name])
    for name in names:
        job = lab_client.wait(name, "running").latest_job_submission
        data = job.job_provisioning_data
        options = {"known_hosts": None, "client_keys": [run_key], "username": data.username}
        async with asyncssh.connect(data.hostname, data.ssh_port, **options) as host:
            assert await fetched(host) == name
            container = {**options, "username": "root", "tunnel": host}
            async with asyncssh.connect("127.0.0.1", 10022, **container) as inside:
                assert await fetched(inside) == name
            with pytest.raises(asyncssh.ChannelOpenError, match="Connect call failed"):
                await host.open_connection("127.0.0.1", CLOSED_PORT)
        another = {**options, "client_keys": [asyncssh.generate_private_key("ssh-ed25519")]}
        with pytest.raises(asyncssh.PermissionDenied):
            await asyncssh.connect(data.hostname, data.ssh_port, **another)
    for name in names:
        assert lab_client.stop(name, abort=True).status.value == "terminated"
        lab_client.release(name)


async def fetched(connection: asyncssh.SSHClientConnection) -> str:
    """The text that the job's server sends over a forwarded connection; the job may need a moment to listen."""
    for attempt in range(600):
        try:
            reader, writer = await connection.open_connection("127.0.0.1", SERVED_PORT)
            break
        except asyncssh.ChannelOpenError:
            if attempt == 599:
                raise
            await asyncio.sleep(0.1)
    writer.write(b"GET /name HTTP/1.0\r\n\r\n")
    answer = await reader.read()
    return answer.decode().split("\r\n\r\n")[1].strip()
