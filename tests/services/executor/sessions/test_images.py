"""Sessions whose root is an image's, from a real registry, with real sshd and real clients."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from wavepool.executor.v1 import session_pb2

from servicekit.clock import ManualClock
from services.executor.sessions.network.destinations import Destinations
from services.executor.sessions.network.session_network import outer_addresses
from services.executor.sessions.root import bubblewrap_session
from services.executor.sessions.root.bubblewrap_session import BubblewrapSession, open_bubblewrap_session
from tests.build_contexts import build_context
from tests.image_registry import BUSYBOX, ImageRegistry, busybox, file, link, running_registry
from tests.services.executor.client import StartExecutor
from tests.services.executor.sandboxes.shell import processes_with
from tests.services.executor.sessions.conftest import SLOTS, SYSTEM_PYTHON, Machine, TwoGpus
from tests.services.executor.sessions.session_client import Person, SessionClient, name_of, session_request
from tests.services.executor.sessions.test_network import NOBODY, opened, ordinary_user
from tests.services.executor.test_process import REPOSITORY, Executor
from vocabulary.build_contexts import context_digest

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.images]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        environment = ["PATH=/opt/tools:/bin", "GREETING=from the image", "HOME=/root", "OMP_NUM_THREADS=99"]
        config = {"Env": environment, "User": "root", "WorkingDir": "/opt"}
        running.push("tiny", busybox(file("opt/marker", "whole")), config=config)
        yield running


@pytest.fixture
async def image_machine(
    start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, registry: ImageRegistry
) -> Machine:
    """A machine with two GPUs that takes images from the registry."""
    sandbox = BubblewrapSession(TwoGpus(), tmp_path)  # pyright: ignore - nodes that nobody opens stand for them
    server, client = await start_executor(
        session_sandbox=sandbox,
        clock=clock,
        gpu_count=2,
        max_runs=2,
        cache_dir=tmp_path / "cache",
        image_insecure_registries=registry.address,
    )
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


async def test_a_command_sees_the_images_files_and_gives_its_exit_status(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        status, said = await access.run(alice, "cat /etc/os-release; id; pwd; exit 7")
        assert status == 7
        assert said.startswith("ID=tiny\nuid=")
        assert "(dev) gid=" in said
        assert said.endswith("(dev)\n/home/dev\n")
        _, said = await access.run(alice, "echo $GREETING, $HOME, $PATH; echo $SHELL $WAVEPOOL_USER $OMP_NUM_THREADS")
        assert said.startswith("from the image, /home/dev, /opt/tools:/bin")
        assert "/bin/sh alice" in said
        assert " 99" not in said
        _, said = await access.run(
            alice, "ls /usr /lib /lib64 /bin/bash 2>&1; echo $ROCR_VISIBLE_DEVICES; ls -d /opt/*"
        )
        assert said.count("No such file") == 4
        assert said.endswith("0\n/opt/marker\n")


async def test_the_steps_and_the_digest_are_reported(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    digest = registry.push("tiny", busybox(), tag="digest")
    request = session_request([alice], slots=SLOTS[0], image=f"{registry.address}/tiny@{digest}")
    steps: list[str] = []
    percents: list[int] = []
    async for event in image_machine.client.events(request):
        if name_of(event) == "step":
            steps.append(event.step.name)
        if name_of(event) == "fetching":
            percents.append(event.fetching.percent)
        if name_of(event) == "ready":
            assert event.ready.image_digest == digest
            break
    await image_machine.client.close(request.session_id)
    assert steps == ["image", "sandbox", "sshd"]
    assert percents
    assert all(0 <= percent <= 100 for percent in percents)


@pytest.mark.tmux
async def test_the_machines_tmux_keeps_shells_though_the_image_has_none(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        async with access.kept(alice, "mine") as shell:
            await shell.see("Welcome to Wavepool")
            await shell.type("number=41; echo 'read'y")
            await shell.see("ready")
        async with access.kept(alice, "mine", "again") as shell:
            await shell.type("exit $((number - 34))")
            assert await shell.ended() == 7


@pytest.mark.rsync
async def test_files_come_and_go_by_sftp_scp_and_rsync_though_the_image_has_none_of_them(
    image_machine: Machine, alice: Person, registry: ImageRegistry, tmp_path: Path
) -> None:
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(1 << 20))
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        process = await access.start(alice, "-b", "-", "dev@session", program="sftp", stdin=PIPE)
        output, _ = await process.communicate(f"put {sent} there\nget there {tmp_path}/back\n".encode())
        assert process.returncode == 0, output
        copying = await access.start(alice, "dev@session:there", str(tmp_path / "copied"), program="scp")
        output, _ = await copying.communicate()
        assert copying.returncode == 0, output
        shell = " ".join(f"'{word}'" for word in ("ssh", *access.options(alice)))
        rsync = await asyncio.create_subprocess_exec("rsync", "-a", "-e", shell, sent, "dev@session:/opt/synced")
        assert await rsync.wait() == 0
        assert await access.run(alice, "wc -c < /opt/synced") == (0, f"{1 << 20}\n")

    assert (tmp_path / "back").read_bytes() == sent.read_bytes() == (tmp_path / "copied").read_bytes()


async def test_what_starts_our_programs_is_not_in_peoples_environment(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        status, said = await access.run(alice, "env")
        assert status == 0
        assert "LD_LIBRARY_PATH" not in said


async def test_a_terminal_shows_the_image_and_what_becomes_of_changes(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    name = f"{registry.address}/tiny:1"
    async with image_machine.session(alice, slots=SLOTS[0], image=name) as access, access.terminal(alice) as terminal:
        await terminal.type("cat /session/welcome")
        await terminal.see(name)
        await terminal.see("what you change of the image's files is removed at the end")
        await terminal.type("exit 9")
        assert await terminal.ended() == 9


async def test_two_sessions_of_one_image_do_not_see_each_others_changes(
    image_machine: Machine, alice: Person, bob: Person, registry: ImageRegistry
) -> None:
    asked: dict[str, Any] = {"image": f"{registry.address}/tiny:1"}
    async with (
        image_machine.session(alice, slots=SLOTS[0], **asked) as first,
        image_machine.session(bob, slots=SLOTS[1], **asked) as second,
    ):
        changes = "echo mine > /opt/marker && rm /etc/os-release && mkdir /srv && echo new > /opt/new && cat /opt/*"
        assert await first.run(alice, changes) == (0, "mine\nnew\n")
        assert await second.run(bob, "cat /opt/marker /etc/os-release; ls /opt") == (0, "wholeID=tiny\nmarker\n")
        # The second session's user is not the one that unpacked the image.
        assert await second.run(bob, "echo theirs > /opt/marker && rm /bin/true && cat /opt/marker") == (0, "theirs\n")
        assert await first.run(alice, "cat /opt/marker && true") == (0, "mine\n")
    await first.events.reach("ended")
    async with image_machine.session(bob, slots=SLOTS[0], **asked) as third:
        assert await third.run(bob, "cat /opt/marker /etc/os-release; ls /opt") == (0, "wholeID=tiny\nmarker\n")


async def test_an_image_is_read_only_where_no_overlay_can_be_mounted(
    image_machine: Machine, alice: Person, registry: ImageRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(work_dir: Path) -> str:
        return f"no overlay in {work_dir.name} in this test"

    monkeypatch.setattr(bubblewrap_session, "overlay_fault", fault)
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        status, said = await access.run(alice, "cat /opt/marker; touch /workspace/a /tmp/b c; echo mine > /opt/marker")
        assert status != 0
        assert said.startswith("whole")
        assert "Read-only file system" in said
        assert (
            "cannot be changed on this machine: no overlay in" in (await access.run(alice, "cat /session/welcome"))[1]
        )


@pytest.mark.usefixtures("_system_python")
async def test_an_ordinary_users_machine_has_images_that_sessions_can_change(
    registry: ImageRegistry, alice: Person
) -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as mine:
        work = Path(folder)
        shutil.chown(work, NOBODY, NOBODY)
        work.chmod(0o755)
        packages = next(path for path in sys.path if path.endswith("site-packages"))
        settings = {
            "HOME": folder,
            "EXECUTOR_CACHE_DIR": str(work / "cache"),
            "EXECUTOR_SESSION_NETWORK": "none",
            "EXECUTOR_IMAGE_INSECURE_REGISTRIES": registry.address,
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY}/protos:{REPOSITORY}/client:{packages}",
            "WAVEPOOL_CACHE_DIR": str(work / "compiler"),
        }
        executor = Executor(work, [*ordinary_user(work), str(SYSTEM_PYTHON)], **settings)
        image = f"{registry.address}/tiny:1"
        try:
            async with executor.client() as client, opened(executor, client, Path(mine), alice, image=image) as access:
                changes = "id -u; cat /opt/marker; echo mine > /opt/marker; rm /bin/true; mkdir /new; cat /opt/marker"
                assert await access.run(alice, changes) == (0, "1000\nwholemine\n")
                await access.client.close(access.session_id)
                await access.events.reach("ended")
            # An ordinary user cannot give a build the users that it needs.
            request = session_request([alice], **build_of(registry, "FROM BASE\n"))
            async with executor.client() as client:
                ended = await SessionClient(executor.port, client.channel).events(request).reach("ended")
            assert ended.ended.reason == session_pb2.SESSION_END_REASON_IMAGE
            assert "by executors that are root alone" in ended.ended.details
        finally:
            executor.end(signal.SIGTERM)
        [marker] = work.glob("cache/images/*/root/opt/marker")
        assert marker.read_text() == "whole"
        assert not list(work.glob("wavepool-run-*"))


async def test_nothing_but_the_image_is_left_after_the_end(
    image_machine: Machine, alice: Person, registry: ImageRegistry, tmp_path: Path
) -> None:
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:1") as access:
        await access.run(alice, "echo mine > /opt/marker; (sleep 4712 >/dev/null 2>&1 &)")
    await access.events.reach("ended")
    assert not list(tmp_path.glob("wavepool-run-*"))
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    roots = list((tmp_path / "cache" / "images").glob("*/root/opt/marker"))
    assert [root.read_text() for root in roots] == ["whole"]


@pytest.mark.network
async def test_a_node_of_a_gang_has_an_image_whose_links_lead_nowhere(
    start_executor: StartExecutor, alice: Person, registry: ImageRegistry, tmp_path: Path, clock: ManualClock
) -> None:
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path, Destinations())  # pyright: ignore - as in conftest
    settings = {"cache_dir": tmp_path / "cache", "image_insecure_registries": registry.address}
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=2, max_runs=2, **settings)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
    trap = tmp_path / "trap"
    trap.mkdir()
    # While it is made, a sandbox has the machine's root there.
    registry.push("tiny", busybox(link("etc/ssh", f"/oldroot{trap}"), link("session", f"/oldroot{trap}")), tag="gang")
    addresses = (str(outer_addresses()[0]), "198.18.0.2")
    nodes = [session_pb2.GangNode(name=f"node-{n}", address=address) for n, address in enumerate(addresses)]
    asked: dict[str, Any] = {"gang": session_pb2.Gang(gang_id="g1", nodes=nodes, ssh_seed=b"s" * 32)}
    image = f"{registry.address}/tiny:gang"
    async with machine.session(alice, slots=SLOTS[0], image=image, **asked) as access:
        status, said = await access.run(alice, "cat /etc/ssh/ssh_config; cat /etc/hosts; cat /etc/os-release")
        assert status == 0
        assert "HostKeyAlias" in said
        assert "198.18.0.2" in said
        assert said.endswith("ID=tiny\n")
        # The image has no ssh, with which launchers begin on other nodes.
        assert await access.run(alice, "ssh node-0 cat /etc/os-release") == (0, "ID=tiny\n")
    assert not list(trap.iterdir())


async def test_setuid_files_of_an_image_give_nobody_more_rights(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    registry.push("tiny", busybox(file("bin/root", BUSYBOX.read_bytes(), 0o6755)), tag="setuid")
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:setuid") as access:
        own = (await access.run(alice, "id -u"))[1]
        assert await access.run(alice, "/bin/root id -u 2>/dev/null || /bin/busybox id -u") == (0, own)
        assert (await access.run(alice, "stat -c %a /bin/root"))[1] == "777\n"
        assert (await access.run(alice, "grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status"))[1].split() == [
            *("CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1"),
        ]


async def test_the_images_own_command_runs_in_its_folder_and_the_session_outlives_it(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    script = file("opt/serve", "#!/bin/sh\npwd; echo $GREETING $HOME $1; id -u; cat /opt/go-on; exit 3\n", 0o755)
    # It waits until somebody who has logged in makes it go on.
    pipe = 'busybox mkfifo /opt/go-on; /opt/serve "$1"; exit $?'
    config = {
        "Env": ["PATH=/bin:/opt", "GREETING=from the image"],
        "Entrypoint": ["sh", "-c", pipe, "sh"],
        "Cmd": ["an argument"],
        "WorkingDir": "/srv/new",
    }
    registry.push("tiny", busybox(script), tag="serve", config=config)
    image = f"{registry.address}/tiny:serve"
    async with image_machine.session(alice, slots=SLOTS[0], image=image, preserve_entrypoint=True) as access:
        own = (await access.run(alice, "id -u"))[1]
        assert "own command" in (await access.run(alice, "cat /session/welcome"))[1]
        assert await access.run(alice, "until [ -p /opt/go-on ]; do sleep 0.1; done; echo done > /opt/go-on") == (0, "")
        ended = (await access.events.reach("command_ended")).command_ended
        assert ended.exit_status == 3
        assert await access.run(alice, "cat /workspace/entrypoint.log") == (
            0,
            f"/srv/new\nfrom the image /home/dev an argument\n{own}done\n*** ended with status 3\n",
        )


async def test_the_images_command_ends_with_the_session(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    marker = f"86397.{secrets.randbelow(10**9)}"
    config = {"Cmd": ["sh", "-c", f"trap '' TERM HUP; echo begun; while :; do sleep {marker}; done"]}
    registry.push("tiny", busybox(), tag="stubborn", config=config)
    image = f"{registry.address}/tiny:stubborn"
    async with image_machine.session(alice, slots=SLOTS[0], image=image, preserve_entrypoint=True) as access:
        assert (await access.run(alice, "until grep begun /workspace/entrypoint.log; do sleep 0.1; done"))[0] == 0
    assert not (await access.events.reach("ended")).ended.unkillable
    assert not processes_with(marker)


async def test_an_image_without_a_command_has_none_to_start(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    image = f"{registry.address}/tiny:1"
    request = session_request([alice], slots=SLOTS[0], image=image, preserve_entrypoint=True)
    ended = (await image_machine.client.events(request).reach("ended")).ended
    assert ended.reason == session_pb2.SESSION_END_REASON_IMAGE
    assert "neither ENTRYPOINT nor CMD" in ended.details


async def test_the_images_command_is_not_started_without_being_asked_for(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    registry.push("tiny", busybox(), tag="quiet", config={"Cmd": ["touch", "/workspace/started"]})
    async with image_machine.session(alice, slots=SLOTS[0], image=f"{registry.address}/tiny:quiet") as access:
        assert await access.run(alice, "ls /workspace") == (0, "")


def build_of(registry: ImageRegistry, dockerfile: str, *entries: Any) -> dict[str, Any]:
    """The fields of a request for a session whose image is built."""
    registry.push("tiny", busybox(), tag="base", config={"Env": ["PATH=/bin"]})
    context = build_context(dockerfile.replace("BASE", f"{registry.address}/tiny:base"), *entries)
    return {"build_digest": context.digest, "build_context": context.content}


@pytest.mark.builds
async def test_an_image_is_built_and_used_like_any_other(
    image_machine: Machine, alice: Person, bob: Person, registry: ImageRegistry
) -> None:
    dockerfile = "FROM BASE\nCOPY mine /opt/mine\nENV GREETING=built\nRUN echo made > /opt/made\nCMD cat /opt/made\n"
    asked = {**build_of(registry, dockerfile, file("mine", "of alice\n")), "preserve_entrypoint": True}
    async with image_machine.session(alice, slots=SLOTS[0], **asked) as access:
        texts: list[str] = []
        async for event in access.events:
            if name_of(event) == "command_ended":
                assert event.command_ended.exit_status == 0
                break
        assert await access.run(alice, "cat /opt/mine /opt/made /workspace/entrypoint.log; echo $GREETING") == (
            0,
            "of alice\nmade\nmade\n*** ended with status 0\nbuilt\n",
        )
        assert "built from sha256:" in (await access.run(alice, "cat /session/welcome"))[1]
    request = session_request([bob], slots=SLOTS[1], **asked)
    async for event in image_machine.client.events(request):
        texts += [event.building.text] if name_of(event) == "building" else []
        if name_of(event) == "ready":
            assert event.ready.image_digest.startswith("sha256:")
            break
    await image_machine.client.close(request.session_id)
    assert texts == []


@pytest.mark.builds
async def test_a_build_that_fails_ends_the_session_with_the_step(
    image_machine: Machine, alice: Person, registry: ImageRegistry
) -> None:
    request = session_request([alice], slots=SLOTS[0], **build_of(registry, "FROM BASE\nRUN echo why; exit 5\n"))
    texts: list[str] = []
    async for event in image_machine.client.events(request):
        texts += [event.building.text] if name_of(event) == "building" else []
        if name_of(event) == "ended":
            assert event.ended.reason == session_pb2.SESSION_END_REASON_IMAGE
            assert "The image of the Dockerfile cannot be used: STEP 2/2: RUN echo why; exit 5: " in event.ended.details
    assert "STEP 2/2" in "\n".join(texts)
    assert "\nwhy" in "\n".join(texts)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"build_digest": "sha256:" + "0" * 64, "build_context": b"x"}, "build_context"),
        ({"build_digest": context_digest(b""), "image": "registry.example/tiny:1"}, "build_digest"),
        ({"preserve_entrypoint": True}, "preserve_entrypoint"),
    ],
)
async def test_a_request_for_a_build_that_is_wrong_is_refused(
    image_machine: Machine, alice: Person, fields: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await image_machine.client.events(session_request([alice], slots=SLOTS[0], **fields)).reach("ended")
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert wrong in (refused.value.details() or "")


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("{registry}/tiny:none", "has no such image"),
        ("{registry}/none:1", "has no such image"),
        ("elsewhere.example/tiny:1", "images may come from {registry}, and not from elsewhere.example"),
        ("169.254.169.254/tiny:1", "and not from 169.254.169.254 (EXECUTOR_IMAGE_REGISTRIES)"),
        ("{registry}/tiny@sha256:" + "0" * 64, "has no such image"),
    ],
)
async def test_a_wrong_image_ends_the_session_with_the_reason(
    image_machine: Machine, alice: Person, registry: ImageRegistry, image: str, reason: str
) -> None:
    request = session_request([alice], slots=SLOTS[0], image=image.format(registry=registry.address))
    ended = (await image_machine.client.events(request).reach("ended")).ended

    assert ended.reason == session_pb2.SESSION_END_REASON_IMAGE
    assert reason.format(registry=registry.address) in ended.details


async def test_a_machine_without_the_setting_names_it(machine: Machine, alice: Person) -> None:
    request = session_request([alice], image="registry.example/tiny:1")
    ended = (await machine.client.events(request).reach("ended")).ended
    assert ended.reason == session_pb2.SESSION_END_REASON_IMAGE
    assert "this machine takes no images (EXECUTOR_IMAGE_REGISTRIES)" in ended.details
