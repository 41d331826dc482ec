"""Billing as a process, which tells a real receiver."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from wavepool.billing.v1 import billing_pb2 as pb
from wavepool.billing.v1.alerts_pb2 import ListAlertHistoryRequest
from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceStub
from wavepool.billing.v1.billing_pb2_grpc import BillingServiceStub

from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.server import build_stores
from tests.service_token import SERVICE_TOKEN, TOKEN_SETTING, AllowedCaller
from tests.services.billing.alerts.web_receiver import web_receiver
from vocabulary.ports import free_port

if TYPE_CHECKING:
    from wavepool.billing.v1.alerts_pb2_grpc import AlertServiceAsyncStub
    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub

DEADLINE_SECONDS = 90
"""Enough for a process that starts on a busy computer."""


@contextmanager
def billing_process(folder: Path, **settings: str) -> Generator[str]:
    port = free_port()
    environment = {
        "BILLING_DATA_DIR": str(folder),
        "BILLING_PORT": str(port),
        "BILLING_METRICS_PORT": "0",
        **TOKEN_SETTING,
        **settings,
    }
    with (folder / "billing.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.billing"], env={**os.environ, **environment}, stdout=log, stderr=log
        )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(DEADLINE_SECONDS)


async def test_a_settlement_that_crosses_is_posted_and_a_kill_loses_no_message(tmp_path: Path) -> None:
    with web_receiver() as receiver:
        channels = json.dumps([{"name": "ops", "kind": "webhook", "url": receiver.url, "secret": "hush"}])
        settings = {"BILLING_ALERT_CHANNELS": channels}
        with billing_process(tmp_path, **settings) as target:
            async with AllowedCaller(target, SERVICE_TOKEN) as channel, asyncio.timeout(DEADLINE_SECONDS):
                billing = BillingServiceStub(channel)
                account_id = await spend_900_of_1000(billing, tmp_path)
                await asyncio.to_thread(receiver.next)
                receiver.statuses = [503]
                credit = pb.GrantCreditRequest(account_id=account_id, amount_micros=10**9, idempotency_key="more")
                await billing.GrantCredit(credit)
                await asyncio.to_thread(receiver.next)
                while await last_failure(AlertServiceStub(channel)) != "it answered HTTP 503":
                    pass
        with billing_process(tmp_path, **settings):
            await asyncio.to_thread(receiver.next)
    posted = [json.loads(one.body) for one in receiver.posted]
    assert [one["event"] for one in posted] == ["fired", "resolved", "resolved"]
    assert posted[0]["id"] != posted[1]["id"] == posted[2]["id"]
    assert posted[0]["summary"] == "ada has spent $900.00 of its credit of $1,000.00 (90.0%)."
    assert "hush" not in (tmp_path / "billing.log").read_text()


async def spend_900_of_1000(billing: BillingServiceAsyncStub, data_dir: Path) -> str:
    await billing.ListBudgets(pb.ListBudgetsRequest(), wait_for_ready=True)
    settings = BillingSettings(data_dir=data_dir)
    db = Database(settings.resolved_database_url("billing"))
    account_id = (await build_stores(db, settings).accounts.create("ada")).account_id
    await db.close()
    grant = pb.GrantCreditRequest(account_id=account_id, amount_micros=10**9, idempotency_key="first")
    await billing.GrantCredit(grant)
    hold = pb.ReserveCreditRequest(account_id=account_id, amount_micros=9 * 10**8, idempotency_key="job:1")
    hold_id = (await billing.ReserveCredit(hold)).hold_id
    charge = pb.SettleChargeRequest(hold_id=hold_id, amount_micros=9 * 10**8, idempotency_key="job:1:1")
    await billing.SettleCharge(charge)
    return account_id


async def last_failure(alerts: AlertServiceAsyncStub) -> str:
    page = await alerts.ListAlertHistory(ListAlertHistoryRequest(page_size=1))
    return page.transitions[0].deliveries[0].failure


@pytest.mark.parametrize("arguments", [(), ("--check-settings",)])
def test_a_wrong_channel_ends_the_process_with_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    channels = '[{"name": "ops", "kind": "webhook", "url": "hush"}]'
    environment = {
        **os.environ,
        **TOKEN_SETTING,
        "BILLING_DATA_DIR": str(tmp_path),
        "BILLING_PORT": "0",
        "BILLING_ALERT_CHANNELS": channels,
    }
    ended = subprocess.run(
        [sys.executable, "-m", "services.billing", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert ended.returncode == os.EX_CONFIG
    assert ended.stderr == ("BILLING_ALERT_CHANNELS: entry 0 (ops): url: must be a URL that begins with https://\n")
