"""`wavepool forward`, `jupyter` and `tensorboard`, with an ssh that runs commands here and forwards nothing."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool
from tests.cli.reservation_scenes import ACTIVE, ID, ONE, QUEUED, introduce, listed, session_on_this_machine
from wavepool_client.errors import UnreachableError
from wavepool_client.http.connection import Connection
from wavepool_client.ssh.forwarding import forwarding, free_port
from wavepool_client.ssh.remote import remote_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gateway: ScriptedGateway) -> Path:
    """The home in the session."""
    introduce(tmp_path, monkeypatch, gateway)
    listed(gateway, ACTIVE)
    return session_on_this_machine(tmp_path, monkeypatch)


def has(session: Path, name: str, script: str) -> None:
    """Puts a program into the session's path: our folder there."""
    program = session / ".wavepool" / name / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(("command", "package"), [("jupyter", "jupyterlab"), ("tensorboard", "tensorboard")])
def test_a_program_that_is_not_there_is_told_with_what_to_do(command: str, package: str) -> None:
    result = wavepool(command, "--no-browser", "--port", "0")
    assert result.status == 2
    assert f"add --install, or install `{package}` there" in result.err


def test_a_program_that_ends_at_once_is_told_with_its_last_words(session: Path) -> None:
    has(session, "tensorboard", 'echo "no such option: $1" >&2; exit 3')
    result = wavepool("tensorboard", "--no-browser", "--port", "0")
    assert result.status == 3
    assert "it ended with status 3:\nno such option: --logdir" in result.err


UV = """
echo uv "$1 $2" >>"$HOME/made-by"
[ "$1" = --quiet ] && shift
case $1 in
venv) for folder; do :; done; mkdir -p "$folder/bin" ;;
pip) {install} ;;
esac
"""
INSTALLED = 'printf "#!/bin/sh\\nexit 7\\n" >"${4%/*}/tensorboard"; chmod +x "${4%/*}/tensorboard"'
PYTHON = """
echo python "$1 $2" >>"$HOME/made-by"
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$5 $6" >>"$HOME/made-by"; echo "no index" >&2; exit 9\\n' >"$3/bin/python"
chmod +x "$3/bin/python"
"""


def in_path(tmp_path: Path, name: str, script: str) -> None:
    program = tmp_path / "bin" / name
    program.write_text(f"#!/bin/sh{script}")
    program.chmod(0o755)


def test_a_missing_program_is_installed_with_uv(session: Path, tmp_path: Path) -> None:
    in_path(tmp_path, "uv", UV.format(install=INSTALLED))
    result = wavepool("tensorboard", "--install", "--no-browser", "--port", "0")
    assert "it ended with status 7" in result.err
    assert (session / "made-by").read_text() == "uv --quiet venv\nuv --quiet pip\n"


def test_a_missing_program_is_installed_with_pip_if_uv_cannot(session: Path, tmp_path: Path) -> None:
    in_path(tmp_path, "uv", UV.format(install="exit 1"))
    in_path(tmp_path, "python3", PYTHON)
    result = wavepool("tensorboard", "--install", "--no-browser", "--port", "0")
    assert "no index" in result.err
    made_by = (session / "made-by").read_text()
    assert made_by == "uv --quiet venv\nuv --quiet pip\npython -m venv\ninstall tensorboard\n"


def test_a_folder_that_is_not_there_is_told(session: Path) -> None:
    has(session, "jupyter-lab", "exec cat")
    result = wavepool("jupyter", ID, "--no-browser", "--port", "0", "--folder", "no such")
    assert result.status == 3
    assert "no such" in result.err


def test_the_token_is_given_as_input_and_is_no_argument(session: Path) -> None:
    has(session, "jupyter-lab", 'echo "$JUPYTER_TOKEN" >token; echo "$@" >words; exit 1')
    (session / "a b").mkdir()
    assert wavepool("jupyter", ID, "--no-browser", "--port", "0", "--folder", "~/a b").status == 3
    token, words = ((session / "a b" / name).read_text().strip() for name in ("token", "words"))
    assert len(token) == 32
    assert token not in words
    assert "--ip=127.0.0.1" in words


@pytest.mark.parametrize("words", [("forward", "8000"), ("jupyter",), ("tensorboard",)])
def test_a_reservation_that_has_not_begun_has_nothing_to_show(gateway: ScriptedGateway, words: tuple[str, ...]) -> None:
    gateway.only("GET", ONE, Answer(QUEUED))
    result = wavepool(*words, ID)
    assert result.status == 2
    assert "is queued and does not accept logins: it starts" in result.err


@pytest.mark.parametrize("words", [("forward", "0"), ("forward", "70000"), ("forward", "8000", "--port", "-1")])
def test_what_is_no_port_is_refused(words: tuple[str, ...]) -> None:
    result = wavepool(*words)
    assert result.status == 2
    assert "PORT" in result.err or "--port" in result.err


def test_a_port_that_is_taken_is_replaced_by_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


def test_a_port_that_is_named_and_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = wavepool("forward", "8000", "--port", str(port))
        assert (result.status, f"--port: {port} cannot be used" in result.err) == (2, True)
        assert "(Address already in use); give another, or 0 for any free one" in result.err


def test_a_program_ends_when_its_input_does(gateway: ScriptedGateway, session: Path) -> None:
    remote = remote_of(ACTIVE, Connection(gateway.endpoint, ""))
    with forwarding(remote, free_port(0), 1, "echo begun >state; cat >/dev/null; echo ended >state"):
        pass
    assert (session / "state").read_text() == "ended\n"


def test_what_does_not_answer_in_time_is_told(gateway: ScriptedGateway) -> None:
    remote = remote_of(ACTIVE, Connection(gateway.endpoint, ""))
    with (
        forwarding(remote, free_port(0), 1, "cat >/dev/null") as forwarded,
        pytest.raises(UnreachableError, match=r"it did not answer within 0\.1 s"),
    ):
        forwarded.wait_until_it_answers("/", "", seconds=0.1)
