"""Opens the channels that the settings name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from servicekit.settings.config import WrongSettingsError
from servicekit.settings.plugins import (
    BrokenPluginError,
    PluginGroup,
    PluginLives,
    UnknownPluginError,
    WrongOptionsError,
)
from services.billing.alert_rules.rule import Severity, check_name
from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.billing.alerts.channels.channel import Channel

SETTING = "BILLING_ALERT_CHANNELS"
PLUGINS = PluginGroup("wavepool.alert_channels", "kind", ("send",))


@dataclass(frozen=True)
class NamedChannel:
    """A channel that the settings name. It takes notices of alerts that are at least so severe."""

    name: str
    kind: str
    least_severity: Severity
    channel: Channel


def open_channels(entries: Sequence[Mapping[str, Any]]) -> dict[str, NamedChannel]:
    """The channels by name; raises WrongSettingsError, which names the channel, the option and the fix."""
    channels: dict[str, NamedChannel] = {}
    for number, entry in enumerate(entries):
        opened = _open(number, dict(entry))
        if opened.name in channels:
            raise WrongSettingsError(f"{SETTING}: entry {number}: name: there are two channels {opened.name!r}")
        channels[opened.name] = opened
    return channels


def lives_of(channels: Mapping[str, NamedChannel]) -> PluginLives:
    """Starts and closes the channels."""
    return PluginLives((f"{SETTING}: {one.name} (kind {one.kind})", one.channel) for one in channels.values())


def _open(number: int, entry: dict[str, Any]) -> NamedChannel:
    name, kind = entry.pop("name", ""), entry.pop("kind", "")
    severity = entry.pop("least_severity", Severity.INFO.value)
    where = f"{SETTING}: entry {number}"
    try:
        check_name("name", str(name))
    except InvalidFieldError as error:
        raise WrongSettingsError(f"{where}: {error}") from None
    where = f"{where} ({name})"
    if severity not in set(Severity):
        raise WrongSettingsError(f"{where}: least_severity: must be one of {', '.join(Severity)}")
    try:
        channel = cast("Channel", PLUGINS.make_with_options(str(kind), entry))
    except UnknownPluginError as error:
        raise WrongSettingsError(f"{where}: {error}") from None
    except BrokenPluginError as error:
        if isinstance(error.__cause__, WrongOptionsError):
            raise WrongSettingsError(f"{where}: {error.__cause__}") from None
        raise WrongSettingsError(f"{where}: {error}") from None
    return NamedChannel(str(name), str(kind), Severity(severity), channel)
