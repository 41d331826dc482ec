from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings


class ExampleSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="EXAMPLE_")

    port: int = 1


@pytest.mark.parametrize(("text", "seconds"), [("600", 600), ("0.5", 0.5), ("PT1M", 60)])
def test_durations_are_read_as_seconds_or_iso_8601(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", text)
    assert ExampleSettings().drain == timedelta(seconds=seconds)


def test_other_text_is_no_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", "soon")
    with pytest.raises(ValidationError, match=r"drain|EXAMPLE_DRAIN"):
        ExampleSettings()
