"""Profiles: gateways with their tokens, in a file of the user's configuration folder that only the user can read.

The file is TOML. `current` names the profile that applies where none is chosen, and the settings hold for all profiles:

    current = "work"
    default_gpu_type = "MI300X"
    github_user = "ada"

    [profiles.work]
    url = "https://wavepool.example"
    token = "wpt_..."
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from wavepool_client.errors import InputError, NotFoundError

SHOWN_CHARACTERS = 10
"""Characters of a token that are printed; they tell tokens apart, and `wavepool tokens list` shows the same."""
SETTINGS = {"default_gpu_type": r"[A-Za-z0-9_.-]{1,40}", "github_user": r"[A-Za-z0-9-]{1,39}"}
"""Settings for all profiles, with the form of each."""
_EXAMPLES = {"default_gpu_type": "MI300X", "github_user": "ada"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Profile:
    """A gateway, and a token for it; either may be empty."""

    url: str = ""
    token: str = field(default="", repr=False)

    @property
    def shown_token(self) -> str:
        """The beginning of the token, for people."""
        return shown(self.token)


@dataclass(frozen=True)
class Profiles:
    """All profiles by name, the name of the current one, empty if there is none, and the settings that are stored."""

    current: str = ""
    by_name: dict[str, Profile] = field(default_factory=dict[str, Profile])
    settings: dict[str, str] = field(default_factory=dict[str, str])

    def get(self, name: str) -> Profile:
        """The profile with this name; raises NotFoundError."""
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name)) or "none yet"
            raise NotFoundError(
                f"there is no profile {name!r} in {profiles_file()} (known: {known}); "
                f"make it with `wavepool config set {name} --url URL --token -`"
            )
        return self.by_name[name]


def profiles_file() -> Path:
    """The file with the profiles, which may not exist."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "wavepool" / "config.toml"


def chosen_profile() -> Profile:
    """The profile that WAVEPOOL_PROFILE names, else the current one, else an empty one; raises NotFoundError."""
    profiles = load_profiles()
    name = os.environ.get("WAVEPOOL_PROFILE") or profiles.current
    return profiles.get(name) if name else Profile()


def profile_at(url: str) -> tuple[str, Profile] | None:
    """The profile of the gateway at this URL with its name; None if there is none.

    WAVEPOOL_PROFILE comes first, even without a token: whoever names a profile means no other. Then the current one.
    """
    profiles = load_profiles()
    named = os.environ.get("WAVEPOOL_PROFILE", "")
    names = sorted(profiles.by_name, key=lambda name: (name != named, name != profiles.current, name))
    return next(((name, profiles.by_name[name]) for name in names if profiles.by_name[name].url == url), None)


def name_for(url: str) -> str:
    """A free name for a profile of the gateway at this URL, such as `wavepool-example`."""
    taken = load_profiles().by_name
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", urlsplit(url).netloc)[:60].strip("-") or "default"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if one not in taken)


def load_profiles() -> Profiles:
    """Reads the file; a missing one has no profiles. Raises InputError if it cannot be read or is not ours."""
    file = profiles_file()
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return Profiles()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the profiles in {file}: {error}; correct the file, or delete it") from error
    tables = content.get("profiles", {})
    current = content.get("current", "")
    if not isinstance(tables, dict) or not isinstance(current, str):
        raise InputError(f"{file} has no [profiles.NAME] tables; correct the file, or delete it")
    found = cast("dict[str, Any]", tables)
    settings = {name: str(content[name]) for name in SETTINGS if content.get(name)}
    return Profiles(current, {name: _profile_of(name, table) for name, table in found.items()}, settings)


