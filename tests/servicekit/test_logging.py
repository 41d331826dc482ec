from __future__ import annotations

import subprocess
import sys

import orjson

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
