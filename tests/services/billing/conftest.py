"""Billing on a real database, alone and behind its server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from wavepool.billing.v1 import alerts_pb2_grpc, billing_pb2_grpc, identity_pb2_grpc, prices_pb2_grpc

from servicekit.clock import SystemClock
from servicekit.db import database
from services.billing.config import BillingSettings
from services.billing.server import Alerting, build_alerting, build_server, build_stores
from services.billing.service.billing_service import Stores
from tests.schemas import migrate
from tests.service_token import AllowedCaller


@pytest.fixture
def schema() -> str:
    return "services.billing:migrations"


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> BillingSettings:
    return BillingSettings(port=0, data_dir=tmp_path / "data", database_url=database_url)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[database.Database]:
    db = database.Database(database_url)
    await migrate(db, "services.billing:migrations")
    yield db
    await db.close()


@pytest.fixture
def stores(db: database.Database, settings: BillingSettings) -> Stores:
    return build_stores(db, settings)


@pytest.fixture
def alerting(db: database.Database, settings: BillingSettings) -> Alerting:
    return build_alerting(db, settings, SystemClock())


@pytest.fixture
async def channel(settings: BillingSettings, stores: Stores, alerting: Alerting) -> AsyncIterator[grpc.aio.Channel]:
    """To a running server."""
    server = build_server(settings, stores, alerting)
    await server.start()
    async with AllowedCaller(f"127.0.0.1:{server.port}", settings.service_token()) as channel:
        yield channel
    await server.stop()


@pytest.fixture
def billing(channel: grpc.aio.Channel) -> billing_pb2_grpc.BillingServiceAsyncStub:
    return billing_pb2_grpc.BillingServiceStub(channel)


@pytest.fixture
async def identity(channel: grpc.aio.Channel) -> identity_pb2_grpc.IdentityServiceAsyncStub:
    return identity_pb2_grpc.IdentityServiceStub(channel)


@pytest.fixture
async def prices(
    channel: grpc.aio.Channel, settings: BillingSettings, stores: Stores
) -> prices_pb2_grpc.PriceServiceAsyncStub:
    """The price service, whose prices are those of the settings."""
    await stores.prices.take_settings(settings.price_tariffs())
    return prices_pb2_grpc.PriceServiceStub(channel)


@pytest.fixture
def alerts(channel: grpc.aio.Channel) -> alerts_pb2_grpc.AlertServiceAsyncStub:
    return alerts_pb2_grpc.AlertServiceStub(channel)
