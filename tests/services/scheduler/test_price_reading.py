from __future__ import annotations

from pathlib import Path

from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import credentials_of
from services.scheduler.peers.billing import PRICE_LIFETIME, Billing
from tests.services.scheduler.cluster import scripted_cluster


async def test_a_new_price_is_read_without_a_restart_once_the_old_one_is_a_minute_old(tmp_path: Path) -> None:
    async with (
        scripted_cluster(tmp_path) as cluster,
        open_channel(
            cluster.settings.billing_target, credentials_of(cluster.settings, "scheduler"), "billing"
        ) as channel,
    ):
        billing = Billing(channel, cluster.settings.longest_run)
        first = (await billing.prices_micros_per_hour())["MI300X"]
        cluster.billing.prices = {"MI300X": 2_500_000}
        kept = (await billing.prices_micros_per_hour())["MI300X"]
        billing._read_at -= PRICE_LIFETIME.total_seconds()
        read = (await billing.prices_micros_per_hour())["MI300X"]
    assert (first, kept, read) == (1_990_000, 1_990_000, 2_500_000)
