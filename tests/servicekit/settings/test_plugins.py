"""The life of plug-ins, and how their options are checked."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from servicekit.settings import plugins
from servicekit.settings.plugins import BrokenPluginError, PluginLives


class Telling:
    """Notes when it is started and closed, in a list that several share."""

    def __init__(self, told: list[str], name: str, failing: str = "") -> None:
        self.told, self.name, self.failing = told, name, failing

    async def start(self) -> None:
        self._tell("start")

    async def close(self) -> None:
        self._tell("close")

    def _tell(self, what: str) -> None:
        self.told.append(f"{what} {self.name}")
        if self.failing == what:
            raise RuntimeError("no ink")


def lives_of(*telling: object) -> PluginLives:
    return PluginLives((f"SETTING: {number}", one) for number, one in enumerate(telling, 1))


async def test_plug_ins_start_in_order_and_close_in_the_reverse_and_need_neither() -> None:
    told: list[str] = []
    lives = lives_of(Telling(told, "first"), object(), Telling(told, "second"))
    await lives.start()
    await lives.close()
    await lives.close()
    assert told == ["start first", "start second", "close second", "close first"]


async def test_one_that_cannot_start_is_named_and_those_before_it_are_closed() -> None:
    told: list[str] = []
    lives = lives_of(Telling(told, "first"), Telling(told, "second", failing="start"), Telling(told, "third"))
    with pytest.raises(BrokenPluginError, match=r"^SETTING: 2 cannot start: RuntimeError: no ink$"):
        await lives.start()
    assert told == ["start first", "start second", "close second", "close first"]


async def test_one_that_cannot_close_keeps_no_other_from_closing(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    lives = lives_of(Telling(told, "first"), Telling(told, "second", failing="close"))
    await lives.start()
    caplog.set_level(logging.WARNING)
    await lives.close()
    assert told[2:] == ["close second", "close first"]
    assert "SETTING: 2 cannot close: RuntimeError: no ink" in caplog.text


async def test_one_that_never_starts_is_given_up() -> None:
    class Sleeping:
        async def start(self) -> None:
            await asyncio.Event().wait()

    lives = PluginLives([("SETTING: 1", Sleeping())], longest_start=timedelta(seconds=0.01))
    with pytest.raises(BrokenPluginError, match=r"^SETTING: 1 cannot start: it took longer than 0\.01 s$"):
        await lives.start()


class Options(BaseModel):
    ink: int


class OpenOptions(Options):
    model_config = ConfigDict(extra="allow")


def maker(model: type[BaseModel] | None) -> Any:
    class Maker:
        Settings = model

    return Maker


def test_options_become_the_model_of_the_plug_in_or_stay_as_they_are() -> None:
    validated = plugins._validated(maker(Options), {"ink": "3"})
    assert isinstance(validated, Options)
    assert validated.ink == 3
    assert plugins._validated(maker(None), {"ink": "3"}) == {"ink": "3"}
    assert plugins._validated(maker(OpenOptions), {"ink": 3, "more": 1})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "ink: Field required"),
        ({"ink": "hush"}, "ink: Input should be a valid integer, unable to parse string as an integer"),
        ({"ink": 3, "colour": "hush"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_wrong_options_are_named_without_their_values(options: dict[str, object], said: str) -> None:
    with pytest.raises(plugins.WrongOptionsError) as caught:
        plugins._validated(maker(Options), options)
    assert str(caught.value) == said
