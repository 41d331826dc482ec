"""What ssh reads about reservations, read by the real ssh."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import (
    ACTIVE,
    HOST_KEY,
    ID,
    ONE,
    OTHER,
    OTHER_ID,
    RESERVATIONS,
    introduce,
    listed,
)
from wavepool_client.errors import InputError
from wavepool_client.http.connection import Connection
from wavepool_client.ssh.config_files import config_file, write_config

if TYPE_CHECKING:
    from tests.cli.conftest import ScriptedGateway

OWN = b"Host other\n\tPort 2222\r\n# \xff not text\nHost *\n  User nobody"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> Path:
    introduce(tmp_path, monkeypatch, gateway)
    return tmp_path / "home"


def resolved(config: Path, host: str) -> dict[str, str]:
    """The settings that the real ssh takes from a file."""
    done = subprocess.run(["ssh", "-G", "-F", config, host], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: value for name, _, value in (line.partition(" ") for line in done.stdout.splitlines())}


@pytest.mark.ssh
def test_two_reservations_of_one_second_have_different_hosts_and_files(gateway: ScriptedGateway, home: Path) -> None:
    listed(gateway, ACTIVE, OTHER)
    wavepool("config", "ssh-include", "enable")
    wavepool("reservations")
    hosts = {
        "wp-aaaaaaaa": "wp-aaaaaaaa",
        "training": "wp-aaaaaaaa",
        "wp-bbbbbbbb": "wp-bbbbbbbb",
        "tests": "wp-bbbbbbbb",
        "elsewhere": "elsewhere",
    }
    for host, alias in hosts.items():
        settings = resolved(home / ".ssh" / "config", host)
        assert settings.get("hostkeyalias", host) == alias
        assert (settings.get("stricthostkeychecking") == "true") == (host != "elsewhere")
    gateway.on("GET", f"{RESERVATIONS}/{OTHER_ID}", Answer(OTHER))
    assert wavepool("reservations", "show", "wp-bbbbbbbb", "--json").json["id"] == OTHER_ID


@pytest.mark.ssh
def test_each_of_several_machines_is_a_host_with_a_key_and_a_way_of_its_own(gateway: ScriptedGateway) -> None:
    nodes = [{"rank": rank, "host_key": f"ssh-ed25519 AAAA{rank}", "login_user": "dev"} for rank in range(2)]
    listed(gateway, {**ACTIVE, "nodes": nodes})
    wavepool("reservations")
    for host, alias, rank in (("wp-aaaaaaaa", "wp-aaaaaaaa", ""), ("training-1", "wp-aaaaaaaa-1", "1")):
        settings = resolved(config_file(ID), host)
        assert settings["hostkeyalias"] == alias
        assert settings["proxycommand"].endswith(f"{ID} {rank}".strip())
        known = Path(settings["userknownhostsfile"]).read_text()
        assert known == f"{alias} {nodes[1]['host_key'] if rank else HOST_KEY}\n"


def test_files_of_reservations_that_are_over_are_removed_by_a_list(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE, OTHER)
    wavepool("reservations")
    elsewhere = "res_01KB9X2F22CCCCCCCCCCCCCCCC"
    write_config({**ACTIVE, "id": elsewhere}, Connection("https://elsewhere.example", ""))
    assert config_file(OTHER_ID).exists()

    listed(gateway)
    gateway.on("GET", f"{RESERVATIONS}/{OTHER_ID}", Answer({**OTHER, "state": "expired"}))
    wavepool("reservations")
    assert config_file(ID).exists(), "it is active, although this list does not have it"
    left = sorted(file.name for file in config_file(ID).parent.glob("*.*"))
    assert left == ["aaaaaaaa.conf", "cccccccc.conf", f"{ID}.known_hosts", f"{elsewhere}.known_hosts"]
    gateway.only("GET", ONE, Answer({"title": "Not Found"}, 404))
    wavepool("reservations", "--user", "all")
    assert not config_file(ID).exists()


def test_the_include_line_comes_once_and_goes_without_a_trace(home: Path) -> None:
    config = home / ".ssh" / "config"
    config.write_bytes(OWN)
    config.chmod(0o640)
    (home / ".cursor").mkdir()
    for _ in range(2):
        assert wavepool("config", "ssh-include", "enable").status == 0
    first, _, rest = config.read_bytes().partition(b"\n")
    assert first.startswith(b"Include /")
    assert (rest, config.stat().st_mode & 0o777) == (OWN, 0o640)
    assert (home / ".cursor" / "ssh_config").read_bytes() == first + b"\n"
    for _ in range(2):
        assert wavepool("config", "ssh-include", "disable").status == 0
    assert config.read_bytes() == OWN
    assert (home / ".cursor" / "ssh_config").read_bytes() == b""
    assert wavepool("config", "ssh-include", "on").status == 2


def test_a_config_that_is_a_link_stays_one(home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_bytes(OWN)
    (home / ".ssh" / "config").symlink_to(tmp_path / "dotfiles")
    wavepool("config", "ssh-include", "enable")
    assert (home / ".ssh" / "config").is_symlink()
    assert (tmp_path / "dotfiles").read_bytes().endswith(OWN)


def test_there_is_no_cursor_file_without_its_folder_and_no_config_without_need(home: Path) -> None:
    assert "nothing to do" in wavepool("config", "ssh-include", "disable").err
    assert not (home / ".ssh" / "config").exists()
    wavepool("config", "ssh-include", "enable")
    assert not (home / ".cursor").exists()


def test_a_reservation_takes_no_name_of_peoples_own_hosts(gateway: ScriptedGateway, home: Path) -> None:
    (home / ".ssh" / "config").write_text("Host=gate training\n    HostName 10.0.0.1\n")
    listed(gateway, ACTIVE)
    run = wavepool("ssh-config", "training")
    assert run.out.splitlines()[0] == "Host wp-aaaaaaaa"


def test_ssh_config_says_if_ssh_reads_the_file(gateway: ScriptedGateway) -> None:
    listed(gateway, ACTIVE)
    assert "`wavepool config ssh-include enable`" in wavepool("ssh-config").err
    wavepool("config", "ssh-include", "enable")
    assert "ssh wp-aaaaaaaa" in wavepool("ssh-config").err


@pytest.mark.parametrize(
    "wrong",
    [
        {"login_user": "dev\n    ProxyCommand touch /tmp/x"},
        {"host_key": "ssh-ed25519 AAAA\n* ssh-ed25519 BBBB"},
        {"id": "res_../../x"},
    ],
)
def test_what_a_gateway_says_cannot_become_a_setting(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match="is not safe for ssh"):
        write_config({**ACTIVE, **wrong}, Connection("http://127.0.0.1:1", ""))


def test_a_name_that_is_none_is_left_out() -> None:
    file = write_config({**ACTIVE, "name": "x\n    ProxyCommand touch"}, Connection("http://127.0.0.1:1", ""))
    assert file.read_text().splitlines()[1] == "Host wp-aaaaaaaa"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_is_an_error_and_no_list_fails_for_it(
    gateway: ScriptedGateway, home: Path
) -> None:
    listed(gateway, ACTIVE)
    shutil.rmtree(home / ".ssh")
    (home / ".ssh").write_text("a file")
    assert wavepool("config", "ssh-include", "enable").status == 2
    config_file(ID).parent.parent.mkdir(parents=True, exist_ok=True)
    config_file(ID).parent.write_text("a file")
    assert wavepool("reservations").status == 0
