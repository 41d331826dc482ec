from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.model.flushing import CPU_FLUSH, FlushProfile, calibrated_flush
from services.executor.core.run.context import RunContext

MIB = 1 << 20
PROFILE = FlushProfile(first_bytes=MIB, most_bytes=64 * MIB, probe_bytes=MIB // 2)


class Cached:
    """A device whose last cache keeps its contents if a sweep is smaller than the cache."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache_bytes = cache_bytes

    async def probe_ns(self, flush_bytes: int, probe_bytes: int) -> int:
        gone = min(1.0, flush_bytes / self._cache_bytes)
        return int(probe_bytes * (1 + 9 * gone))


@given(st.integers(1, 32))
async def test_a_sweep_grows_until_it_is_as_large_as_the_cache(cache_mib: int) -> None:
    flush = await calibrated_flush(Cached(cache_mib * MIB), PROFILE)
    assert flush.verified
    assert flush.size_bytes >= cache_mib * MIB
    assert flush.size_bytes < 2 * cache_mib * MIB or flush.size_bytes == PROFILE.first_bytes
    assert flush.cold_ns == pytest.approx(10 * flush.hot_ns)


async def test_a_cache_that_no_sweep_empties_is_said_to_be_unverified() -> None:
    flush = await calibrated_flush(Cached(10_000 * MIB), PROFILE)
    assert (flush.size_bytes, flush.verified) == (MIB, False)


async def test_a_device_without_caches_is_cold_and_hot_alike() -> None:
    class Plain:
        async def probe_ns(self, flush_bytes: int, probe_bytes: int) -> int:
            return 1000

    assert not (await calibrated_flush(Plain(), PROFILE)).verified


async def test_a_real_runner_sweeps_and_probes(context: RunContext) -> None:
    async with trusted_runner(context, context.cache) as trusted:
        assert await trusted.probe_ns(0, MIB) > 0
        assert await trusted.probe_ns(4 * MIB, MIB) > 0
        await trusted.flush(4 * MIB)
        flush = await calibrated_flush(trusted, FlushProfile(MIB, 4 * MIB, MIB))
    assert MIB <= flush.size_bytes <= 4 * MIB
    assert CPU_FLUSH.first_bytes >= 32 * MIB
