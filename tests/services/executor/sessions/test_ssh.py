"""Real ssh, sftp and rsync into real sessions, through Connect."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from pathlib import Path

import grpc
import pytest
from wavepool.executor.v1 import session_pb2

from services.executor.sandboxes.process_tree import descendants
from services.executor.sessions.access import orders
from tests.services.executor.client import until
from tests.services.executor.sandboxes.shell import processes_with
from tests.services.executor.sessions.conftest import Machine
from tests.services.executor.sessions.session_client import Person

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap]


async def test_a_command_runs_as_dev_in_the_home_and_gives_its_exit_status(machine: Machine, alice: Person) -> None:
    async with machine.session(alice, environment={"PROJECT": 'a "quoted" \\ name'}) as access:
        status, output = await access.run(alice, 'id -un; pwd; echo "$WAVEPOOL_USER"; echo "$PROJECT"; exit 7')

    assert (status, output.splitlines()) == (7, ["dev", "/home/dev", "alice", 'a "quoted" \\ name'])


async def test_whose_key_it_is_cannot_be_changed_by_the_client(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        sent = ["-o", "SetEnv=WAVEPOOL_USER=mallory WAVEPOOL_NOTE=mine"]
        assert await access.run(alice, "echo $WAVEPOOL_USER $WAVEPOOL_NOTE", *sent) == (0, "alice mine\n")


async def test_programs_learn_their_share_of_the_processors(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        cores = len(os.sched_getaffinity(0))
        assert await access.run(alice, "nproc; echo $OMP_NUM_THREADS") == (0, f"{cores}\n{cores}\n")


async def test_a_terminal_has_a_pty_and_the_exit_status_of_its_shell(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access, access.terminal(alice) as terminal:
        await terminal.type("tty")
        await terminal.see("/dev/pts/0")
        await terminal.type("echo PATH is $PATH.")
        await terminal.see("PATH is /usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin.")
        await terminal.type("exit 9")
        assert await terminal.ended() == 9


async def test_files_come_and_go_by_sftp(machine: Machine, alice: Person, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(3 << 20))
    async with machine.session(alice) as access:
        process = await access.start(alice, "-b", "-", "dev@session", program="sftp", stdin=PIPE)
        output, _ = await process.communicate(f"put {sent} there\nget there {tmp_path}/back\n".encode())
        assert process.returncode == 0, output

    assert (tmp_path / "back").read_bytes() == sent.read_bytes()


@pytest.mark.rsync
async def test_folders_are_synchronised_by_rsync(machine: Machine, alice: Person, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("hello")
    async with machine.session(alice) as access:
        shell = " ".join(f"'{word}'" for word in ("ssh", *access.options(alice)))
        process = await asyncio.create_subprocess_exec("rsync", "-a", "-e", shell, tmp_path / "folder", "dev@session:")
        assert await process.wait() == 0
        assert await access.run(alice, "cat folder/file") == (0, "hello")


async def test_all_connections_are_in_one_space_of_processes_and_files(
    machine: Machine, alice: Person, bob: Person
) -> None:
    async with machine.session(alice, bob) as access:
        assert await access.run(alice, "(setsid sleep 4711 >/dev/null 2>&1 &); touch mark") == (0, "")
        assert await access.run(bob, "pgrep -f 'sleep 471[1]' >/dev/null && ls; echo $WAVEPOOL_USER") == (
            0,
            "mark\nbob\n",
        )


async def test_an_agent_that_is_forwarded_signs_there_and_is_gone_with_the_connection(
    machine: Machine, alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    agent = await asyncio.create_subprocess_exec("ssh-agent", "-D", "-a", tmp_path / "agent", stdout=PIPE)
    try:
        assert agent.stdout is not None
        await agent.stdout.readline()
        assert await (await asyncio.create_subprocess_exec("ssh-add", "-q", alice.identity)).wait() == 0
        async with machine.session(alice) as access:
            listed = await access.run(alice, "ssh-add -l && echo $SSH_AUTH_SOCK > socket", "-o", "ForwardAgent=yes")
            assert (listed[0], alice.fingerprint in listed[1]) == (0, True), listed
            assert (await access.run(alice, "test -e $(cat socket)"))[0] == 1
            # Whoever is let in could use it: nobody new comes in as long as it is there.
            async with access.terminal(alice, "-o", "ForwardAgent=yes") as terminal:
                await terminal.type("ssh-add -l | wc -l | sed 's/^/keys: /'")
                await terminal.see("keys: 1")
                keys = session_pb2.SessionKeys(keys=[alice.key, bob.key])
                await machine.client.update(access.session_id, keys=keys)
                await terminal.see("New keys open this session, of bob. Forwarded ssh agents are cut off")
                await terminal.type("test -e $SSH_AUTH_SOCK || echo 'go'ne")
                await terminal.see("gone")
                assert (await access.run(bob, "ls -d /tmp/ssh-*/*"))[0] == 2
    finally:
        agent.kill()
        await agent.wait()


async def test_another_key_opens_nothing(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice) as access:
        status, output = await access.run(bob, "id")

    assert status == 255
    assert "Permission denied (publickey)" in output


@pytest.mark.parametrize("user", ["root", "nobody"])
async def test_nobody_but_dev_logs_in(machine: Machine, alice: Person, user: str) -> None:
    async with machine.session(alice) as access:
        process = await access.start(alice, f"{user}@session", "id")
        output, _ = await process.communicate()

    assert process.returncode == 255
    assert b"Permission denied (publickey)" in output


async def test_each_session_has_its_own_host_key_and_ssh_refuses_another(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as first:
        host_key = first.host_key
    await first.events.reach("ended")
    async with machine.session(alice) as second:
        assert second.host_key != host_key
        second.known_hosts.write_text(f"session {host_key}\n")
        status, output = await second.run(alice, "id")

    assert status == 255
    assert "Host key verification failed" in output


async def test_logins_and_logouts_are_events_with_user_and_fingerprint(
    machine: Machine, alice: Person, bob: Person
) -> None:
    async with machine.session(alice, bob) as access:
        await access.run(bob, "true")
        login = (await access.events.reach("login")).login
        logout = (await access.events.reach("logout")).logout

    assert (login.user, login.fingerprint) == ("bob", bob.fingerprint)
    assert (logout.connection, logout.user) == (login.connection, "bob")


async def test_a_login_of_which_the_session_tells_when_its_connection_is_over_is_an_event_all_the_same(
    machine: Machine, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with machine.session(bob) as access:
        (its_session,) = machine.server.sessions._sessions.values()
        take, late = its_session.logins.take_step, list[tuple[int, str, str]]()
        monkeypatch.setattr(its_session.logins, "take_step", lambda *step: late.append(step))
        await access.run(bob, "true")
        await until(lambda: "closed" in {kind for _, kind, _ in late} and not its_session.logins._tunnels)
        monkeypatch.undo()
        for step in late:
            take(*step)

        login = (await access.events.reach("login")).login
        logout = (await access.events.reach("logout")).logout

    assert (login.user, logout.connection) == ("bob", login.connection)


@pytest.mark.parametrize("disguise", ["", "env -u WAVEPOOL_USER", "env WAVEPOOL_USER=alice"])
async def test_a_removed_user_is_cut_off_with_everything_that_they_left_running(
    machine: Machine, alice: Person, bob: Person, disguise: str
) -> None:
    async with machine.session(alice, bob) as access, access.terminal(alice) as hers, access.terminal(bob) as his:
        await access.run(bob, f"(setsid {disguise} sleep 4712 >/dev/null 2>&1 &)")
        await his.type(f"setsid {disguise} sleep 4712 & echo 'start'ed")
        await his.see("started")

        keys = session_pb2.SessionKeys(keys=[alice.key])
        await machine.client.update(access.session_id, keys=keys)

        assert await his.ended() == 255
        assert (await access.run(bob, "id"))[0] == 255
        await hers.type("pgrep -f 'sleep 471[2]' || echo 'no'body")
        await hers.see("nobody")


async def test_nothing_in_the_home_makes_a_login_another_users(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice, bob) as access:
        await access.run(bob, "mkdir -p .ssh; printf 'WAVEPOOL_USER=bob\\nNOTE=x\\n' >.ssh/environment")
        async with access.terminal(alice) as hers:
            await hers.type("echo I am $WAVEPOOL_USER with -$NOTE-.")
            await hers.see("I am alice with --.")
            await machine.client.update(access.session_id, keys=session_pb2.SessionKeys(keys=[alice.key]))
            await hers.type("echo still 'he're")
            await hers.see("still here")


async def test_what_keeps_a_connections_processes_lets_no_debugger_in_and_takes_them_along_if_it_is_killed(
    machine: Machine, alice: Person, bob: Person
) -> None:
    keeper = "k=$PPID; until grep -q supervisor /proc/$k/cmdline; do k=$(awk '{print $4}' /proc/$k/stat); done"
    async with machine.session(alice, bob) as access, access.terminal(alice) as hers, access.terminal(bob) as his:
        await his.type(f"setsid env -i sleep 4715 & {keeper}; ls /proc/$k/fd; echo 'was' $k")
        await his.see("Permission denied")
        await his.see("was ")
        await his.type("kill -9 $k")
        assert await his.ended() == 255
        await hers.type("while pgrep -f 'sleep 471[5]'; do sleep 0.1; done; echo 'no'body")
        await hers.see("nobody")
        assert (await access.run(bob, "echo $WAVEPOOL_USER")) == (0, "bob\n")


async def test_whoever_stops_a_session_s_first_program_keeps_nobody_s_programs_in_it(
    machine: Machine, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "WAKE_SECONDS", 0.05)
    async with machine.session(alice, bob) as access:
        await access.run(bob, "setsid sleep 4721 >/dev/null 2>&1 &")
        await access.events.reach("logout")
        await access.run(alice, "pkill -STOP -f '^/[^ ]*python.*/session/supervisor.py'")
        await machine.client.update(access.session_id, keys=session_pb2.SessionKeys(keys=[alice.key]))
        assert not processes_with("sleep\x004721")


async def test_a_removal_counts_only_once_the_session_says_that_what_was_left_has_ended(
    machine: Machine, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if it were stopped again at once, each time.
    monkeypatch.setattr(orders, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(orders, "WAKE_SECONDS", 60)
    keys = session_pb2.SessionKeys(keys=[alice.key])
    async with machine.session(alice, bob) as access:
        await access.run(bob, "setsid sleep 4720 >/dev/null 2>&1 &")
        await access.events.reach("logout")
        supervisors = [pid for pid in descendants(os.getpid()) if pid in processes_with("/session/supervisor.py")]
        for pid in supervisors:
            os.kill(pid, signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(grpc.aio.AioRpcError):
                await machine.client.update(access.session_id, keys=keys)
            assert processes_with("sleep\x004720")
        for pid in supervisors:
            os.kill(pid, signal.SIGCONT)
        monkeypatch.undo()
        await machine.client.update(access.session_id, keys=keys)
        assert not processes_with("sleep\x004720")
        assert (await access.run(alice, "id"))[0] == 0


async def test_an_added_user_gets_in_at_once(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice) as access:
        keys = session_pb2.SessionKeys(keys=[alice.key, bob.key])
        await machine.client.update(access.session_id, keys=keys)

        assert await access.run(bob, "echo $WAVEPOOL_USER") == (0, "bob\n")


async def test_a_text_is_written_to_every_terminal(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice, bob) as access, access.terminal(alice) as hers, access.terminal(bob) as his:
        assert await machine.client.notify(access.session_id, "Lunch is ready,\n\tcome down.") == 2

        for terminal in (hers, his):
            await terminal.see("*** Lunch is ready,")
            await terminal.see("come down.")


async def test_a_client_that_vanishes_ends_its_shell_and_no_more(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        async with access.terminal(alice):
            await access.events.reach("login")
        await access.events.reach("logout")

        assert await access.run(alice, "echo still here") == (0, "still here\n")


@pytest.mark.tmux
async def test_a_kept_shell_outlives_its_connection_and_has_its_own_exit_status(
    machine: Machine, alice: Person
) -> None:
    async with machine.session(alice) as access:
        async with access.kept(alice, "mine") as shell:
            await shell.see("Welcome to Wavepool")
            await shell.type("number=41; cd /workspace; echo 'read'y $WAVEPOOL_USER")
            await shell.see("ready alice")
        await access.events.reach("logout")
        async with access.kept(alice, "mine", "again") as shell:
            await shell.type("echo still $((number + 1)) in $PWD")
            await shell.see("still 42 in /workspace")
            assert await machine.client.notify(access.session_id, "Lunch is ready") == 1
            await shell.see("*** Lunch is ready")
            await shell.type("exit 7")
            assert await shell.ended() == 7
        assert await access.run(alice, "ls /tmp | grep wavepool; pgrep tmux") == (1, "")


@pytest.mark.tmux
@pytest.mark.parametrize(
    ("environment", "why"), [("", "nothing of it is left"), ("PATH=/session;", "there is no tmux here")]
)
async def test_a_shell_that_could_not_be_kept_is_a_new_one_and_says_so(
    machine: Machine, alice: Person, environment: str, why: str
) -> None:
    async with (
        machine.session(alice) as access,
        access.kept(alice, "mine", "again", environment=environment) as shell,
    ):
        await shell.see(f"this is a new shell; the one before is gone: {why}")
        await shell.type("exit 7")
        assert await shell.ended() == 7


@pytest.mark.tmux
async def test_a_kept_shell_ends_with_the_right_to_log_in(machine: Machine, alice: Person, bob: Person) -> None:
    async with machine.session(alice, bob) as access:
        async with access.kept(bob, "his") as shell:
            await shell.see("Welcome to Wavepool")
        await machine.client.update(access.session_id, keys=session_pb2.SessionKeys(keys=[alice.key]))
        assert await access.run(alice, "pgrep tmux") == (1, "")


async def test_a_tunnel_closes_one_way_before_the_other(machine: Machine, alice: Person) -> None:
    async with machine.session(alice) as access:
        process = await access.start(alice, "dev@session", "sort; echo end", stdin=PIPE)
        # ssh closes its side while the answer is still to come.
        output, _ = await process.communicate(b"b\na\n" * 50_000)

    assert output == b"a\n" * 50_000 + b"b\n" * 50_000 + b"end\n"
