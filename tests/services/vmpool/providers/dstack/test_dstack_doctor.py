"""Faults in dstack are found, and reported with their remedies."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dstack.version import __version__ as client_version

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.machines.offer import Offer
from services.vmpool.providers.dstack import doctor
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.provider import ProviderFinding
from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.providers.dstack.dstack_words import CONFIG, market
from tests.services.vmpool.providers.dstack.lab_provider import DEADLINE_SECONDS, lab_config

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]


@pytest.mark.parametrize(
    ("server", "ok"),
    [(client_version, True), ("0.22.99", True), (None, True), ("0.21.9", False), ("0.23.0", False), ("1.22.5", False)],
)
def test_client_and_server_share_major_and_minor_version(server: str | None, ok: bool) -> None:
    finding = doctor.version_finding(server)
    assert finding.ok is ok
    assert bool(finding.remedy) is not ok


def test_a_backend_that_the_server_left_out_is_named() -> None:
    finding = doctor.backends_finding(("amddevcloud", "hotaisle", "remote"), {"amddevcloud"})
    assert (finding.ok, finding.message) == (False, "the project has amddevcloud, and not hotaisle")
    assert "config.yml" in finding.remedy
    assert doctor.backends_finding(("amddevcloud",), {"amddevcloud", "aws"}).ok


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ({"backends": ["amddevcloud"]}, "does not take backend hotaisle"),
        ({"nodes": {"min": 0, "max": 0}}, "holds no machines"),
        ({"max_price": 1.5}, "takes no machine above $1.5 an hour"),
        ({"spot_policy": "spot"}, "takes spot machines only"),
        ({"resources": {"disk": {"size": {"min": 500.0}}}}, "takes no machine with disk below 500 GB"),
        ({"resources": {"cpu": {"count": {"min": 8}}}}, "takes no machine with cpu below 8"),
    ],
)
def test_a_fleet_that_is_narrower_than_the_settings_is_reported(configuration: dict[str, Any], said: str) -> None:
    finding = doctor.fleet_finding({"spec": {"configuration": configuration}}, CONFIG)
    assert not finding.ok
    assert said in finding.message
    assert "dstack fleet delete wavepool" in finding.remedy


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"backends": ["hotaisle", "amddevcloud"], "nodes": {"min": 0, "max": 4}, "spot_policy": "auto"},
        {"resources": {"cpu": {"count": {"min": 2}}, "memory": {"min": 8.0}, "disk": {"size": {"min": 100.0}}}},
        {"ssh_config": {"hosts": ["10.0.0.1"]}, "backends": []},
    ],
)
def test_a_fleet_that_takes_our_machines_is_well(configuration: dict[str, Any]) -> None:
    assert doctor.fleet_finding({"spec": {"configuration": configuration}}, CONFIG).ok


def test_a_missing_fleet_is_no_fault_where_it_may_be_made() -> None:
    assert doctor.fleet_finding(None, CONFIG).ok
    forbidden = replace(CONFIG, fleet=replace(CONFIG.fleet, create=False))
    assert "VMPOOL_DSTACK_CREATE_FLEET=true" in doctor.fleet_finding(None, forbidden).remedy


def test_offers_are_reported_with_prices_and_none_with_what_was_asked_for() -> None:
    offer = Offer("dstack", "MI300X", 1, 1_990_000, "amddevcloud", "atl1")
    assert doctor.offers_finding([offer], CONFIG).message == "1 x MI300X at amddevcloud atl1 for $1.99 an hour"
    cheap = replace(CONFIG, market=market(max_price_micros_per_gpu_hour=1_500_000))
    finding = doctor.offers_finding([replace(offer, available=False)], cheap)
    assert not finding.ok
    assert finding.message.startswith(
        "no on-demand machine of MI300X, MI210 with 1 GPUs below $1.50 per GPU hour can be had; listed"
    )


def test_a_backend_whose_minimum_is_not_known_is_named() -> None:
    assert doctor.billing_finding(CONFIG).ok
    finding = doctor.billing_finding(replace(CONFIG, market=market(minimum_billed={})))
    assert (finding.ok, "VMPOOL_DSTACK_MINIMUM_BILLED=hotaisle=SECONDS" in finding.remedy) == (False, True)


async def test_a_server_that_is_not_there_is_a_finding_and_no_reason_to_end() -> None:
    provider = DstackProvider(CONFIG)
    await provider.start()
    findings = await provider.diagnose()
    await provider.close()
    (server, billing) = findings
    assert (server.ok, billing.ok) == (False, True)
    assert "http://127.0.0.1:1 cannot be reached" in server.message
    assert "VMPOOL_DSTACK_SERVER_URL" in server.remedy


async def examined(config: DstackConfig) -> dict[str, ProviderFinding]:
    provider = DstackProvider(config)
    try:
        return {finding.check: finding for finding in await provider.diagnose()}
    finally:
        await provider.close()


async def refused(config: DstackConfig) -> ProviderError:
    provider = DstackProvider(config)
    with pytest.raises(ProviderError) as raised:
        await provider.start()
    await provider.close()
    return raised.value


@pytest.mark.dstack
@pytest.mark.timeout(300)
async def test_a_real_server_is_examined_and_faults_of_the_settings_end_the_start(
    dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud, tmp_path: Path
) -> None:
    config = lab_config(dstack_server, tmp_path)
    well = await examined(config)
    assert [check for check, finding in well.items() if not finding.ok] == []
    assert set(well) == {"server version", "token", "backends", "fleet", "offers", "billing"}
    assert "for $1.99 an hour" in well["offers"].message
    assert fake_cloud.ledger() == []

    for changes, said in (
        ({"token": "wrong"}, "VMPOOL_DSTACK_TOKEN"),
        ({"project": "nowhere"}, "VMPOOL_DSTACK_PROJECT"),
    ):
        wrong = replace(config, server=replace(config.server, **changes))
        assert said in (await examined(wrong))["access"].message
        error = await refused(wrong)
        assert (error.fault, said in str(error)) == (Fault.MISCONFIGURED, True)

    lacking = replace(config, market=market(backends=("amddevcloud", "runpod")))
    assert "runpod" in (await examined(lacking))["backends"].message
    assert "VMPOOL_BACKENDS" in str(await refused(lacking))

    fake_cloud.offer("amddevcloud", [])
    fake_cloud.offer("hotaisle", [])
    # The server caches offers for a moment.
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (await examined(config))["offers"].ok:
            await asyncio.sleep(0.1)


@pytest.mark.dstack
@pytest.mark.timeout(300)
async def test_offers_are_the_clouds_cheapest_first(
    dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud, tmp_path: Path
) -> None:
    config = lab_config(dstack_server, tmp_path)
    provider = DstackProvider(replace(config, market=market(gpu_counts=(1, 8))))
    # The server asks each cloud for each size separately, and returns what it has so far.
    async with asyncio.timeout(DEADLINE_SECONDS):
        while len(offered := await provider.offers()) < 4:
            await asyncio.sleep(0.2)
    await provider.close()
    assert [(o.gpu_count, o.backend, o.price_micros_per_hour, o.available) for o in offered] == [
        (1, "amddevcloud", 1_990_000, True),
        (1, "hotaisle", 2_100_000, True),
        (8, "amddevcloud", 15_920_000, True),
        (8, "hotaisle", 16_800_000, True),
    ]
