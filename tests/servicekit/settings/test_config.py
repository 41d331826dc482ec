from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path
from typing import Self

import pytest
from pydantic import AliasChoices, Field, SecretStr, TypeAdapter, ValidationError, model_validator
from pydantic_settings import SettingsConfigDict

from servicekit.db.database import Database
from servicekit.rpc.server import CHECK_SETTINGS, run
from servicekit.settings.config import ServiceSettings, WrongSettingsError, settings_faults


class ExampleSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="EXAMPLE_", populate_by_name=True)

    key: SecretStr = Field(default=SecretStr(""), validation_alias=AliasChoices("EXAMPLE_KEY", "OLD_KEY"))

    port: int = 1
    rooms: int = Field(default=2, validation_alias=AliasChoices("EXAMPLE_ROOMS", "OLD_ROOMS"))
    prices: dict[str, int] = Field(default_factory=dict[str, int])
    guests: int = Field(default=2, validation_alias=AliasChoices("EXAMPLE_GUESTS", "OLD_GUESTS"))

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.guests > self.rooms:
            raise ValueError(f"guests: must be at most rooms; there are {self.rooms}")
        return self


@pytest.mark.parametrize(("text", "seconds"), [("600", 600), ("0.5", 0.5), ("PT1M", 60)])
def test_durations_are_read_as_seconds_or_iso_8601(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", text)
    assert ExampleSettings().drain == timedelta(seconds=seconds)


def test_other_text_is_no_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", "soon")
    with pytest.raises(ValidationError, match=r"drain|EXAMPLE_DRAIN"):
        ExampleSettings()


def test_wrong_settings_are_reported_by_variable_and_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_DRAIN", "soon")
    monkeypatch.setenv("EXAMPLE_PORT", "s3cret")
    with pytest.raises(ValidationError) as refused:
        ExampleSettings()
    reported = settings_faults(refused.value)
    assert "EXAMPLE_DRAIN: " in reported
    assert "EXAMPLE_PORT: Input should be a valid integer" in reported
    assert ("\n" in reported, "s3cret" in reported, "soon" in reported) == (False, False, False)


@pytest.mark.parametrize(
    ("environment", "reported"),
    [
        ({"OLD_ROOMS": "x"}, "OLD_ROOMS: Input should be a valid integer"),
        ({"EXAMPLE_ROOMS": "x"}, "EXAMPLE_ROOMS: Input should be a valid integer"),
        ({"EXAMPLE_ROOMS": "x", "OLD_ROOMS": "y"}, "EXAMPLE_ROOMS: Input should be a valid integer"),
        ({"EXAMPLE_ROOMS": "", "OLD_ROOMS": "y"}, "OLD_ROOMS: Input should be a valid integer"),
        ({"OLD_GUESTS": "3"}, "OLD_GUESTS: must be at most rooms; there are 2"),
        ({"EXAMPLE_GUESTS": "3"}, "EXAMPLE_GUESTS: must be at most rooms; there are 2"),
    ],
)
def test_a_wrong_setting_is_reported_by_the_name_that_was_set(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], reported: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as refused:
        ExampleSettings()
    assert settings_faults(refused.value).startswith(reported)


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_PORT", "")
    monkeypatch.setenv("EXAMPLE_ROOMS", "")
    monkeypatch.setenv("OLD_ROOMS", "5")
    settings = ExampleSettings()
    assert (settings.port, settings.rooms) == (1, 5)


def test_what_is_no_setting_is_not_reported_as_one() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(int).validate_python("x")
    assert settings_faults(refused.value) == ""


@pytest.mark.parametrize("options", [[], [CHECK_SETTINGS]])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("EXAMPLE_PORT", "EXAMPLE_PORT: Input should be a valid integer, unable to parse string as an integer\n"),
        ("EXAMPLE_PRICES", "EXAMPLE_PRICES: must be JSON\n"),
    ],
)
def test_a_service_with_wrong_settings_ends_with_a_line_and_the_status_that_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], name: str, said: str
) -> None:
    monkeypatch.setenv(name, "none")
    monkeypatch.setattr("sys.argv", ["example", *options])

    async def main() -> None:
        ExampleSettings()

    with pytest.raises(SystemExit) as ended:
        run(main, ExampleSettings)
    assert (ended.value.code, capsys.readouterr().err) == (os.EX_CONFIG, said)


def test_a_service_that_is_to_check_its_settings_does_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["example", CHECK_SETTINGS])

    async def main() -> None:
        raise AssertionError

    run(main, ExampleSettings)


@pytest.mark.parametrize(("option", "status"), [("--help", 0), ("--check", 2), ("--port=1", 2), ("50061", 2)])
def test_a_service_that_is_asked_for_help_or_for_what_it_does_not_know_does_not_serve(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, status: int
) -> None:
    monkeypatch.setattr("sys.argv", ["example", option])

    async def main() -> None:
        raise AssertionError

    with pytest.raises(SystemExit) as ended:
        run(main, ExampleSettings)
    assert ended.value.code == status
    told = capsys.readouterr()
    assert CHECK_SETTINGS in told.out + told.err
    assert ("docs/operations.md" in told.out) == (status == 0)


async def test_a_database_in_the_data_folder_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    settings = ServiceSettings(port=0, data_dir=tmp_path / "data")
    (tmp_path / "data").mkdir()
    for earlier in ("old.db", "old.db-wal", "old.db-shm"):
        (tmp_path / "data" / earlier).touch(0o644)
    settings.resolved_database_url("old")
    database = Database(settings.resolved_database_url("new"))
    async with database.transaction() as connection:
        await connection.exec_driver_sql("CREATE TABLE things (id INTEGER)")
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "data").iterdir()}
    await database.close()
    assert {"new.db", "new.db-wal", "new.db-shm", "old.db", "old.db-wal"} <= set(files)
    assert set(files.values()) == {0o600}


@pytest.mark.parametrize("variable", ["EXAMPLE_KEY", "OLD_KEY"])
def test_a_secret_may_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str) -> None:
    file = tmp_path / "key"
    file.write_text("s3cret words\n")
    monkeypatch.setenv(f"{variable}_FILE", str(file))
    assert ExampleSettings().key.get_secret_value() == "s3cret words"


def test_a_database_s_address_may_stand_in_a_file_and_a_port_may_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql+asyncpg://u:s3cret@db/w\n")
    monkeypatch.setenv("EXAMPLE_DATABASE_URL_FILE", str(file))
    monkeypatch.setenv("EXAMPLE_PORT_FILE", str(file))
    assert (ExampleSettings().database_url, ExampleSettings().port) == ("postgresql+asyncpg://u:s3cret@db/w", 1)


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), ("", "is empty"), ("\n", "is empty")])
def test_a_secret_s_file_that_is_missing_or_empty_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("EXAMPLE_KEY_FILE", str(file))
    with pytest.raises(WrongSettingsError, match=f"EXAMPLE_KEY_FILE: {file} {said}"):
        ExampleSettings()


def test_a_secret_that_stands_in_both_places_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret")
    monkeypatch.setenv("EXAMPLE_KEY", "another")
    monkeypatch.setenv("EXAMPLE_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(WrongSettingsError, match="EXAMPLE_KEY and EXAMPLE_KEY_FILE are set") as refused:
        ExampleSettings()
    assert ("s3cret" in str(refused.value), "another" in str(refused.value)) == (False, False)