def save_profile(name: str, *, url: str | None = None, token: str | None = None, use: bool = False) -> Profile:
    """Stores a profile, or the given parts of one, and gives it back; `use` makes it the current one.

    A token is for one gateway: another `url` without a token forgets the one that was kept.

    Raises InputError if a part is not legal, and if the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"a profile's name has 1 to 64 letters, digits, `-` and `_`; it is {name[:80]!r}")
    for field_name, text in (("url", url), ("token", token)):
        if text is not None and not text.isprintable():
            raise InputError(f"the {field_name} has characters that cannot be printed; copy it again")
    profiles = load_profiles()
    before = profiles.by_name.get(name, Profile())
    new_url = before.url if url is None else url.rstrip("/")
    kept = before.token if new_url == before.url or not before.url else ""
    after = Profile(new_url, kept if token is None else token)
    current = name if use else profiles.current
    _write(replace(profiles, current=current, by_name={**profiles.by_name, name: after}))
    return after


def remove_profile(name: str) -> None:
    """Deletes a profile with its token; raises NotFoundError."""
    profiles = load_profiles()
    profiles.get(name)
    left = {one: profile for one, profile in profiles.by_name.items() if one != name}
    _write(replace(profiles, current="" if profiles.current == name else profiles.current, by_name=left))


def use_profile(name: str) -> None:
    """Makes a profile the current one; with an empty name, none. Raises NotFoundError."""
    profiles = load_profiles()
    if name:
        profiles.get(name)
    _write(replace(profiles, current=name))


def setting(name: str) -> str:
    """A setting for all profiles; empty if it is not stored. Raises InputError if the file cannot be read."""
    return load_profiles().settings.get(name, "")


def save_setting(name: str, value: str) -> None:
    """Stores one of SETTINGS, or with an empty value removes it.

    Raises InputError if the value has not its form, and if the file cannot be written.
    """
    if value and not re.fullmatch(SETTINGS[name], value):
        raise InputError(f"{name}: is {value[:80]!r}; it has letters, digits and hyphens, as in {_EXAMPLES[name]}")
    profiles = load_profiles()
    others = {other: text for other, text in profiles.settings.items() if other != name}
    _write(replace(profiles, settings={**others, **({name: value} if value else {})}))


def github_user() -> tuple[str, Path]:
    """Your name on GitHub as you have stored it, and the file: ours, else one of gpu-dev's; empty if none has it."""
    if stored := setting("github_user"):
        return stored, profiles_file()
    for file in (Path.home() / ".config" / "gpu-dev" / "config.json", Path.home() / ".gpu-dev-config"):
        # They belong to another tool, so nothing that is wrong in them is an error of ours.
        with suppress(OSError, ValueError, AttributeError):
            found = json.loads(file.read_text("utf-8")).get("github_user")
            if isinstance(found, str) and re.fullmatch(SETTINGS["github_user"], found):
                return found, file
    return "", profiles_file()


def shown(token: str) -> str:
    """The beginning of a token, for people; empty for none."""
    return f"{token[:SHOWN_CHARACTERS]}…" if token else ""


def _profile_of(name: str, table: object) -> Profile:
    words = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    url, token = words.get("url", ""), words.get("token", "")
    if not isinstance(table, dict) or not isinstance(url, str) or not isinstance(token, str):
        raise InputError(f"profile {name!r} in {profiles_file()} needs `url` and `token` in quotes")
    return Profile(url, token)


def _write(profiles: Profiles) -> None:
    lines = [f"current = {_quoted(profiles.current)}"] if profiles.current else []
    lines += [f"{name} = {_quoted(text)}" for name, text in sorted(profiles.settings.items())]
    for name, profile in sorted(profiles.by_name.items()):
        lines += ["", f"[profiles.{_quoted(name)}]", f"url = {_quoted(profile.url)}"]
        lines += [f"token = {_quoted(profile.token)}"] if profile.token else []
    file = profiles_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp makes the file with mode 0600, so that no other user can read it at any moment.
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".config-")
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write("\n".join(lines).lstrip("\n") + "\n")
        Path(temporary).replace(file)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error


def _quoted(text: str) -> str:
    """A TOML string: a JSON string is one too, except that JSON writes characters beyond 16 bits as two escapes."""
    return json.dumps(text, ensure_ascii=False)
