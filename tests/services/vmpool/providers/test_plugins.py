"""Somebody's provider, installed beside ours, works without a change to our code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from servicekit.clock import ManualClock
from servicekit.settings.plugins import BrokenPluginError, UnknownPluginError
from services.vmpool.capacity.offering import offering_of
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import ProviderError
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.plugins import PoolContext, open_providers
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.telemetry.diagnosing import findings_of
from tests.services.vmpool.conftest import bench_on
from tests.services.vmpool.scripted_provider import ScriptedProvider

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


async def test_a_provider_that_refuses_keeps_no_other_from_starting_and_is_tried_again_later_each_time() -> None:
    reported: list[str] = []
    seconds = 0.0

    class Telling(ScriptedProvider):
        async def start(self) -> None:
            reported.append(f"start {self.name}")
            await super().start()

        async def close(self) -> None:
            reported.append(f"close {self.name}")

    refusing = Telling("first", failing={"start": ProviderError("no token: set VMPOOL_FIRST_TOKEN")})
    broken = Telling("second", failing={"start": ZeroDivisionError()})
    async with ProviderSet([refusing, broken, Telling("third")], lambda: seconds) as providers:
        assert reported == ["start first", "start second", "start third"]
        assert providers.refusals == {
            "first": "it refused to start: no token: set VMPOOL_FIRST_TOKEN; tried again in 10 s",
            "second": "it refused to start: see vmpool's log; tried again in 10 s",
        }
        assert (await offering_of(providers)).failures == providers.refusals
        await providers.run_once()
        assert len(reported) == 3
        seconds = 10.0
        del broken.failing["start"]
        await providers.run_once()
        assert reported[3:] == ["start first", "start second"]
        assert [words[-20:] for words in providers.refusals.values()] == ["; tried again in 20 s"[-20:]]
        findings = await findings_of(providers)
        assert [(finding.check, finding.ok) for finding in findings["first"]] == [("start", False), ("offers", True)]
        assert "VMPOOL_FIRST_TOKEN" in findings["first"][0].message
        # After a repair, nobody has to wait.
        del refusing.failing["start"]
        assert all(finding.ok for finding in (await findings_of(providers))["first"])
        assert providers.refusals == {}
    assert reported[-3:] == ["close third", "close second", "close first"]


async def test_a_machine_whose_provider_was_taken_out_of_the_settings_is_reported_and_kept() -> None:
    with pytest.raises(ProviderError, match="put it back into VMPOOL_PROVIDERS"):
        ProviderSet([ScriptedProvider()]).named("cellar")
