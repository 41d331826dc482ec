"""What images are built from in tests."""

from __future__ import annotations

import gzip
import tarfile

from services.executor.images.builder import BuildContext
from tests.image_registry import file, layer
from vocabulary.build_contexts import CONTEXT, DOCKERFILE, context_digest


def packed(dockerfile: str, *entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """An archive with a Dockerfile and, in its folder, these entries."""
    for entry, _ in entries:
        entry.name = f"{CONTEXT}/{entry.name}"
    return gzip.compress(gzip.decompress(layer([file(DOCKERFILE, dockerfile), *entries])), 1, mtime=0)


def build_context(dockerfile: str, *entries: tuple[tarfile.TarInfo, bytes]) -> BuildContext:
    content = packed(dockerfile, *entries)
    return BuildContext(context_digest(content), content)
