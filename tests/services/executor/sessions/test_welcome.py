"""What people find when they log in: facts about their session, caches, a prompt."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest

from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.inventory import DeviceFacts, GpuFacts
from services.executor.sessions.access.welcome import Welcome, software_of
from services.executor.sessions.share import Share
from tests.services.executor.sessions.conftest import Machine
from tests.services.executor.sessions.session_client import Person

GPUS = [GpuFacts(n, title="AMD Instinct MI300X", memory_mib=196_608) for n in range(8)]
SHARE = Share(cores=12.5, memory_mib=262_144, shared_memory_mib=131_072, processes=1000)


def welcome(**facts: object) -> str:
    device = DeviceFacts(GPUS, rocm_version="6.4.1", driver_version="6.12.12")
    usual = {"disk_bytes": 200 << 30, "gpus": [0, 1], "keeps_home": False, "has_network": True, "gaps": ()}
    return Welcome(SHARE, **{"device": device, **usual, **facts}).text  # pyright: ignore - any of them


def test_people_read_what_they_have() -> None:
    assert welcome() == (
        "Welcome to Wavepool.\n"
        "  GPUs       2 x AMD Instinct MI300X, 192 GiB\n"
        "  software   driver 6.12.12, ROCm 6.4.1\n"
        "  share      12.5 processors, 256 GiB of memory, /dev/shm 128 GiB, disk 200 GiB\n"
        "  /home/dev  is removed at the end: copy out what you need\n"
        "  /workspace is removed at the end; caches of downloads are in it\n"
        "  network    the internet, by IPv4\n"
    )


def test_an_image_is_named_and_the_rocm_is_its_own() -> None:
    said = welcome(image="registry.example/rocm:6.2")

    assert "  software   driver 6.12.12\n" in said
    assert "  image      registry.example/rocm:6.2\n" in said


def test_what_is_not_known_is_left_out() -> None:
    said = welcome(device=DeviceFacts())

    assert "GPUs" not in said
    assert "software" not in said


def test_people_read_what_is_kept_and_what_is_not_held_back() -> None:
    said = welcome(keeps_home=True, has_network=False, gaps=("a session can fill the disk",))

    assert "/home/dev  is kept after the end\n" in said
    assert "network    none\n" in said
    assert said.endswith("  note: a session can fill the disk\n")


def test_versions_that_are_not_known_are_none() -> None:
    known = DeviceFacts(GPUS, rocm_version="6.4.1", driver_version="6.12.12")

    assert software_of(known) == {"driver": "6.12.12", "rocm": "6.4.1"}
    assert software_of(DeviceFacts()) == {}


@pytest.mark.sshd
@pytest.mark.bubblewrap
class TestLogin:
    async def test_a_login_shows_the_welcome_and_the_time_left_of_this_moment(
        self, machine: Machine, alice: Person
    ) -> None:
        async with machine.session(alice, minutes=90.5) as access:
            first = await access.start(alice, "-tt", "dev@session", stdin=-1)
            output, _ = await first.communicate(b"exit\n")
            said = output.decode()
            end = machine.clock.now() + timedelta(minutes=240.5)
            await machine.client.update(access.session_id, end_time=instant_to_proto(end))
            second = await access.start(alice, "-tt", "dev@session", stdin=-1)
            later, _ = await second.communicate(b"exit\n")

        assert "Welcome to Wavepool." in said
        assert "/home/dev  is removed at the end" in said
        assert "network    none" in said
        assert "in 1 h 30 min; for more time: wavepool extend HOURS" in said or "in 1 h 29 min" in said
        assert "in 4 h 00 min" in later.decode() or "in 3 h 59 min" in later.decode()
        assert "dev@wp-" in said

    async def test_a_login_that_is_left_at_once_has_not_failed(self, machine: Machine, alice: Person) -> None:
        async with machine.session(alice) as access:
            shell = await access.start(alice, "-tt", "dev@session", stdin=-1)
            output, _ = await shell.communicate(b"exit\n")

        assert shell.returncode == 0, output

    async def test_commands_and_copies_show_nothing_of_it(self, machine: Machine, alice: Person) -> None:
        async with machine.session(alice) as access:
            assert await access.run(alice, "echo only this") == (0, "only this\n")
            assert await access.run(alice, "bash -lc 'echo only this'") == (0, "only this\n")
            copy = await access.start(alice, "dev@session:/etc/hosts", "/dev/stdout", program="scp")
            output, _ = await copy.communicate()

        assert b"Welcome" not in output

    async def test_caches_are_in_a_folder_that_goes_with_the_session(self, machine: Machine, alice: Person) -> None:
        names = ("HF_HOME", "XDG_CACHE_HOME", "CCACHE_DIR", "PIP_CACHE_DIR", "UV_CACHE_DIR")
        command = f"for name in {' '.join(names)}; do eval mkdir -p \\$$name; eval touch \\$$name/file; done; ls -A"
        async with machine.session(alice, home="kept") as access:
            said = await access.run(alice, f"{command}; find /workspace -name file | sort")
        await access.events.reach("ended")
        async with machine.session(alice, home="kept") as access:
            after = await access.run(alice, "ls -A /workspace ~")

        folders = ("ccache/", "", "huggingface/", "pip/", "uv/")
        assert said == (0, "".join(f"/workspace/.cache/{folder}file\n" for folder in folders))
        assert after == (0, "/home/dev:\n\n/workspace:\n")

    async def test_the_usual_files_of_bash_are_read(self, machine: Machine, alice: Person) -> None:
        async with machine.session(alice) as access:
            await access.run(alice, "echo 'echo from bashrc' > .bashrc")
            async with access.terminal(alice) as terminal:
                await terminal.type("echo $PATH $LANG; shopt login_shell")
                await terminal.see("/usr/local/bin:/usr/bin")
                await terminal.see("login_shell")
            shell = await access.start(alice, "-tt", "dev@session", stdin=-1)
            output, _ = await shell.communicate(b"exit\n")
        assert b"from bashrc" in output

    @pytest.mark.parametrize(
        "command",
        [
            "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log | cat",
            "tmux new-session -d 'read x' && tmux list-sessions && tmux kill-server",
            "zsh -ic 'echo $WAVEPOOL_USER'",
            "vim.tiny -es -c 'wq! written' /etc/hosts && cat written",
        ],
    )
    async def test_the_usual_programs_of_the_machine_work(self, machine: Machine, alice: Person, command: str) -> None:
        program = command.split(maxsplit=1)[0]
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        async with machine.session(alice) as access:
            status, said = await access.run(alice, f"export TERM=xterm; {command}")

        assert status == 0, said
        assert said

    @pytest.mark.parametrize(("sent", "got"), [("xterm-unheard-of", "xterm-256color"), ("xterm", "xterm")])
    async def test_a_terminal_that_is_not_known_becomes_one_that_is(
        self, machine: Machine, alice: Person, sent: str, got: str
    ) -> None:
        async with machine.session(alice) as access, access.terminal(alice) as terminal:
            await terminal.type(f"TERM={sent}; . /etc/profile; echo is-$TERM.")
            await terminal.see(f"is-{got}.")
