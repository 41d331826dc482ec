"""Requests that schemathesis generates from the OpenAPI document, sent to a whole Wavepool of real processes.

Nobody wrote these requests, unlike those of our other tests. No answer may be a 5xx, have an undocumented status,
content type or body, accept input that the document forbids, or do without a token.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.wavepool_processes import Wavepool, start

# In the same folder as our own command: it is not on the path if the environment is not activated.
PROGRAM = Path(sysconfig.get_path("scripts")) / "schemathesis"
# A valid submission runs, and its answer ends with the run: some seconds for each.
STREAMS = "^/api/(amd/submit|submissions/(direct-submit|checker|benchmark|sample|sandbox))$"
READINESS = "/readyz"
"""Is rightly a 503 while a service does not answer for a second, as on a busy machine."""
LEAST_CASES = 20
"""A run whose time was over before it began proves nothing."""
OPTIONS = (
    "--no-color",
    "--continue-on-failure",
    # Not covered by the document: an existing GPU type, language and problem, credit, and the limit on jobs.
    "--exclude-checks=positive_data_acceptance",
    "--request-timeout=60",
)


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wavepool]:
    """A Wavepool for this test alone: generated requests fill queues, and make and end machines and tokens."""
    # One request of each operation has a token that does not work, which are more in a minute than an address may send.
    running = start(tmp_path_factory.mktemp("wavepool"), GATEWAY_BAD_TOKENS_PER_MINUTE="0")
    yield running
    running.stop()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "budget",
    [
        # Some 600 cases that follow from the document, then others until the time is over.
        (
            f"--exclude-path-regex={STREAMS}",
            f"--exclude-path={READINESS}",
            "--phases=examples,coverage,fuzzing",
            "--max-time=30",
        ),
        # Some 300 cases, which end by themselves sooner.
        (f"--include-path-regex={STREAMS}", "--phases=coverage", "--mode=negative", "--max-time=30"),
    ],
    ids=["routes that answer at once", "routes that answer with a stream"],
)
def test_no_request_is_answered_otherwise_than_documented(
    wavepool: Wavepool, tmp_path: Path, budget: tuple[str, ...]
) -> None:
    token = (wavepool.data_dir / "token").read_text().strip()
    same_each_time = os.environ.get("REQUIRE_ALL") == "1"
    generation = "--generation-deterministic" if same_each_time else "--generation-database=none"
    done = subprocess.run(
        [
            PROGRAM,
            "run",
            f"{wavepool.endpoint}/api/openapi.json",
            f"--header=Authorization: Bearer {token}",
            *OPTIONS,
            generation,
            *budget,
        ],
        cwd=tmp_path,
        env=os.environ | {"NO_PROXY": "*"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = re.search(r"(\d+) generated", done.stdout)
    assert cases, done.stdout
    assert int(cases[1]) >= LEAST_CASES, done.stdout
