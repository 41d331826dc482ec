"""What a registry says of an image: which manifest is for this machine, what it takes, and how it is run; pure.

All of it is written by the maker of the image. The forms are those of the OCI image specification and of Docker's
image manifest, version 2, schema 2.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from services.executor.images.errors import ImageError

if TYPE_CHECKING:
    from collections.abc import Mapping

PLATFORM = {"os": "linux", "architecture": "amd64"}
_LISTS = frozenset(
    {"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"}
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHELL = re.compile(r"SHELL=(/[A-Za-z0-9._+-]+)+")
_MOST_LAYERS = 500
_MOST_VARIABLES = 256
_MOST_VALUE = 8192
_OURS = frozenset({"HOME", "LOGNAME", "SHELL", "USER", "WAVEPOOL_USER"})
_TITLE = f"{PLATFORM['os']}/{PLATFORM['architecture']}"


@dataclass(frozen=True)
class Manifest:
    """One image; `compressed_bytes` is what its layers take in the registry, as far as its author says."""

    digest: str
    compressed_bytes: int


@dataclass(frozen=True)
class ImageConfig:
    """How an image wants to be run."""

    environment: Mapping[str, str]
    command: tuple[str, ...] = ()
    """ENTRYPOINT and CMD."""
    folder: str = "/"
    """WORKDIR."""
    shell: str = ""
    """The shell that its environment names, if it does."""


def digest_of(raw: bytes) -> str:
    """Return the digest by which a registry knows a manifest."""
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


def digest_for_this_platform(raw: bytes) -> str:
    """Return the digest of the manifest for linux/amd64: this one's, or one of a list; raises ImageError."""
    top = _document(raw)
    if str(top.get("mediaType")) not in _LISTS and "manifests" not in top:
        return digest_of(raw)
    entries = [cast("dict[str, Any]", one) for one in _list(top, "manifests") if isinstance(one, dict)]
    for entry in entries:
        platform = entry.get("platform")
        known = cast("dict[str, Any]", platform) if isinstance(platform, dict) else {}
        if all(known.get(name) == value for name, value in PLATFORM.items()):
            digest = entry.get("digest")
            if isinstance(digest, str) and _DIGEST.fullmatch(digest):
                return digest
    raise ImageError(f"it is not made for {_TITLE}")


def manifest_of(raw: bytes) -> Manifest:
    """Return what a manifest of one image says; raises ImageError."""
    document = _document(raw)
    layers = _list(document, "layers")
    if not layers or not isinstance(document.get("config"), dict):
        raise ImageError("its manifest is in no form that is known here (OCI, or Docker's version 2, schema 2)")
    if len(layers) > _MOST_LAYERS:
        raise ImageError(f"it has {len(layers)} layers, and the most are {_MOST_LAYERS}")
    sizes: list[int] = []
    for layer in (*layers, document["config"]):
        if not isinstance(layer, dict):
            raise ImageError("its manifest has a layer that is none")
        described = cast("dict[str, Any]", layer)
        # Fetching such a layer goes to any address that the image's author likes.
        if described.get("urls"):
            raise ImageError("it has a layer that is fetched from elsewhere than its registry, which is not done")
        size = described.get("size")
        if not isinstance(size, int) or size < 0:
            raise ImageError("its manifest has a layer without a size")
        sizes.append(size)
    return Manifest(digest_of(raw), sum(sizes))


def config_of(raw: bytes) -> ImageConfig:
    """Return how the image wants to be run, without what cannot be set; raises ImageError if it is not for us."""
    document = _document(raw)
    wrong = [name for name, value in PLATFORM.items() if document.get(name) not in (value, None, "")]
    if wrong:
        found = f"{document.get('os')}/{document.get('architecture')}"
        raise ImageError(f"it is made for {found[:80]}, and this machine is {_TITLE}")
    config = document.get("config")
    known = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    folder = known.get("WorkingDir")
    is_path = isinstance(folder, str) and folder.startswith("/") and not _CONTROL.search(folder)
    return ImageConfig(
        _environment(_words(known, "Env")),
        (*_words(known, "Entrypoint"), *_words(known, "Cmd")),
        str(folder) if is_path else "/",
        next((word.removeprefix("SHELL=") for word in _words(known, "Env") if _SHELL.fullmatch(word)), ""),
    )


def _environment(words: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that a shell can be given; at most so many."""
    variables = dict(word.split("=", 1) for word in words if "=" in word)
    fit = [
        (name, value)
        for name, value in variables.items()
        if _VARIABLE.fullmatch(name) and name not in _OURS and len(value) <= _MOST_VALUE and not _CONTROL.search(value)
    ]
    return dict(fit[:_MOST_VARIABLES])


def _words(known: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(word) for word in _list(known, name))


def _list(document: dict[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _document(raw: bytes) -> dict[str, Any]:
    try:
        document: Any = json.loads(raw)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ImageError("what the registry has of it cannot be read")
    return cast("dict[str, Any]", document)
