"""The file that lists other services which may call: programs of the installation's owner beside our own services.

It is TOML with a table for each. Its name is the service's; `token` proves it, or with TLS a certificate of that name;
`accounts` are those that it may charge, by name or id:

    [trainer]
    token = "a secret, for example of `openssl rand -hex 32`"
    accounts = ["acme"]

The file is read again after each change of it. Without one, there are no other services.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from servicekit.reread import Reread

# The standard library's own: the kit that certifies a machine has these settings and not our log format.
log = logging.getLogger(__name__)

FILE_NAME = "callers.toml"
OUR_OWN = frozenset({"billing", "executor", "gateway", "operator", "scheduler", "vmpool"})
"""Names that certificates of our own processes have."""
_FOR_OTHERS = 0o077


class CallersFileError(ValueError):
    """The file cannot be read or is wrong; the message names it and the fix."""


class OtherService(BaseModel):
    """Another service as the file lists it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    token: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{20,200}$")] = ""
    """Empty: with TLS its certificate is enough; without, it cannot call."""
    accounts: tuple[str, ...] = ()


_NAME = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_LIST: TypeAdapter[dict[str, OtherService]] = TypeAdapter(dict[_NAME, OtherService])
_RULES = {
    "string_pattern_mismatch": "a name has up to 40 small letters, digits and `-`; a token has 20 to 200 letters, "
    "digits, `_` and `-`",
    "extra_forbidden": "there is no such key; a service has `token` and `accounts`",
}


class CallersFile:
    """The other services by name; raises CallersFileError if they cannot be read at first.

    Later it keeps those that it has, and logs why.
    """

    def __init__(self, file: Path) -> None:
        self._services = Reread((file,), lambda: _services_in(file), "the list of other services")

    def services(self) -> Mapping[str, OtherService]:
        """Those that the file now lists."""
        return self._services.value()


def _services_in(file: Path) -> Mapping[str, OtherService]:
    if not file.exists():
        return {}
    where = f"WAVEPOOL_CALLERS_FILE: {file}"
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        mode = file.stat().st_mode
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CallersFileError(f"{where} cannot be read ({error}); see docs/protocols.md") from error
    try:
        services = _LIST.validate_python(tables)
    except ValidationError as error:
        faults = "; ".join(_fault(fault["loc"], fault["type"], fault["msg"]) for fault in error.errors())
        raise CallersFileError(f"{where}: {faults}") from None
    if taken := sorted(OUR_OWN.intersection(services)):
        raise CallersFileError(f"{where}: {taken[0]} is a name of our own; choose another")
    tokens = [service.token for service in services.values() if service.token]
    if len(set(tokens)) < len(tokens):
        raise CallersFileError(f"{where}: two services have the same token; give each its own")
    if mode & _FOR_OTHERS:
        log.warning("other users can read the tokens", extra={"file": str(file), "mode": f"{mode & 0o777:o}"})
    return services


def _fault(place: Sequence[int | str], kind: str, message: str) -> str:
    return f"{'.'.join(str(part) for part in place if part != '[key]')}: {_RULES.get(kind, message)}"
