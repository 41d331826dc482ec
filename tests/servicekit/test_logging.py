from __future__ import annotations

import subprocess
import sys

import orjson
import pytest

SECRET = f"wpt_{'Ab3-_' * 8}xyz"

PROGRAM = """
from servicekit import logging
from servicekit.request_id import set_request_id
logging.configure("demo", "INFO")
log = logging.get_logger("here")
log.debug("hidden")
set_request_id("r1")
log.info("hello", extra={"job_id": "job_1"})
try:
    1 / 0
except ZeroDivisionError:
    log.exception("broken")
"""


def run() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    return [orjson.loads(line) for line in done.stdout.splitlines()], [
        orjson.loads(line) for line in done.stderr.splitlines()
    ]


def test_info_goes_to_stdout_and_errors_to_stderr_as_json_lines() -> None:
    stdout, stderr = run()
    assert [line["message"] for line in stdout] == ["hello"]
    assert [line["message"] for line in stderr] == ["broken"]
    assert stdout[0]["service"] == "demo"
    assert stdout[0]["job_id"] == "job_1"
    assert stdout[0]["request_id"] == "r1"
    assert "ZeroDivisionError" in stderr[0]["traceback"]


def test_no_level_shows_the_values_of_sql_statements() -> None:
    program = """
import logging as python
from servicekit import logging
logging.configure("demo", "DEBUG")
python.getLogger("aiosqlite").debug("executing INSERT INTO ssh_keys ... ssh-ed25519")
logging.get_logger("here").debug("shown")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert [orjson.loads(line)["message"] for line in done.stdout.splitlines()] == ["shown"]


@pytest.mark.parametrize(
    "said",
    [
        f"token {SECRET}",
        f"link {SECRET.replace('wpt_', 'wpl_')}",
        f"GET /api/v1/tokens%3Fx%20{SECRET} HTTP/1.1",
        "< Authorization: Bearer Ab3-_Ab3-_",
        "authorization=Ab3-_Ab3-_",
        "[(b'authorization', b'Ab3-_Ab3-_'), (b'Authorization', b'Basic Ab3-_==')]",
        '{"Authorization": "Ab3-_Ab3-_"}',
        '127.0.0.1:1 - "WebSocket /api/v1/x?node=0&ticket=Ab3-_Ab3-_&after=1" [accepted]',
        "/x?next=%2Fy%3Fticket%3DAb3-_Ab3-_",
    ],
)
def test_no_line_has_a_secret_wherever_it_was_said(said: str) -> None:
    program = f"""
from servicekit import logging
logging.configure("demo", "DEBUG")
log = logging.get_logger("here")
said = {said!r}
log.debug(said)
log.info("with %s", said, extra={{"path": said, "all": [said, {{"deep": said}}]}})
try:
    raise ValueError(said)
except ValueError as error:
    log.exception("broken")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    lines = [orjson.loads(line) for line in (done.stdout + done.stderr).splitlines()]
    assert [line["level"] for line in lines] == ["DEBUG", "INFO", "ERROR"], "each is JSON still"
    assert "***" in lines[0]["message"]
    assert "Ab3" not in done.stdout + done.stderr


def test_what_only_looks_like_a_secret_stays() -> None:
    program = """
from servicekit import logging
logging.configure("demo", "DEBUG")
logging.get_logger("here").info("wpt_Ab3456 14wp_collectives the bearer, tokens=", extra={"prefix": "wpt_Ab3456"})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    line = orjson.loads(done.stdout)
    assert line["message"] == "wpt_Ab3456 14wp_collectives the bearer, tokens="
    assert line["prefix"] == "wpt_Ab3456"


@pytest.mark.parametrize("library", ["httpcore.http11", "uvicorn.error", "websockets.server"])
def test_no_level_shows_what_libraries_of_the_network_carry(library: str) -> None:
    program = f"""
from servicekit import logging
logging.configure("demo", "DEBUG")
logging.get_logger({library!r}).debug("frames")
"""
    assert not subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
