"""Billing as a process, with an alert channel that others wrote, built and installed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from wavepool.billing.v1.alerts_pb2 import SendTestAlertRequest
from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceStub

from tests.service_token import SERVICE_TOKEN, TOKEN_SETTING, AllowedCaller
from vocabulary.ports import free_port

DEADLINE_SECONDS = 60


def billing(site: Path, folder: Path, port: int, journal: Path) -> subprocess.Popen[str]:
    """Billing, with a channel whose option says where its file is."""
    environment = {
        **os.environ,
        **TOKEN_SETTING,
        "PYTHONPATH": str(site),
        "BILLING_DATA_DIR": str(folder),
        "BILLING_PORT": str(port),
        "BILLING_METRICS_PORT": "0",
        "BILLING_ALERT_CHANNELS": json.dumps([{"name": "book", "kind": "journal", "path": str(journal)}]),
    }
    command = [sys.executable, "-m", "services.billing"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


async def test_an_installed_channel_takes_notices_from_its_start_until_it_is_closed(site: Path, tmp_path: Path) -> None:
    port, journal = free_port(), tmp_path / "journal"
    process = billing(site, tmp_path, port, journal)
    try:
        async with AllowedCaller(f"127.0.0.1:{port}", SERVICE_TOKEN) as channel, asyncio.timeout(DEADLINE_SECONDS):
            request = SendTestAlertRequest(channel="book")
            answer = await AlertServiceStub(channel).SendTestAlert(request, wait_for_ready=True)
        process.terminate()
        process.communicate(timeout=DEADLINE_SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert [one.failure for one in answer.deliveries] == [""]
    assert [json.loads(line)["event"] for line in journal.read_text().splitlines()] == ["test", "closed"]


def test_a_channel_that_cannot_start_ends_billing_with_its_name_and_the_fault(site: Path, tmp_path: Path) -> None:
    process = billing(site, tmp_path, free_port(), tmp_path / "nowhere" / "journal")
    try:
        _, said = process.communicate(timeout=DEADLINE_SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == os.EX_CONFIG
    assert said.splitlines()[-1].startswith(
        "BILLING_ALERT_CHANNELS: book (kind journal) cannot start: FileNotFoundError: "
    )
