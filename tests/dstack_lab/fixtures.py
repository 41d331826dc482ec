"""Fixtures of the lab. A module that uses them imports them, and carries `pytestmark = pytest.mark.dstack`."""

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
    """A running server, one per module: a test that kills or hangs it starts or resumes it again."""
    with DstackServer(cloud_of_module, prepared=prepared_data(cloud_of_module)) as server:
        yield server


@pytest.fixture
def fake_cloud(cloud_of_module: FakeCloud) -> Iterator[FakeCloud]:
    """The module's cloud, healed and with its first offers at each start; at the end nothing may be rented any more.

    What a test leaves behind fails it, and is then ended for the sake of the next.
    """
    cloud_of_module.reset()
    yield cloud_of_module
    left = cloud_of_module.existing()
    cloud_of_module.reset()
    assert not left, f"leaked: {left}"


@pytest.fixture(scope="session")
def run_key() -> asyncssh.SSHKey:
    """The key that runs of the lab's client let into their machines."""
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
def lab_client(dstack_server: DstackServer, fake_cloud: FakeCloud, run_key: asyncssh.SSHKey) -> LabClient:
    """The client of a server that has no runs and no fleets, whatever the test before has left."""
    client = LabClient(dstack_server, run_key.export_public_key().decode())
    client.clear()
    return client
