from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings, settings_faults
from servicekit.server import run


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


def test_wrong_settings_are_told_by_variable_and_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", "soon")
    monkeypatch.setenv("EXAMPLE_PORT", "s3cret")
    with pytest.raises(ValidationError) as refused:
        ExampleSettings()
    told = settings_faults(refused.value)
    assert "EXAMPLE_DRAIN: " in told
    assert "EXAMPLE_PORT: Input should be a valid integer" in told
    assert ("\n" in told, "s3cret" in told, "soon" in told) == (False, False, False)


def test_what_is_no_setting_is_not_told_as_one() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(int).validate_python("x")
    assert settings_faults(refused.value) == ""


def test_a_service_with_wrong_settings_ends_with_a_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_PORT", "none")

    async def main() -> None:
        ExampleSettings()

    with pytest.raises(SystemExit, match=r"^EXAMPLE_PORT: Input should be a valid integer"):
        run(main)
