"""AMD Developer Cloud's key is all that the real dstack server needs to rent there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.vmpool.errors import ProviderError
from services.vmpool.providers.dstack import config
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.provider import DstackProvider
from tests.dstack_lab.amddevcloud_api import CLOUD_KEY
from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, fake_cloud, lab_client, run_key
from tests.dstack_lab.prepared import prepared_data
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.providers.dstack.dstack_words import market
from tests.services.vmpool.providers.dstack.lab_provider import lab_config

__all__ = ["cloud_of_module", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(300)]
WRONG_KEY = "dop_v1_of_another_account"


@pytest.fixture(scope="module")
def dstack_server(cloud_of_module: FakeCloud) -> Iterator[DstackServer]:
    """A server whose config.yml does not name amddevcloud."""
    with DstackServer(cloud_of_module, prepared=prepared_data(cloud_of_module), backends=("hotaisle",)) as server:
        yield server


@pytest.fixture
async def admin(lab_client: LabClient, dstack_server: DstackServer, tmp_path: Path) -> AsyncIterator[DstackClient]:
    client = DstackClient(lab_config(dstack_server, tmp_path).server)
    assert await names(client) == {"hotaisle"}
    yield client
    await client.close()


def restart(server: DstackServer) -> None:
    server.kill()
    server.start()


async def names(client: DstackClient) -> set[str]:
    answer: dict[str, Any] = await client.ask("/api/projects/main/get")
    return {str(backend["name"]) for backend in answer["backends"]}


def settings(server: DstackServer, data_dir: Path, key: str, **changes: Any) -> config.DstackConfig:
    plain = lab_config(server, data_dir, market=market(backends=("amddevcloud",)))
    return replace(plain, server=replace(plain.server, amddevcloud_key=key, **changes))


async def test_a_missing_backend_is_added_with_the_key_and_again_after_the_server_dropped_it(
    admin: DstackClient, dstack_server: DstackServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider = DstackProvider(settings(dstack_server, tmp_path, CLOUD_KEY))
    try:
        await provider.start()
        assert await names(admin) == {"amddevcloud", "hotaisle"}
        assert await backends_offered(provider) == {"amddevcloud"}
        # It drops the backends that its config.yml does not name.
        restart(dstack_server)
        assert await backends_offered(provider) == {"amddevcloud"}
    finally:
        await provider.close()
        restart(dstack_server)
    kept = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert CLOUD_KEY not in "".join([caplog.text, repr(settings(dstack_server, tmp_path, CLOUD_KEY)), *kept])


async def backends_offered(provider: DstackProvider) -> set[str]:
    """The backends of the first offers; connections break as the server ends."""
    async with asyncio.timeout(60):
        while True:
            with suppress(OSError):
                if offers := await provider.offers():
                    return {offer.backend for offer in offers}


@pytest.mark.parametrize(
    ("key", "said"),
    [("", "add amddevcloud to the server's config.yml"), (WRONG_KEY, "does not take the key in DSTACK_AMDDEVCLOUD")],
)
async def test_without_a_key_that_the_cloud_takes_the_operator_reads_what_to_do(
    admin: DstackClient, dstack_server: DstackServer, tmp_path: Path, key: str, said: str
) -> None:
    provider = DstackProvider(settings(dstack_server, tmp_path, key))
    try:
        with pytest.raises(ProviderError, match=said) as refused:
            await provider.start()
    finally:
        await provider.close()
    assert WRONG_KEY not in str(refused.value)
    assert await names(admin) == {"hotaisle"}


async def test_a_user_who_may_not_add_backends_reads_whose_token_it_takes(
    admin: DstackClient, dstack_server: DstackServer, tmp_path: Path
) -> None:
    await admin.ask("/api/users/create", '{"username": "member", "global_role": "user"}')
    made = await admin.ask("/api/users/refresh_token", '{"username": "member"}')
    await admin.ask("/api/projects/main/add_members", '{"members": [{"username": "member", "project_role": "user"}]}')
    provider = DstackProvider(settings(dstack_server, tmp_path, CLOUD_KEY, token=made["creds"]["token"]))
    try:
        with pytest.raises(ProviderError, match=r"the token of one of its administrators, or add .*config\.yml"):
            await provider.start()
    finally:
        await provider.close()
