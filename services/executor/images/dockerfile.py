"""Which images a Dockerfile is built from, so that they can be fetched before; pure.

buildah reads the Dockerfile. What is overlooked here is an image that buildah does not find: it is given no way to a
registry.
"""

from __future__ import annotations

import re

from services.executor.images.errors import ImageError
from vocabulary.image_references import WrongReferenceError, image_reference

MOST_BASES = 20
_CONTINUED = re.compile(r"\\[ \t]*\n")
_COMMENT = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)
_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*", re.IGNORECASE)
_ARG = re.compile(r"\s*ARG\s+(.*)", re.IGNORECASE)
_COPY = re.compile(r"\s*(?:COPY|ADD)\s", re.IGNORECASE)
_RUN = re.compile(r"\s*RUN\s", re.IGNORECASE)
_OPTION = re.compile(r"\s--from=(\S+)")
_MOUNT = re.compile(r"\s--mount=(\S+)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_NOTHING = "scratch"


def base_images(text: str) -> tuple[str, ...]:
    """Return the images that it names, each once, as it names them; raises ImageError for what names none."""
    text = _CONTINUED.sub(" ", _COMMENT.sub("", text.replace("\r\n", "\n")))
    arguments: dict[str, str] = {}
    stages: set[str] = set()
    found: dict[str, None] = {}
    for line in text.split("\n"):
        if begun := _FROM.fullmatch(line):
            name = _filled(begun[1], arguments)
            if name.lower() not in {_NOTHING, *stages}:
                found[name] = None
            stages |= {begun[2].lower()} if begun[2] else set()
        elif (declared := _ARG.match(line)) and not found and not stages:
            arguments |= {key: value.strip("\"'") for key, value in _pairs(declared[1])}
        else:
            found |= {one: None for one in _copied_from(line) if one.lower() not in stages and not one.isdecimal()}
    if len(found) > MOST_BASES:
        raise ImageError(f"its Dockerfile names {len(found)} images, and the most are {MOST_BASES}")
    for name in found:
        try:
            image_reference(name)
        except WrongReferenceError as error:
            raise ImageError(f"FROM {name[:200]} {error}") from error
    return tuple(found)


def _pairs(words: str) -> list[tuple[str, str]]:
    return [(name, value) for name, equals, value in (word.partition("=") for word in words.split()) if equals]


def _filled(word: str, arguments: dict[str, str]) -> str:
    """Return a word with the variables that are declared before the first FROM."""
    return _VARIABLE.sub(lambda one: arguments.get(one[1] or one[2]) or one[3] or "", word.strip("\"'"))


def _copied_from(line: str) -> list[str]:
    if _COPY.match(line):
        return _OPTION.findall(line)
    if not _RUN.match(line):
        return []
    options = [option.partition("=") for words in _MOUNT.findall(line) for option in words.split(",")]
    return [value for name, _, value in options if name == "from"]
