"""Names of container images, as people give them: `host[:port]/name[:tag][@sha256:…]`; pure.

The registry is always named: there is none by default, and none that short names are looked up in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CHARACTERS = 512
EXAMPLE = "registry.example:5000/team/rocm:6.2"
_HOST = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
_REGISTRY = re.compile(rf"{_HOST}(?::[0-9]{{1,5}})?", re.IGNORECASE)
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LATEST = "latest"


@dataclass(frozen=True)
class ImageReference:
    """Names an image in a registry, by its tag or by its digest; if both are given, the digest counts."""

    registry: str
    name: str
    tag: str = _LATEST
    digest: str = ""

    @property
    def address(self) -> str:
        """The reference as registries' clients take it."""
        return f"{self.registry}/{self.name}{'@' + self.digest if self.digest else ':' + self.tag}"

    def pinned(self, digest: str) -> ImageReference:
        """Return the reference to one manifest, whatever the tag names later."""
        return ImageReference(self.registry, self.name, self.tag, digest)


class WrongReferenceError(ValueError):
    """The text names no image; the message says what is wrong and what a reference looks like."""


def image_reference(text: str) -> ImageReference:
    """Return what the text names; raises WrongReferenceError."""
    if len(text) > MOST_CHARACTERS:
        raise WrongReferenceError(f"has {len(text)} characters; the most are {MOST_CHARACTERS}")
    registry, slash, rest = text.partition("/")
    if not slash or wrong_registry(registry) or not _is_host(registry):
        raise WrongReferenceError(f"is {text!r}; name the registry, the image and a tag, such as {EXAMPLE}")
    rest, at, digest = rest.partition("@")
    name, colon, tag = rest.partition(":")
    if at and not _DIGEST.fullmatch(digest):
        raise WrongReferenceError(f"is {text!r}; a digest is sha256: and 64 digits 0-9a-f")
    if colon and not _TAG.fullmatch(tag):
        raise WrongReferenceError(f"is {text!r}; a tag has 1 to 128 letters, digits, or any of . _ -")
    if not _NAME.fullmatch(name):
        rule = "the name of an image has lower case letters, digits, and single . _ - / between them"
        raise WrongReferenceError(f"is {text!r}; {rule}, such as {EXAMPLE}")
    return ImageReference(registry.lower(), name, tag or _LATEST, digest)


def wrong_reference(text: str) -> str:
    """Return what is wrong with a reference; empty if nothing is."""
    try:
        image_reference(text)
    except WrongReferenceError as error:
        return str(error)
    return ""


def wrong_registry(text: str) -> str:
    """Return what is wrong with `host[:port]`; empty if nothing is."""
    return "" if _REGISTRY.fullmatch(text) else f"is {text!r}; give a host and perhaps its port, such as registry:5000"


def _is_host(text: str) -> bool:
    """True if it is no first part of a name without a registry, such as `library/debian`."""
    return "." in text or ":" in text or text.lower() == "localhost"
