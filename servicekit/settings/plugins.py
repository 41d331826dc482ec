"""Plug-ins: entry points of a group, ours and other people's alike.

An entry point names a callable that makes the plug-in. To add one, install its distribution beside ours.

Plug-ins with options: if the callable has an attribute `Settings`, a pydantic model, the options are validated by it,
and the callable gets the model; otherwise it gets the options as they are. A plug-in may have the coroutine methods
`start`, which is awaited before it is used, and `close`, which is awaited when the service stops.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from servicekit.settings.config import settings_faults

log = logging.getLogger(__name__)

LONGEST_START = timedelta(seconds=30)
"""A service that never starts tells its operator less than one that ends with a message."""
LONGEST_CLOSE = timedelta(seconds=5)
"""Half of the time that a supervisor usually leaves a service to stop."""


class UnknownPluginError(ValueError):
    """No plug-in has this name."""


class BrokenPluginError(Exception):
    """A plug-in is installed but cannot be used; the message names it and the fault."""


class WrongOptionsError(ValueError):
    """Options of a plug-in are wrong; the message names each with its fault, and has no value of any."""


@dataclass(frozen=True)
class PluginGroup:
    """The plug-ins of one entry point group. `kind` is the word for one of them; each must have the `methods`."""

    group: str
    kind: str
    methods: tuple[str, ...]

    def names(self) -> tuple[str, ...]:
        """Names of the installed plug-ins, sorted."""
        return tuple(sorted({point.name for point in entry_points(group=self.group)}))

    def make(self, name: str, *arguments: object) -> object:
        """Imports the plug-in and makes it with `arguments`; raises UnknownPluginError, BrokenPluginError."""
        return self._made(self._point(name), lambda target: target(*arguments))

    def make_with_options(self, name: str, options: Mapping[str, object]) -> object:
        """Imports the plug-in and makes it with `options`, which are validated by its model if it has one.

        Raises UnknownPluginError, or BrokenPluginError, whose cause is WrongOptionsError if an option is wrong.
        """
        return self._made(self._point(name), lambda target: target(_validated(target, options)))

    def owner(self, name: str) -> str:
        """The distribution that offers the plug-in, with its version; raises as `make` does."""
        point = self._point(name)
        return f"{point.dist.name} {point.dist.version}" if point.dist else _owner(point)

    def _point(self, name: str) -> EntryPoint:
        points = list(entry_points(group=self.group, name=name))
        if not points:
            known = ", ".join(self.names()) or "none"
            raise UnknownPluginError(f"{self.kind}: {name!r} is not known here; known are {known}")
        if len({point.value for point in points}) > 1:
            packages = ", ".join(sorted(_owner(point) for point in points))
            raise BrokenPluginError(
                f"{self.kind}: {name!r} is offered by several packages ({packages}); uninstall all but one"
            )
        return points[0]

    def _made(self, point: EntryPoint, make: Callable[[Any], object]) -> object:
        where = f"{self.kind}: the plug-in {point.name!r} of {_owner(point)} ({point.value})"
        try:
            made = make(point.load())
        except WrongOptionsError as error:
            raise BrokenPluginError(f"{where} does not take its options: {error}") from error
        except Exception as error:
            faults = settings_faults(error) or f"{type(error).__name__}: {error}"
            raise BrokenPluginError(f"{where} cannot be loaded: {faults}") from error
        if missing := [method for method in self.methods if not callable(getattr(made, method, None))]:
            raise BrokenPluginError(f"{where} gives no {self.kind}: it has no {', '.join(missing)}")
        return made


class PluginLives:
    """Starts plug-ins in their order, and closes them in the reverse; `plugins` are named for messages.

    `longest_start` and `longest_close` are for one plug-in.
    """

    def __init__(
        self,
        plugins: Iterable[tuple[str, object]],
        longest_start: timedelta = LONGEST_START,
        longest_close: timedelta = LONGEST_CLOSE,
    ) -> None:
        self._plugins = list(plugins)
        self._longest_start = longest_start.total_seconds()
        self._longest_close = longest_close.total_seconds()
        self._started: list[tuple[str, object]] = []

    async def start(self) -> None:
        """Starts them all, or closes those that have started and raises BrokenPluginError."""
        for name, plugin in self._plugins:
            self._started.append((name, plugin))
            try:
                await _awaited(plugin, "start", self._longest_start)
            except Exception as error:
                await self.close()
                raise BrokenPluginError(f"{name} cannot start: {_words(error, self._longest_start)}") from error

    async def close(self) -> None:
        """Closes those that have started; a fault of one is logged and keeps no other from closing."""
        while self._started:
            name, plugin = self._started.pop()
            try:
                await _awaited(plugin, "close", self._longest_close)
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                log.warning("%s cannot close: %s", name, _words(error, self._longest_close))


async def _awaited(plugin: object, method: str, seconds: float) -> None:
    call = getattr(plugin, method, None)
    if call is not None:
        async with asyncio.timeout(seconds):
            await call()


def _words(error: Exception, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"it took longer than {seconds:g} s"
    return f"{type(error).__name__}: {error}"


def _validated(target: object, options: Mapping[str, object]) -> object:
    model = getattr(target, "Settings", None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return options
    try:
        return _strict(model).model_validate(options)
    except ValidationError as error:
        raise WrongOptionsError(_faults_of(error)) from None


def _strict(model: type[BaseModel]) -> type[BaseModel]:
    """The model, or one below it that refuses unknown options if the model does not say what to do with them."""
    if model.model_config.get("extra") is not None:
        return model
    return type(model.__name__, (model,), {"model_config": ConfigDict(extra="forbid"), "__module__": model.__module__})


def _faults_of(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    said = ((".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")) for fault in faults)
    return "; ".join(f"{place}: {message}" if place else message for place, message in said)


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"
