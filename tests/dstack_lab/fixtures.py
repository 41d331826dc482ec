"""The lab's fixtures. A module that uses them imports them, and sets `pytestmark = pytest.mark.dstack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncssh
import pytest

from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.prepared import prepared_data
from tests.dstack_lab.server import DstackServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def cloud_of_module() -> Iterator[FakeCloud]:
    with FakeCloud() as cloud:
        yield cloud


@pytest.fixture(scope="module")
def dstack_server(cloud_of_module: FakeCloud) -> Iterator[DstackServer]:
    """A running server, one per module: a test that kills or hangs it must start or resume it again."""
    with DstackServer(cloud_of_module, prepared=prepared_data(cloud_of_module)) as server:
        yield server


@pytest.fixture
def fake_cloud(cloud_of_module: FakeCloud) -> Iterator[FakeCloud]:
    """The module's cloud, healed and with its first offers for each test; nothing may still be rented at the end.

    A test that leaves something rented fails, and its machines are then ended for the sake of the next test.
    """
    cloud_of_module.reset()
    yield cloud_of_module
    left = cloud_of_module.existing()
    cloud_of_module.reset()
    assert not left, f"leaked: {left}"


@pytest.fixture(scope="session")
def run_key() -> asyncssh.SSHKey:
    """The key with which the lab's client logs in to the machines of its runs."""
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
def lab_client(dstack_server: DstackServer, fake_cloud: FakeCloud, run_key: asyncssh.SSHKey) -> LabClient:
    """The client of a server without runs and fleets, whatever the test before it left."""
    client = LabClient(dstack_server, run_key.export_public_key().decode())
    client.clear()
    return client
