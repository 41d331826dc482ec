"""Somebody's provider, installed beside ours, serves without a change to our code."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from servicekit.plugins import BrokenPluginError, UnknownPluginError
from services.vmpool.errors import ProviderError
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.local_provider import LocalProvider
from services.vmpool.providers.plugins import PoolContext, open_providers
from services.vmpool.providers.provider_set import ProviderSet
from tests.services.vmpool.conftest import bench_on
from tests.services.vmpool.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from servicekit.clock import ManualClock
    from services.vmpool.config import VmPoolSettings

    Install = Callable[[str], None]

THEIRS = """
from tests.services.vmpool.scripted_provider import ScriptedProvider

def make(context):
    return ScriptedProvider(name="cellar", gpu_types=context.gpu_types)
"""


@pytest.fixture
def context(tmp_path: Path) -> PoolContext:
    return PoolContext("wavepool", tmp_path, ("MI300X",), timedelta(minutes=10))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts somebody's distribution with one provider on the path, as an installer does."""

    def put(source: str) -> None:
        metadata = tmp_path / "theirs" / "theirs-1.0.dist-info"
        metadata.mkdir(parents=True)
        (tmp_path / "theirs" / "cellar_provider.py").write_text(source)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("[wavepool.providers]\ncellar = cellar_provider:make\n")
        monkeypatch.syspath_prepend(str(tmp_path / "theirs"))
        monkeypatch.delitem(sys.modules, "cellar_provider", raising=False)

    return put


def test_our_own_providers_are_plug_ins_like_any_other(context: PoolContext) -> None:
    (provider,) = open_providers(["local"], context)
    assert isinstance(provider, LocalProvider)


async def test_somebody_elses_provider_makes_machines_once_it_is_installed(
    install: Install, settings: VmPoolSettings, free_clock: ManualClock, context: PoolContext
) -> None:
    install(THEIRS)
    (provider,) = open_providers(["cellar"], context)
    async with bench_on(settings, provider, free_clock) as bench:  # type: ignore[arg-type]  # theirs is scripted too
        machine = await bench.warm_machine()
    assert (machine.provider, machine.state) == ("cellar", MachineState.WARM)


def test_an_unknown_provider_is_answered_with_the_known_ones(context: PoolContext) -> None:
    with pytest.raises(UnknownPluginError, match=r"provider: 'cellar' is not known here; known are .*local"):
        open_providers(["local", "cellar"], context)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def make(context): raise ValueError('VMPOOL_CELLAR_KEY is missing')", "VMPOOL_CELLAR_KEY is missing"),
        ("def make(context): return object()", "gives no provider: it has no start, close, offers"),
    ],
)
def test_a_broken_provider_is_named_with_what_is_wrong(
    install: Install, context: PoolContext, source: str, said: str
) -> None:
    install(source)
    with pytest.raises(BrokenPluginError, match=said):
        open_providers(["cellar"], context)


async def test_providers_are_started_in_order_and_those_started_are_closed_when_one_fails() -> None:
    told: list[str] = []

    class Telling(ScriptedProvider):
        async def start(self) -> None:
            await super().start()
            told.append(f"start {self.name}")

        async def close(self) -> None:
            told.append(f"close {self.name}")

    broken = Telling("third", failing={"start": ProviderError("no token: set VMPOOL_THIRD_TOKEN")})
    with pytest.raises(ProviderError, match="VMPOOL_THIRD_TOKEN"):
        async with ProviderSet([Telling("first"), Telling("second"), broken]):
            told.append("never")
    assert told == ["start first", "start second", "close third", "close second", "close first"]


async def test_a_machine_whose_provider_was_taken_out_of_the_settings_is_told_of_and_kept() -> None:
    with pytest.raises(ProviderError, match="put it back into VMPOOL_PROVIDERS"):
        ProviderSet([ScriptedProvider()]).named("cellar")
