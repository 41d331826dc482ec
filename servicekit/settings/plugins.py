"""Plug-ins: entry points of a group, ours and other people's alike.

An entry point names a callable that makes the plug-in. To add one, install its distribution beside ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from servicekit.settings.config import settings_faults

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class UnknownPluginError(ValueError):
    """No plug-in has this name."""


class BrokenPluginError(Exception):
    """A plug-in is installed but cannot be used; the message names it and the fault."""


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
        points = list(entry_points(group=self.group, name=name))
        if not points:
            known = ", ".join(self.names())
            raise UnknownPluginError(f"{self.kind}: {name!r} is not known here; known are {known}")
        if len({point.value for point in points}) > 1:
            packages = ", ".join(sorted(_owner(point) for point in points))
            raise BrokenPluginError(
                f"{self.kind}: {name!r} is offered by several packages ({packages}); uninstall all but one"
            )
        return self._made(points[0], arguments)

    def _made(self, point: EntryPoint, arguments: tuple[object, ...]) -> object:
        where = f"{self.kind}: the plug-in {point.name!r} of {_owner(point)} ({point.value})"
        try:
            made = point.load()(*arguments)
        except Exception as error:
            faults = settings_faults(error) or f"{type(error).__name__}: {error}"
            raise BrokenPluginError(f"{where} cannot be loaded: {faults}") from error
        if missing := [method for method in self.methods if not callable(getattr(made, method, None))]:
            raise BrokenPluginError(f"{where} gives no {self.kind}: it has no {', '.join(missing)}")
        return made


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"
